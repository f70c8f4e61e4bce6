import type { Instant } from "@carillon/core";
import { drawJobs, drawRules } from "../draw/jobs.js";
import { drawPlan, type Frequencies } from "../draw/plan.js";
import { dayMs, yearEnd, yearStart } from "../draw/year.js";
import { schedulePlan } from "./incidents.js";
import type { YearRecord } from "./life.js";
import { Simulation, type SimulationOptions } from "./simulation.js";

export interface YearOptions extends Omit<SimulationOptions, "startsAt"> {
  readonly jobs: number;
  readonly incidents: Frequencies;
  readonly endsAt?: Instant;
}

/** After the last incident everything that is due must be done within this. */
const drainMs = 20 * dayMs;

/** A year of a cluster under a seed: jobs are made and changed, nodes come and go, statements fail; then all is healed. */
export async function liveAYear({ jobs, incidents, endsAt = yearEnd, ...options }: YearOptions): Promise<YearRecord> {
  const { seed } = options;
  const world = new Simulation({ ...options, startsAt: yearStart });
  for (const place of world.cluster.nodes.keys()) await world.cluster.start(place);
  for (const drawn of drawJobs(jobs, seed)) world.agenda.add(drawn.bornAt, () => world.create(drawn));
  const plan = drawPlan(incidents, seed).filter((incident) => incident.at < endsAt);
  schedulePlan(world, plan, drawRules(100, seed + 100));
  await world.run(endsAt);
  await heal(world);
  await world.run(endsAt + drainMs, () => isSettled(world, endsAt));
  return world.record(endsAt);
}

async function heal(world: Simulation): Promise<void> {
  const { tables, cluster } = world;
  tables.locked.clear();
  tables.poisoned.clear();
  world.setWindows([], false);
  for (const place of cluster.nodes.keys()) await cluster.start(place);
  for (const { id, due } of tables.jobs.values()) if (due.state === "paused") await world.changes.resume(id, "none");
}

function isSettled({ tables }: Simulation, by: Instant): boolean {
  for (const { due } of tables.jobs.values()) if ((due.nominal ?? Infinity) <= by) return false;
  return true;
}
