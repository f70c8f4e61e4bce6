import { afterMutants } from "./after.js";
import { fireInTwoTransactions } from "./fire-in-two-transactions.js";
import { guardedMutants } from "./guarded.js";
import type { Edit, Mutant } from "./mutant.js";
import { policyMutants } from "./policies.js";

const inFire = (from: string, to: string): Edit => ({ in: "due.fire", from, to });

/** The comparison of the occurrence with the row. */
const whichOccurrence: readonly Edit[] = [
  inFire(" and d.next_nominal_at = i.nominal_at", ""),
  inFire("      and (d.fired_through is null or i.nominal_at > d.fired_through)\n", ""),
];
const whichVersion = inFire(" and d.version = i.version", "");
const whichRuns = inFire(" and d.runs_made = i.runs_made", "");
const dueCheck = inFire("      and coalesce(d.next_fire_at, 'infinity') <= clock_timestamp()\n", "");
const uniqueKey = inFire(
  "unnest(($16::uuid[])[g.first : g.last])",
  "case when $16::uuid[] is not null then gen_random_uuid() end",
);
/** No notification is sent, so what a node knows is as old as its last full scan. */
const noHint: Edit = {
  in: "store/src/db/notifier.ts",
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
    edits: ["run.finish", "run.complete_and_claim"].map((statement) => ({
      in: statement,
      from: "r.id = any (array[i.id]) and r.fence = i.fence and r.session_id = i.session_id and r.state",
      to: "r.id = any (array[i.id]) and r.state",
    })),
  },
  {
    name: "claim-without-new-fence",
    shownBy: ["STALE FENCE ACCEPTED"],
    edits: [{ in: "run.complete_and_claim", from: "fence = r.fence + 1", to: "fence = r.fence" }],
  },
  {
    name: "claim-before-its-time",
    shownBy: ["EARLY"],
    edits: ["run.complete_and_claim", "run.complete_and_claim_shared"].map((statement) => ({
      in: statement,
      from: "        and r.run_at <= statement_timestamp()\n",
      to: "",
    })),
  },
  {
    name: "fire-without-any-guard",
    shownBy: ["DOUBLE"],
    // Fires must arrive late, after another node has done them.
    faults: ["cut", "freeze", "deaf"],
    edits: [
      ...whichOccurrence,
      uniqueKey,
      dueCheck,
      inFire("  where s.owner = $3 and s.epoch = f.epoch\n", "  where $3::uuid is not null\n"),
    ],
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
      { in: "due.pass", from: " and d.version = i.version", to: "" },
      { in: "settlement.lock_due", from: " and d.version = i.version", to: "" },
      { in: "settlement.lock_due", from: " and d.runs_made = i.runs_made", to: "" },
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
    edits: [inFire("  where p.outcome = 'fired'\n", "  where p.outcome = 'fired' and random() > 0.02\n")],
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
