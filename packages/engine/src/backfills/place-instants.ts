import { formatId, type Instant, type LedgerReason, occurrenceRunId, withTrace } from "@carillon/core";
import type { JobDraft } from "../jobs/transaction/job-draft.js";
import type { HeldBackfill, LedgerEntry } from "@carillon/store";
import type { PastRule } from "./past-rules.js";

/** Instants of one rule, in their order, and what bounds the step that deals with them. */
export interface Placing {
  readonly backfill: HeldBackfill;
  readonly rule: PastRule;
  readonly instants: readonly Instant[];
  /** Those of them that have a run. */
  readonly ran: ReadonlySet<Instant>;
  /** Runs that may be made. */
  readonly room: number;
  /** Runs made and runs refused, together. */
  readonly mostDecided: number;
}

export interface PlacedInstants {
  /** The last that was dealt with; null: none. */
  readonly through: Instant | null;
  readonly runIds: readonly string[];
  readonly passed: number;
  readonly skipped: number;
  readonly entries: readonly LedgerEntry[];
}

/** Decides over instants one by one: left out because it ran, run, or refused by the overlap policy. Writes into the draft. */
export function placeInstants(draft: JobDraft, placing: Placing): PlacedInstants {
  const { backfill, rule, instants, ran, room, mostDecided } = placing;
  const ledger = new StepLedger(draft, backfill, rule);
  const trigger = `backfill:${backfill.id}`;
  const priority = rule.replaced?.spec.priority;
  const overrides = {
    ...(priority !== undefined && { priority }),
    ...(backfill.trace !== null && { policy: withTrace(draft.job.policy, backfill.trace) }),
  };
  const runIds: string[] = [];
  let [through, passed, skipped]: [Instant | null, number, number] = [null, 0, 0];
  for (const nominal of instants) {
    if (ran.has(nominal) && !backfill.repeats) {
      passed += 1;
      ledger.add("already_ran", nominal);
    } else {
      if (runIds.length >= room || runIds.length + skipped >= mostDecided) break;
      const id = occurrenceRunId(draft.job.id, nominal, trigger);
      const placed = draft.place({
        id,
        trigger,
        nominal,
        runAt: draft.job.now,
        overrides,
        force: backfill.force,
      });
      if (placed === "refused") {
        skipped += 1;
        ledger.add("overlap", nominal);
      } else {
        runIds.push(id);
        ledger.close();
      }
    }
    through = nominal;
  }
  return { through, runIds, passed, skipped, entries: ledger.entries };
}

/** Neighbours with one reason share an entry. */
class StepLedger {
  readonly entries: LedgerEntry[] = [];
  readonly #blank: Omit<LedgerEntry, "reason" | "from" | "to" | "count">;
  #isOpen = false;

  constructor({ job }: JobDraft, { id }: HeldBackfill, { replaced }: PastRule) {
    const version = replaced?.version ?? job.due.version;
    this.#blank = { jobId: job.id, namespaceId: job.namespaceId, version, detail: formatId("bkf", id) };
  }

  add(reason: LedgerReason, at: Instant): void {
    const last = this.entries.at(-1);
    if (this.#isOpen && last !== undefined && last.reason === reason)
      this.entries[this.entries.length - 1] = { ...last, to: at, count: last.count + 1 };
    else this.entries.push({ ...this.#blank, reason, from: at, to: at, count: 1 });
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
  }
}
