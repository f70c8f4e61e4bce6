import { afterMutants } from "./after.js";
import { fireInTwoTransactions } from "./fire-in-two-transactions.js";
import { archivingParts, guardedMutants, inFire, shardOwner, uniqueKey } from "./guarded.js";
import type { Edit, Mutant } from "./mutant.js";
import { policyMutants } from "./policies.js";

/** The comparison of the occurrence with the row. */
const whichOccurrence: readonly Edit[] = [
  inFire(" and due.next_nominal_at = requested.nominal_at", ""),
  inFire("      and (due.fired_through is null or requested.nominal_at > due.fired_through)\n", ""),
];
const whichVersion = inFire(" and due.version = requested.version", "");
const whichRuns = inFire(" and due.runs_made = requested.runs_made", "");
const dueCheck = inFire("      and coalesce(due.next_fire_at, 'infinity') <= clock_timestamp()\n", "");
/** No notification is sent, so what a node knows is as old as its last full scan. */
const noHint: Edit = {
  in: "store/src/db/listen-notify.ts",
  from: "if (this.#pending.size >= maxPending)",
  to: "if (maxPending > 0)",
};

/** Not even the node that made a change reads the job again. */
const noHints: readonly Edit[] = [
  noHint,
  {
    in: "engine/src/wakeups/wakeups.ts",
    from: "const listeners = this.#listeners.get(topic)",
    to: 'const listeners = topic === "shards.changed" ? undefined : this.#listeners.get(topic)',
  },
];

/** Each breaks one promise: the judge must find a violation. */
const fatalMutants: readonly Mutant[] = [
  {
    name: "completion-without-fence",
    shownBy: ["STALE FENCE ACCEPTED"],
    // Results must arrive late, from a worker that the server counts as lost.
    faults: ["freeze", "cut"],
    edits: archivingParts.map((part) => ({
      in: part,
      from: "run.id = any (array[input.id]) and run.fence = input.fence and run.session_id = input.session_id and run.state",
      to: "run.id = any (array[input.id]) and run.state",
    })),
  },
  {
    name: "claim-without-new-fence",
    shownBy: ["STALE FENCE ACCEPTED"],
    edits: [
      {
        in: "run.claim_picked",
        from: "fence = greatest(run.fence, run.fence % 4294967296 + (select max(fence_floor) from live_session)) + 1",
        to: "fence = run.fence",
      },
    ],
  },
  {
    name: "claim-before-its-time",
    shownBy: ["EARLY"],
    edits: [{ in: "run.queued_of_lane", from: "  and run.run_at <= statement_timestamp()\n", to: "" }],
  },
  {
    name: "fire-without-any-guard",
    shownBy: ["DOUBLE"],
    // Fires must arrive late, after another node has done them.
    faults: ["cut", "freeze", "deaf"],
    edits: [...whichOccurrence, uniqueKey, dueCheck, shardOwner],
  },
  {
    name: "fire-without-compare-and-set",
    shownBy: ["DOUBLE", "UNEXPECTED", "MISSED"],
    // The fence stays, so only a stale wheel shows it; without notifications every wheel is stale until its next full scan.
    faults: [],
    edits: [...noHints, ...whichOccurrence, whichVersion, whichRuns, uniqueKey],
  },
  {
    name: "fire-without-version",
    shownBy: ["MISSED", "UNEXPECTED"],
    faults: [],
    edits: [
      ...noHints,
      whichVersion,
      whichRuns,
      // A part of due.pass and due.hold.
      { in: "due.late_and_unchanged", from: " and due.version = requested.version", to: "" },
      { in: "job_transaction.lock_due", from: " and due.version = expected.version", to: "" },
      { in: "job_transaction.lock_due", from: "  and due.runs_made = expected.runs_made\n", to: "" },
    ],
  },
  fireInTwoTransactions,
  {
    name: "result-of-any-claim",
    // A worker over HTTP reports an older claim of a run that it holds, and the statement gets the newer claim's fence.
    shownBy: ["STALE FENCE ACCEPTED"],
    edits: [
      {
        in: "engine/src/dispatch/results/results.ts",
        from: "if (run === undefined || run.fence !== completion.fence)",
        to: "if (run === undefined)",
      },
    ],
  },
  {
    name: "pause-ignored-by-the-wheel",
    shownBy: ["UNEXPECTED"],
    edits: [
      {
        in: "engine/src/jobs/change/job-pauser.ts",
        from: "draft.set({ state: paused.state, nominal: null, fireAt: until, catchUpTo: null, stateReason: null });",
        to: "",
      },
    ],
  },
  {
    name: "advance-without-run",
    shownBy: ["MISSED"],
    edits: [inFire("  where outcome = 'fired'\n", "  where outcome = 'fired' and random() > 0.02\n")],
  },
  {
    name: "lease-by-local-clock",
    shownBy: ["DOUBLE"],
    faults: ["clock"],
    edits: [
      {
        in: "engine/src/cluster/detection/heartbeat-monitor.ts",
        from: "return asked - before.since >= this.#limitMs;",
        to: 'return Date.now() - Date.parse(one.heartbeat.replace(" ", "T") + ":00") >= this.#limitMs;',
      },
    ],
  },
  {
    name: "no-hint-and-no-look",
    shownBy: ["MISSED", "UNDONE"],
    edits: [
      noHint,
      {
        in: "engine/src/scheduler/shard-reader.ts",
        from: "return this.#context.now() >= this.#nextScan;",
        to: "return this.#nextScan === this.#windowEnd;",
      },
    ],
  },
];

export const mutants: readonly Mutant[] = [...fatalMutants, ...policyMutants, ...afterMutants, ...guardedMutants];

export const mutantNames: readonly string[] = mutants.map((mutant) => mutant.name);

export function mutantNamed(name: string): Mutant {
  const mutant = mutants.find((one) => one.name === name);
  if (mutant === undefined) throw new Error(`There is no mutant ${name}; the mutants are ${mutantNames.join(", ")}.`);
  return mutant;
}
