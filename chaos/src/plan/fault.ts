import { type Step, describeStep } from "./step.js";
import type { WorkerFaultKind } from "./worker-faults.js";

/**
 * kill: kill -9, started again later. kill_at: the same, just before or after a statement of the node goes to the database.
 * freeze: SIGSTOP, then SIGCONT. stop: a clean stop, started again later. reset: every connection to the database is reset.
 * lose_fire, lose_claim, lose_result, lose_commit: the connection is reset between a fire, a claim, the end of a run or of a
 * transaction and its answer. cut: the way to the database goes silent, what was sent meanwhile arrives after the heal. delay:
 * every packet takes longer. deaf: no NOTIFY reaches the node. clock: the node's wall clock is moved, then put right. pool: the
 * node loses its connections while others hold all that the server gives. database: PostgreSQL is stopped at once, without a
 * checkpoint, and started again. database_kill: the same by kill -9.
 */
export const faultKinds = [
  "kill",
  "kill_at",
  "freeze",
  "stop",
  "reset",
  "lose_fire",
  "lose_claim",
  "lose_result",
  "lose_commit",
  "cut",
  "delay",
  "deaf",
  "clock",
  "pool",
  "database",
  "database_kill",
] as const;

export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** Null for the database, which is everybody's. */
  readonly node: number | null;
  readonly atMs: number;
  readonly lastsMs: number;
  /** clock: how far it is moved. Null for all others. */
  readonly byMs: number | null;
  /** kill_at: where. Null for all others. */
  readonly at: Step | null;
}

export const isOfDatabase = (kind: FaultKind): boolean => kind === "database" || kind === "database_kill";

/** What is said of a fault, also of one to a worker. */
type Described = Omit<Fault, "kind"> & { readonly kind: FaultKind | WorkerFaultKind };

export function describeFault({ kind, node, atMs, lastsMs, byMs, at }: Described): string {
  const target = kind.startsWith("worker_") ? "worker" : node === null ? "database" : `node ${node}`;
  const by = byMs === null ? "" : `  by ${byMs} ms`;
  const where = at === null ? "" : `  ${describeStep(at)}`;
  return `${(atMs / 1_000).toFixed(1).padStart(6)} s  ${kind.padEnd(14)}${target.padEnd(10)}${(lastsMs / 1_000).toFixed(1)} s${by}${where}`;
}
