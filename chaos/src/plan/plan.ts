import { createHash } from "node:crypto";
import { type Fault, type FaultKind, type Limits, describeFault } from "./fault.js";
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
  /** Null for all of them. */
  readonly kinds: readonly FaultKind[] | null;
  /** How many jobs recur. */
  readonly recurring: number;
}

/** All that is decided before a run begins. It upstream from the request alone, on every machine. */
export interface Plan {
  readonly faults: readonly Fault[];
  /** Of the worker in a process of its own; null: there is none, and no rogue either. */
  readonly workerFaults: readonly WorkerFault[] | null;
  readonly constraints: Constraints;
  readonly workload: readonly PlannedJob[];
  /** Jobs that start after some of these. */
  readonly dependents: readonly DependentJob[];
}

export function planRun({ seed, nodes, loadMs, limits, kinds, recurring }: PlanRequest): Plan {
  const random = new SeededRandom(seed);
  const faults = planFaults(random, { nodes, loadMs, limits, kinds });
  const constraints = planConstraints(random, loadMs);
  const { windows } = constraints;
  const workload = planWorkload(random, { loadMs, recurring, windows });
  // Where only some faults are asked for, all work is done inside the nodes, which they disturb.
  const workerFaults =
    kinds === null ? planWorkerFaults(random, { loadMs, workerTimeoutMs: limits.workerTimeoutMs }) : null;
  const dependents = planDependents(random, workload, loadMs);
  return { faults, workerFaults, constraints, workload, dependents };
}

const none = { node: null, byMs: null, at: null };

/** The plan for people; the digest covers all of it, so that equal digests are equal plans. */
export function planLines({ seed, nodes, loadMs }: PlanRequest, plan: Plan): string[] {
  const digest = createHash("sha256").update(JSON.stringify(plan)).digest("hex").slice(0, 12);
  const { faults, workload, dependents, workerFaults } = plan;
  return [
    `seed ${seed}: ${nodes} nodes, ${workload.length + dependents.length} jobs and ${faults.length} faults in ${loadMs / 1_000} s, plan ${digest}`,
    ...faults.map((fault) => `  ${describeFault(fault)}`),
    ...(workerFaults ?? []).map(({ kind, atMs, lastsMs }) => `  ${describeFault({ ...none, kind, atMs, lastsMs })}`),
  ];
}
