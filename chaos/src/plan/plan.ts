import { createHash } from "node:crypto";
import { type Fault, type FaultKind, type Limits, describeFault } from "./fault.js";
import { type DependentJob, planDependents } from "./dependent-job.js";
import type { PlannedJob } from "./job.js";
import { planFaults } from "./plan-faults.js";
import { planUpgrades } from "../mixed/plan-upgrades.js";
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
  /** How many jobs recur. */
  readonly recurring: number;
  /** Whether the nodes begin in the version before and are upgraded one after the other. */
  readonly upgrades?: boolean;
}

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

export function planRun({ seed, nodes, loadMs, limits, kinds, recurring, upgrades = false }: PlanRequest): Plan {
  const random = new SeededRandom(seed);
  const between = planFaults(random, { nodes, loadMs, limits, kinds });
  const faults = upgrades ? [...between, ...planUpgrades(nodes, loadMs)].toSorted((a, b) => a.atMs - b.atMs) : between;
  const constraints = planConstraints(random, loadMs);
  const { windows } = constraints;
  const workload = planWorkload(random, { loadMs, recurring, windows });
  // If only some fault kinds are requested, the nodes do all work themselves, so that the faults hit it.
  const workerFaults =
    kinds === null ? planWorkerFaults(random, { loadMs, workerTimeoutMs: limits.workerTimeoutMs }) : null;
  const dependents = planDependents(random, workload, loadMs);
  return { faults, workerFaults, constraints, workload, dependents };
}

const none = { node: null, byMs: null, at: null };

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
