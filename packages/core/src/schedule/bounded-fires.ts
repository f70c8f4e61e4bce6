import type { Instant } from "../time/instant.js";
import { NEVER } from "../zone/instant-range.js";
import type { FireSequence } from "./fire-sequence.js";

/** The part of a sequence with startsAt <= instant <= endsAt. */
export function withinBounds(
  fires: FireSequence,
  startsAt: Instant = -Infinity,
  endsAt: Instant = Infinity,
): FireSequence {
  if (startsAt === -Infinity && endsAt === Infinity) return fires;
  return {
    nextNominal: (after) => {
      const found = fires.nextNominal(Math.max(after, startsAt - 1));
      return found > endsAt ? NEVER : found;
    },
    previousNominal: (before) => {
      const found = fires.previousNominal(Math.min(before, endsAt + 1));
      return found < startsAt ? NEVER : found;
    },
    countBetween: (after, before) => fires.countBetween(Math.max(after, startsAt - 1), Math.min(before, endsAt + 1)),
    notesAt: (nominal) => fires.notesAt(nominal),
  };
}
