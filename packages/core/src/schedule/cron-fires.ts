import type { CompiledCron } from "../cron/compile.js";
import { isFixedTime } from "../cron/fields.js";
import type { FireSequence } from "./fire-sequence.js";
import type { DstPolicy } from "./spec.js";

export function cronFires(cron: CompiledCron): FireSequence {
  return {
    nextNominal: (after) => cron.next(after),
    previousNominal: (before) => cron.previous(before),
    countBetween: (after, before) => cron.countBetween(after, before),
    notesAt: (nominal) => {
      const note = cron.noteAt(nominal);
      return note === null ? [] : [note];
    },
  };
}

/** The policy for a fire that a roll moves to another day: one reading stands for one instant there. */
export function policyForMoved(cron: CompiledCron, dst: DstPolicy = {}): DstPolicy {
  return {
    gap: dst.gap ?? (isFixedTime(cron.fields) ? "after" : "skip"),
    overlap: dst.overlap === "second" ? "second" : "first",
  };
}
