import type { ScheduleSpec } from "@carillon/core";
import type { Incident, PlannedIncident } from "../draw/plan.js";
import { secondMs } from "../draw/year.js";
import type { Simulation } from "./simulation.js";

/** A dead node's shards are taken after so long. */
const leaseMs = 5 * secondMs;

type Handlers = {
  readonly [Kind in Incident["kind"]]: (
    world: Simulation,
    incident: Incident & { readonly kind: Kind },
  ) => Promise<void>;
};

/** Lets everything of a plan happen at its time. */
export function schedulePlan(
  world: Simulation,
  plan: readonly PlannedIncident[],
  rules: readonly ScheduleSpec[],
): void {
  const handlers = makeHandlers(rules);
  for (const incident of plan) {
    const handle = handlers[incident.kind] as (world: Simulation, incident: Incident) => Promise<void>;
    world.agenda.add(incident.at, () => handle(world, incident));
  }
}

function makeHandlers(rules: readonly ScheduleSpec[]): Handlers {
  return {
    outage,
    crash,
    stop,
    move,
    fault,
    lock,
    skew,
    clock_back: clockBack,
    windows,
    pause,
    edit: (world, incident) => edit(world, incident, rules),
    cancel,
    poison,
  };
}

const placeOf = (world: Simulation, number: number): number => number % world.cluster.nodes.length;
const jobOf = (world: Simulation, number: number): string => world.jobIds[number % world.jobIds.length] ?? "";

/** Every second time a job whose occurrence has come and still waits, if there is one: changes are delicate then. */
function delicateJobOf(world: Simulation, number: number): string {
  const waiting = number % 2 === 0 ? world.jobIds.filter((id) => waits(world, id)) : [];
  return waiting[number % Math.max(1, waiting.length)] ?? jobOf(world, number);
}

function isDueWithin({ tables, now }: Simulation, id: string, spanMs: number): boolean {
  const { state, fireAt } = tables.jobs.get(id)?.due ?? { state: "cancelled", fireAt: null };
  return state === "active" && fireAt !== null && fireAt > now && fireAt < now + spanMs;
}

function waits({ tables, now }: Simulation, id: string): boolean {
  const nominal = tables.jobs.get(id)?.due.nominal ?? null;
  return nominal !== null && nominal <= now;
}

const outage: Handlers["outage"] = async (world, { forMs }) => {
  world.count("outage");
  for (const place of world.cluster.nodes.keys()) {
    world.cluster.down(place);
    world.agenda.add(world.now + forMs, () => world.cluster.start(place));
  }
};

const crash: Handlers["crash"] = async (world, { node, forMs }) => {
  world.count("crash");
  const place = placeOf(world, node);
  world.cluster.down(place);
  world.agenda.add(world.now + leaseMs, () => world.cluster.shareOut());
  world.agenda.add(world.now + forMs, () => world.cluster.start(place));
};

const stop: Handlers["stop"] = async (world, { node, forMs }) => {
  world.count("stop");
  const place = placeOf(world, node);
  await world.cluster.stop(place);
  world.agenda.add(world.now + forMs, () => world.cluster.start(place));
};

const move: Handlers["move"] = async (world, { node, shards, zombieMs }) => {
  const { up } = world.cluster;
  const to = up[node % Math.max(1, up.length)];
  if (to === undefined) return;
  world.count(zombieMs === 0 ? "move" : "move behind a zombie's back");
  const notify = await world.cluster.move(to, shards, zombieMs === 0);
  if (zombieMs > 0) world.agenda.add(world.now + zombieMs, notify);
};

const fault: Handlers["fault"] = async (world, { node, how, forMs }) => {
  const target = world.cluster.nodes[placeOf(world, node)];
  if (!target?.isUp) return;
  world.count(`fault ${how}`);
  target.fault = { how, forMs };
};

const lock: Handlers["lock"] = async (world, { jobs, forMs }) => {
  world.count("lock");
  const ids = jobs.map((job) => jobOf(world, job));
  for (const id of ids) world.tables.locked.add(id);
  world.agenda.add(world.now + forMs, () => ids.forEach((id) => world.tables.locked.delete(id)));
};

const skew: Handlers["skew"] = async (world, { node, byMs, forMs }) => {
  const target = world.cluster.nodes[placeOf(world, node)];
  if (!target) return;
  world.count("skew");
  target.skewMs = byMs;
  target.wake();
  world.noteUnclear(world.now + forMs);
  world.agenda.add(world.now + forMs, () => {
    target.skewMs = 0;
    target.wake();
  });
};

const clockBack: Handlers["clock_back"] = async (world, { byMs }) => {
  world.count("clock put back");
  world.putClockBack(byMs);
};

const windows: Handlers["windows"] = async (world, incident) => {
  world.count("windows changed");
  world.setWindows(incident.windows, incident.isHinted);
};

const pause: Handlers["pause"] = async (world, { job, forMs, missed, ends }) => {
  const id = delicateJobOf(world, job);
  const until = world.now + forMs;
  if ((await world.changes.pause(id, ends ? until : null, missed)) !== "done") return;
  world.count("pause");
  markChanged(world, id);
  if (!ends) world.agenda.add(until, () => resume(world, id, missed));
};

/** Another transaction holds the job only briefly. */
async function resume(world: Simulation, id: string, missed: "none" | "latest" | "all"): Promise<void> {
  if ((await world.changes.resume(id, missed)) !== "busy") return;
  world.agenda.add(world.now + 10 * secondMs, () => resume(world, id, missed));
}

async function edit(
  world: Simulation,
  { job, rule, isPlain }: Incident & { readonly kind: "edit" },
  rules: readonly ScheduleSpec[],
): Promise<void> {
  const id = delicateJobOf(world, job);
  const schedule = rules[rule % rules.length];
  if (schedule === undefined) return;
  const outcome = await world.changes.edit(id, (spec) =>
    isPlain ? { ...spec, priority: (spec.priority + 1) % 10 } : { ...spec, schedule },
  );
  if (outcome !== "done") return;
  world.count("edit");
  if (isPlain) markChanged(world, id);
  else world.replaceRule(id, schedule);
}

const cancel: Handlers["cancel"] = async (world, { job }) => {
  const id = delicateJobOf(world, job);
  if (world.tables.jobs.get(id)?.due.state !== "active" || (await world.changes.cancel(id)) !== "done") return;
  world.count("cancel");
  world.replaceRule(id, null);
};

/** No run of the job can be stored for a while: the job is quarantined, and a user resumes it afterwards. */
const poison: Handlers["poison"] = async (world, { job, forMs, missed }) => {
  const soon = world.jobIds.filter((one) => isDueWithin(world, one, forMs));
  const id = soon[job % Math.max(1, soon.length)] ?? jobOf(world, job);
  world.count("poison");
  markChanged(world, id);
  world.tables.poisoned.add(id);
  world.agenda.add(world.now + forMs, () => {
    world.tables.poisoned.delete(id);
    return resume(world, id, missed);
  });
};

function markChanged(world: Simulation, id: string): void {
  const life = world.lives.get(id);
  if (life !== undefined) life.isChanged = true;
}
