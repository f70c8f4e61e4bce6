import type { Mutant } from "./mutant.js";

/** The parts of run.finish and run.complete_and_claim that end runs. */
export const archivingParts = ["run.archive_finished", "run.archive_succeeded"] as const;

/**
 * Each removes one of two guards. The other one still holds, so the judge must find no violation, and the statement that contains it
 * must have refused writes.
 */
export const guardedMutants: readonly Mutant[] = [
  {
    name: "completion-by-session-alone",
    guardedBy: "run.finish",
    edits: archivingParts.map((part) => ({
      in: part,
      from: " and run.fence = input.fence and",
      to: " and",
    })),
  },
  {
    name: "completion-by-fence-alone",
    guardedBy: "run.finish",
    edits: archivingParts.map((part) => ({
      in: part,
      from: " and run.session_id = input.session_id and",
      to: " and",
    })),
  },
  {
    name: "fire-without-epoch",
    guardedBy: "due.fire",
    edits: [
      {
        in: "due.fire",
        from: "  where s.owner = $3 and s.epoch = f.epoch\n",
        to: "  where $3::uuid is not null\n",
      },
    ],
  },
  {
    name: "fire-without-unique-key",
    guardedBy: "due.fire",
    edits: [
      {
        in: "due.fire",
        from: "unnest(($16::uuid[])[g.first : g.last])",
        to: "case when $16::uuid[] is not null then gen_random_uuid() end",
      },
    ],
  },
];
