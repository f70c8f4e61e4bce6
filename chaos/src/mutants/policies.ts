import type { Mutant } from "./mutant.js";

/** Each breaks a policy of jobs. */
export const policyMutants: readonly Mutant[] = [
  {
    name: "overlap-ignored",
    shownBy: ["OVERLAP"],
    edits: [
      {
        in: "engine/src/schedules/overlap.ts",
        from: 'live.length === 0 || policy === "allow"',
        to: "live.length >= 0",
      },
    ],
  },
  {
    name: "admission-without-a-look",
    shownBy: ["OVERLAP"],
    edits: [
      {
        in: "engine/src/jobs/transaction/overlap-admitter.ts",
        from: "!busy.has(jobId) && !oldest.has(jobId)",
        to: "busy.size >= 0",
      },
      { in: "job_transaction.list_admissible", from: "where not exists (", to: "where true or not exists (" },
    ],
  },
  {
    name: "replaced-but-not-stopped",
    shownBy: ["OVERLAP"],
    // A fault would explain a run that was not stopped.
    faults: [],
    edits: [
      {
        in: "job_transaction.stop_runs",
        from: "run.id = any (array[chosen.id]) and run.state = 'running'",
        to: "run.id = any (array[chosen.id]) and run.state = 'stopping'",
      },
    ],
  },
  {
    name: "left-out-without-a-note",
    shownBy: ["MISSED"],
    edits: [
      {
        in: "engine/src/jobs/transaction/job-draft.ts",
        from: 'this.note({ reason: "overlap", from: nominal, to: nominal, count: 1 });',
        to: "void nominal;",
      },
    ],
  },
  {
    name: "window-ignored",
    shownBy: ["UNEXPECTED", "EARLY"],
    edits: [
      {
        in: "engine/src/schedules/due-rules.ts",
        from: "if (known === undefined)",
        to: "if (known === undefined || namespaceId > 0)",
      },
    ],
  },
  {
    name: "calendar-not-followed",
    shownBy: ["MISSED", "UNEXPECTED"],
    edits: [{ in: "engine/src/calendars/calendar-sweep.ts", from: "startRule(draft, rule);", to: "void rule;" }],
  },
];
