import type { Mutant } from "./mutant.js";

const make = `
-- name: due.make
-- purpose: the mutant's second transaction: runs of jobs whose next occurrence was already advanced
-- params: $1 ids uuid[], $2 job ids uuid[], $3 nominals timestamptz[], $4 ranks bigint[]
-- fence: none
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, version, untracked)
select i.id, j.id, j.namespace_id, j.shard, j.lane, 'queued', j.priority, i.rank, i.nominal_at, i.nominal_at,
       clock_timestamp(), 'schedule', j.task, j.queue, j.payload, j.policy, nullif(j.labels, '{}'), j.owner, j.version,
       d.overlap = 'allow'
from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::bigint[]) as i (id, job_id, nominal_at, rank)
join carillon.job j on j.id = i.job_id join carillon.job_due d on d.job_id = j.id;
`;

const secondTransaction = `(fire, values).then(async (answer) => {
  const ids = answer.rows.filter((row) => row.outcome === "fired").flatMap((row) => row.job_ids.split(","));
  const fired = rows.filter((row) => ids.includes(row.job.jobId));
  await db.query(statements.get("due.make"), [
    fired.map((row) => row.runId), fired.map((row) => row.job.jobId),
    fired.map((row) => timestampParam(row.job.nominal)), fired.map((row) => row.rank),
  ]);
  return answer;
})).rows;`;

/** Advances the job first and creates its run afterwards: a node that dies between the two loses the occurrence. */
export const fireInTwoTransactions: Mutant = {
  name: "fire-in-two-transactions",
  shownBy: ["MISSED"],
  // A node that does not receive the answer to the first transaction never begins the second.
  faults: ["lose_fire"],
  edits: [
    { in: "due.fire", from: "  where p.outcome = 'fired'\n", to: "  where p.outcome = 'fired' and false\n" },
    { in: "due.fire", from: "and is_last, lane;\n", to: `and is_last, lane;\n${make}` },
    { in: "store/src/scheduler/due-store.ts", from: "(fire, values)).rows;", to: secondTransaction },
  ],
};
