/**
 * Where a node can be killed: around its request of this name to the database. `before`: the request is never sent. `after`: the
 * database executes it, and the node does not receive the answer.
 */
export interface Step {
  readonly when: "before" | "after";
  readonly statement: string;
}

/** The commit of a transaction as its bytes on the wire; every other statement appears there under its name. */
export const commit = "commit\0";

/**
 * Statements of a fire, a job transaction, an admission, a promotion, a claim, the end of a run, its delivery to dependent jobs, a
 * heartbeat and a takeover.
 */
const statements = [
  "due.fire",
  "job_transaction.lock_due",
  "job_transaction.insert_runs",
  "job_transaction.save_due_states",
  "job_transaction.admit_runs",
  commit,
  "run.promote",
  "run.complete_and_claim",
  "run.finish",
  "run.retry",
  "run.rescue",
  "upstream_end.delete",
  "node.heartbeat",
  "shard.take",
];

export const steps: readonly Step[] = statements.flatMap((statement) => [
  { when: "before", statement },
  { when: "after", statement },
]);

export const describeStep = ({ when, statement }: Step): string => `${when} ${statement.replace("\0", "")}`;
