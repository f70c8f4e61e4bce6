/**
 * kill: kill -9, started again later. kill_at_fire: the same, a moment after the node's next fire passed on its way to the
 * database. freeze: SIGSTOP, then SIGCONT. stop: a clean stop, started again later. reset: every connection to the database is
 * reset. lose_fire, lose_claim, lose_result: the connection is reset between a fire, a claim or the end of a run and its answer.
 * cut: the way to the database goes silent, what was sent meanwhile arrives after the heal. delay: every packet takes longer.
 * deaf: no NOTIFY reaches the node. clock: the node's wall clock is moved, then put right. pool: the node loses its connections while others hold all that the
 * server gives. database: PostgreSQL is stopped at once, without a checkpoint, and started again.
 */
export const faultKinds = [
  "kill",
  "kill_at_fire",
  "freeze",
  "stop",
  "reset",
  "lose_fire",
  "lose_claim",
  "lose_result",
  "cut",
  "delay",
  "deaf",
  "clock",
  "pool",
  "database",
] as const;

export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** Null for the database, which is everybody's. */
  readonly node: number | null;
  readonly atMs: number;
  readonly lastsMs: number;
  /** clock: how far it is moved. kill_at_fire: how long after the fire. Null for all others. */
  readonly byMs: number | null;
}

export function describeFault({ kind, node, atMs, lastsMs, byMs }: Fault): string {
  const target = node === null ? "database" : `node ${node}`;
  const by = byMs === null ? "" : `  by ${byMs} ms`;
  return `${(atMs / 1_000).toFixed(1).padStart(6)} s  ${kind.padEnd(13)}${target.padEnd(10)}${(lastsMs / 1_000).toFixed(1)} s${by}`;
}
