import type { Mutant } from "./mutant.js";

const make = `
-- name: due.make
-- purpose: the mutant's second transaction: runs of jobs whose next occurrence was already advanced
-- fence: none
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, version, untracked)
select i.id, j.id, j.namespace_id, j.shard, j.lane, 'queued', j.priority, i.rank, i.nominal_at, i.nominal_at,
       clock_timestamp(), 'schedule', j.task, j.queue, j.payload, j.policy, nullif(j.labels, '{}'), j.owner, j.version,
       d.overlap = 'allow'
from unnest(:ids::uuid[], :job_ids::uuid[], :nominals::timestamptz[], :ranks::bigint[]) as i (id, job_id, nominal_at, rank)
join carillon.job j on j.id = i.job_id join carillon.job_due d on d.job_id = j.id;
`;

const secondTransaction = `(fire, values).then(async (answer) => {
  const ids = answer.rows.filter((row) => row.outcome === "fired").flatMap((row) => row.job_ids.split(","));
  const fired = rows.filter((row) => ids.includes(row.job.jobId));
  const make = statements.get("due.make");
  await db.query(make, make.values({
    ids: fired.map((row) => row.runId), jobIds: fired.map((row) => row.job.jobId),
    nominals: fired.map((row) => timestampParam(row.job.nominal)), ranks: fired.map((row) => row.rank),
  }));
  return answer;
})).rows;`;

/** Advances the job first and creates its run afterwards: a node that dies between the two loses the occurrence. */
export const fireInTwoTransactions: Mutant = {
  name: "fire-in-two-transactions",
  shownBy: ["MISSED"],
  // A node that does not receive the answer to the first transaction never begins the second.
  faults: ["lose_fire"],
  edits: [
    { in: "due.fire", from: "  where outcome = 'fired'\n", to: "  where outcome = 'fired' and false\n" },
    { in: "due.fire", from: "and is_last, lane;\n", to: `and is_last, lane;\n${make}` },
    { in: "store/src/scheduler/due-store.ts", from: "(fire, values)).rows;", to: secondTransaction },
  ],
};
