import { createHash } from "node:crypto";
import { type Fault, type FaultKind, type Limits, describeFault, faultSpecs } from "./fault.js";
import { type DependentJob, planDependents } from "./dependent-job.js";
import type { PlannedJob } from "./job.js";
import { planFaults } from "./plan-faults.js";
import { SeededRandom } from "./random.js";
import { type Constraints, planConstraints } from "./constraints.js";
import { type WorkerFault, planWorkerFaults } from "./worker-faults.js";
import { planWorkload } from "./workload.js";

export interface PlanRequest {
  readonly seed: number;
  readonly nodes: number;
  readonly loadMs: number;
  readonly limits: Limits;
  /** Null for all kinds. */
  readonly kinds: readonly FaultKind[] | null;
  /** Whether PostgreSQL fails over to a standby that lags. */
  readonly failover?: boolean;
  /** How many jobs recur. */
  readonly recurring: number;
}

const none = { node: null, byMs: null, at: null };

/** Everything that is decided before a run. It depends on the request alone, on every machine. */
export interface Plan {
  readonly faults: readonly Fault[];
  /** Faults of the regular external worker; null if the run has no external workers. */
  readonly workerFaults: readonly WorkerFault[] | null;
  readonly constraints: Constraints;
  readonly workload: readonly PlannedJob[];
  /** Jobs that start after jobs of the workload. */
  readonly dependents: readonly DependentJob[];
}

export function planRun({ seed, nodes, loadMs, limits, kinds, failover = false, recurring }: PlanRequest): Plan {
  const random = new SeededRandom(seed);
  const faults = planFaults(random, { nodes, loadMs, limits, kinds });
  const constraints = planConstraints(random, loadMs);
  const { windows } = constraints;
  const workload = planWorkload(random, { loadMs, recurring, windows });
  // If only some fault kinds are requested, the nodes do all work themselves, so that the faults hit it.
  const workerFaults =
    kinds === null ? planWorkerFaults(random, { loadMs, workerTimeoutMs: limits.workerTimeoutMs }) : null;
  const dependents = planDependents(random, workload, loadMs);
  const all = failover
    ? [...faults, planFailover(random, { loadMs, limits })].toSorted((a, b) => a.atMs - b.atMs)
    : faults;
  return { faults: all, workerFaults, constraints, workload, dependents };
}

/** In the middle of the load: both histories have enough of it. Drawn last, so that the rest of the plan is the same without it. */
function planFailover(random: SeededRandom, { loadMs, limits }: Pick<PlanRequest, "loadMs" | "limits">): Fault {
  const [range = [0, 0] as const] = faultSpecs.failover.lasts(limits);
  return { kind: "failover", ...none, atMs: Math.round(loadMs * 0.45), lastsMs: random.between(...range) };
}

/** The plan as text. The digest covers all of it, so equal digests mean equal plans. */
export function planLines({ seed, nodes, loadMs }: PlanRequest, plan: Plan): string[] {
  const digest = createHash("sha256").update(JSON.stringify(plan)).digest("hex").slice(0, 12);
  const { faults, workload, dependents, workerFaults } = plan;
  return [
    `seed ${seed}: ${nodes} nodes, ${workload.length + dependents.length} jobs and ${faults.length} faults in ${loadMs / 1_000} s, plan ${digest}`,
    ...faults.map((fault) => `  ${describeFault(fault)}`),
    ...(workerFaults ?? []).map(({ kind, atMs, lastsMs }) => `  ${describeFault({ ...none, kind, atMs, lastsMs })}`),
  ];
}
