import type { Edit, Mutant } from "./mutant.js";

export const inFire = (from: string, to: string): Edit => ({ in: "due.fire", from, to });

export const uniqueKey = inFire(
  "unnest((:run_ids::uuid[])[herd.first : herd.last])",
  "case when :run_ids::uuid[] is not null then gen_random_uuid() end",
);

/** The shards are locked whether this node owns them or not. */
export const shardOwner = inFire(
  "  --+ shard.owned\n",
  "  select id from carillon.shard where id = any (:shards::smallint[]) order by id for share\n",
);

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
    edits: [shardOwner],
  },
  {
    name: "fire-without-unique-key",
    guardedBy: "due.fire",
    edits: [uniqueKey],
  },
];
