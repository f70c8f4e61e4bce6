import { createHash } from "node:crypto";
import { type Fault, type FaultKind, describeFault } from "./fault.js";
import type { Limits } from "./fault-spans.js";
import { type Follower, planFollowers } from "./follower.js";
import { planFaults } from "./plan-faults.js";
import { SeededRandom } from "./random.js";
import type { PlannedJob } from "./job.js";
import { type Surroundings, planSurroundings } from "./surroundings.js";
import { planWorkload } from "./workload.js";
import { planWorkerFaults, type WorkerFault } from "./worker-faults.js";

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

/** All that is decided before a run begins. It follows from the request alone, on every machine. */
export interface Plan {
  readonly faults: readonly Fault[];
  /** Of the worker in a process of its own; null: there is none, and no liar either. */
  readonly workerFaults: readonly WorkerFault[] | null;
  readonly surroundings: Surroundings;
  readonly workload: readonly PlannedJob[];
  /** Jobs that start after some of these. */
  readonly followers: readonly Follower[];
}

export function planRun({ seed, nodes, loadMs, limits, kinds, recurring }: PlanRequest): Plan {
  const random = new SeededRandom(seed);
  const faults = planFaults(random, { nodes, loadMs, limits, kinds });
  const surroundings = planSurroundings(random, loadMs);
  const { windows } = surroundings;
  const workload = planWorkload(random, { loadMs, recurring, windows });
  // Where only some faults are asked for, all work is done inside the nodes, which they disturb.
  const workerFaults = kinds === null ? planWorkerFaults(random, { loadMs, silenceMs: limits.workerTimeoutMs }) : null;
  const followers = planFollowers(random, workload, loadMs);
  return { faults, workerFaults, surroundings, workload, followers };
}

const none = { node: null, byMs: null, at: null };

/** The plan for people; the digest covers all of it, so that equal digests are equal plans. */
export function planLines({ seed, nodes, loadMs }: PlanRequest, plan: Plan): string[] {
  const digest = createHash("sha256").update(JSON.stringify(plan)).digest("hex").slice(0, 12);
  const { faults, workload, followers, workerFaults } = plan;
  return [
    `seed ${seed}: ${nodes} nodes, ${workload.length + followers.length} jobs and ${faults.length} faults in ${loadMs / 1_000} s, plan ${digest}`,
    ...faults.map((fault) => `  ${describeFault(fault)}`),
    ...(workerFaults ?? []).map(({ kind, atMs, lastsMs }) => `  ${describeFault({ ...none, kind, atMs, lastsMs })}`),
  ];
}
