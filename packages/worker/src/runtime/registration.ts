import type { Task } from "./task.js";
import type { Registration } from "./transport.js";

type Registering = Omit<Registration, "tasks" | "versions" | "weights" | "defaults"> & {
  readonly tasks: readonly Task[];
};

/** Of tasks whose runs take more than one slot; one that would take more than there are takes them all. Null: there are none. */
export function weightsOf({ tasks, slots }: Pick<Registering, "tasks" | "slots">): ReadonlyMap<string, number> | null {
  const heavy = tasks.filter(({ weight = 1 }) => weight > 1);
  return heavy.length === 0 ? null : new Map(heavy.map(({ name, weight = 1 }) => [name, Math.min(weight, slots)]));
}

/** What the worker says of itself when it registers. */
export function registrationOf(worker: Registering): Registration {
  const { name, namespaces, queues, slots, ahead, labels, isSpot, tasks } = worker;
  const weights = weightsOf(worker);
  const versioned = tasks.filter(({ versions = [] }) => versions.length > 0);
  const versions = Object.fromEntries(versioned.map((task) => [task.name, task.versions ?? []]));
  const told = tasks.filter(({ defaults }) => defaults !== undefined);
  return {
    name,
    queues,
    slots,
    tasks: [...new Set(tasks.map((task) => task.name))],
    ...(namespaces !== undefined && { namespaces }),
    ...(ahead !== undefined && { ahead }),
    ...(labels !== undefined && { labels }),
    ...(versioned.length > 0 && { versions }),
    ...(weights !== null && { weights: Object.fromEntries(weights) }),
    ...(told.length > 0 && { defaults: Object.fromEntries(told.map((task) => [task.name, task.defaults ?? {}])) }),
    ...(isSpot === true && { isSpot }),
  };
}
