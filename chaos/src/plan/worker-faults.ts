import type { Range } from "./fault.js";
import type { SeededRandom } from "./random.js";

/**
 * Faults of the regular external worker. worker_kill: SIGKILL, started again later. worker_freeze: SIGSTOP for longer
 * than the worker timeout, then SIGCONT. worker_lose: the server receives its polls, and the answers are lost.
 */
export const workerFaultKinds = ["worker_kill", "worker_freeze", "worker_lose"] as const;

export type WorkerFaultKind = (typeof workerFaultKinds)[number];

export interface WorkerFault {
  readonly kind: WorkerFaultKind;
  readonly atMs: number;
  readonly lastsMs: number;
}

const quietMs = 5_000;

/** Plans one fault after the other; every kind once before any repeats. */
export function planWorkerFaults(
  random: SeededRandom,
  { loadMs, workerTimeoutMs }: { readonly loadMs: number; readonly workerTimeoutMs: number },
): WorkerFault[] {
  const lasts: Readonly<Record<WorkerFaultKind, Range>> = {
    worker_kill: [500, 3_000],
    worker_freeze: [workerTimeoutMs + 1_500, workerTimeoutMs + 4_000],
    worker_lose: [500, 2_000],
  };
  const faults: WorkerFault[] = [];
  let kinds: WorkerFaultKind[] = [];
  for (let atMs = quietMs + random.between(0, quietMs); ;) {
    if (kinds.length === 0) kinds = random.shuffle(workerFaultKinds);
    const kind = kinds.pop() ?? "worker_kill";
    const lastsMs = random.between(...lasts[kind]);
    if (atMs + lastsMs > loadMs - quietMs) return faults;
    faults.push({ kind, atMs, lastsMs });
    atMs += lastsMs + random.between(1_000, 2 * quietMs);
  }
}
