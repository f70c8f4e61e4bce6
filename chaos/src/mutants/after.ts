import type { Mutant } from "./mutant.js";

/** Each breaks a rule of dependent jobs. */
export const afterMutants: readonly Mutant[] = [
  {
    name: "end-not-written-down",
    shownBy: ["MISSED"],
    faults: [],
    edits: [
      {
        in: "dependency.mark_upstream",
        from: "update carillon.job set has_downstream = true",
        to: "update carillon.job set has_downstream = null",
      },
    ],
  },
  {
    name: "end-processed-twice",
    shownBy: ["DOUBLE"],
    faults: [],
    edits: [
      {
        in: "upstream_end.delete",
        from: "where event.job_id = any",
        to: "where random() < 0.9 and event.job_id = any",
      },
      {
        in: "store/src/dependencies/dependency-store.ts",
        from: "if (rowCount !== ends.length)",
        to: "if (rowCount > ends.length)",
      },
      // The derived id of the run is the second guard.
      {
        in: "engine/src/dependencies/upstream-ends.ts",
        from: "const id = occurrenceRunId(jobId, nominal, `after:${runId}`);",
        to: "const id = occurrenceRunId(jobId, nominal, `after:${runId}${Math.random()}`);",
      },
    ],
  },
  {
    name: "ends-in-a-pause-are-lost",
    shownBy: ["MISSED"],
    faults: [],
    edits: [
      {
        in: "engine/src/dependencies/upstream-ends.ts",
        from: 'drafts.filter((draft) => draft.due.state !== "paused")',
        to: "drafts.filter(() => true)",
      },
    ],
  },
  {
    name: "round-counts-again",
    shownBy: ["DOUBLE"],
    faults: [],
    edits: [
      {
        in: "engine/src/dependencies/evaluate-ends.ts",
        from: "{ ...one, metRunId: null, metAt: null }",
        to: "{ ...one }",
      },
    ],
  },
];
