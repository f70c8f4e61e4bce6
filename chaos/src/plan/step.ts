/**
 * Where a node can be killed: around a request of this name to the database. `before` it is never sent; `after` it is done, and the
 * node does not live to see the answer.
 */
export interface Step {
  readonly when: "before" | "after";
  readonly statement: string;
}

/** The end of a transaction, as it stands on the wire; all other statements go by their names. */
export const commit = "commit\0";

/** Each in a fire, a settlement, an admission, a promotion, a claim, the end of a run, a job that hears of it, a heartbeat or a takeover. */
const statements = [
  "due.fire",
  "settlement.lock_due",
  "settlement.insert_runs",
  "settlement.move",
  "settlement.admit_runs",
  commit,
  "run.promote",
  "run.complete_and_claim",
  "run.finish",
  "run.retry",
  "run.rescue",
  "dependency.told",
  "node.heartbeat",
  "shard.take",
];

export const steps: readonly Step[] = statements.flatMap((statement) => [
  { when: "before", statement },
  { when: "after", statement },
]);

export const describeStep = ({ when, statement }: Step): string => `${when} ${statement.replace("\0", "")}`;
