import { CarillonError } from "../errors/carillon-error.js";
import { type RunStatus, runStatuses, runStatusGroups } from "./status.js";

/** Spellings that users bring along from elsewhere. */
const foreign: Readonly<Record<string, RunStatus>> = {
  completed: "succeeded",
  success: "succeeded",
  failure: "failed",
  canceled: "cancelled",
};

const byName = new Map<string, readonly RunStatus[]>([
  ...runStatuses.map((status) => [status, [status]] as const),
  ...Object.entries(runStatusGroups),
  ...Object.entries(foreign).map(([name, status]) => [name, [status]] as const),
]);

/** Reads a filter of runs: statuses, groups and foreign spellings, in any case, separated by commas. */
export function parseStatusFilter(text: string): RunStatus[] {
  return parseNames(text, byName, runStatuses);
}

/** Each named value once, in the order of `all`. */
export function parseNames<Status extends string>(
  text: string,
  names: ReadonlyMap<string, readonly Status[]>,
  all: readonly Status[],
): Status[] {
  const found = new Set<Status>();
  for (const part of text.split(",")) {
    const statuses = names.get(part.trim().toLowerCase());
    if (statuses === undefined) {
      const shown = JSON.stringify(part.length <= 40 ? part : `${part.slice(0, 40)}…`);
      throw new CarillonError("status_unknown", `${shown} is not a status; there are ${[...names.keys()].join(", ")}`);
    }
    for (const status of statuses) found.add(status);
  }
  return all.filter((status) => found.has(status));
}
