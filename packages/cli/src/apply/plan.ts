import type { Client } from "@carillon/client";
import { type DefaultsOf, type Job, type JobCreate, maxKeys, plainDefinition, plainRequest } from "@carillon/contract";
import { CarillonError, isObject } from "@carillon/core";
import { found, inParallel } from "../client.js";
import type { DesiredJob } from "./read-jobs.js";

/** What applying the files does to one job. */
export type PlannedStep =
  | {
      readonly action: "create";
      readonly key: string;
      readonly desired: DesiredJob;
      readonly differences: Difference[];
    }
  | {
      readonly action: "change";
      readonly key: string;
      readonly desired: DesiredJob;
      readonly current: Job;
      readonly differences: Difference[];
    }
  | { readonly action: "keep"; readonly key: string; readonly current: Job }
  | { readonly action: "cancel"; readonly key: string; readonly current: Job };

/** Requests at a time. */
const requestsAtATime = 4;
const maxPageSize = 1_000;

/** Compares the desired jobs with the server's, many jobs in one request. */
export async function planJobs(
  client: Client,
  desired: readonly DesiredJob[],
  { now, onCompared }: { readonly now: number; readonly onCompared: () => void },
): Promise<PlannedStep[]> {
  const parts = Array.from({ length: Math.ceil(desired.length / maxKeys) }, (_, at) =>
    desired.slice(at * maxKeys, (at + 1) * maxKeys),
  );
  const planned = await inParallel(parts, requestsAtATime, async (part) => {
    const { jobs } = await client.jobs.list({ key: part.map(({ key }) => key).join(",") });
    const byKey = new Map(jobs.map((job) => [job.key, job]));
    return part.map((one) => {
      onCompared();
      return stepFor(one, byKey.get(one.key) ?? null);
    });
  });
  return planWithDefaults(client, planned.flat(), now);
}

/** The server fills in the defaults of the task: a job that differs only in those is unchanged. */
async function planWithDefaults(client: Client, steps: readonly PlannedStep[], now: number): Promise<PlannedStep[]> {
  const tasks = steps.flatMap((step) => (step.action === "change" ? (step.desired.plain.task ?? []) : []));
  const defaultsOf = await readDefaults(client, tasks);
  return steps.map((step) => {
    if (step.action !== "change") return step;
    const { desired, current } = step;
    return stepFor({ ...desired, plain: plainByDefaults(desired, now, defaultsOf) }, current);
  });
}

function stepFor(desired: DesiredJob, current: Job | null): PlannedStep {
  const { key, plain } = desired;
  const before: Partial<JobCreate> = current === null ? {} : plainDefinition(current);
  const changes = differences(before, plain);
  if (current === null) return { action: "create", key, desired, differences: changes };
  if (changes.length === 0) return { action: "keep", key, current };
  return { action: "change", key, desired, current, differences: changes };
}

/** Jobs that match the selector and are in no file. Jobs without a key are never from a file. */
export async function planPrune(client: Client, selector: string, keys: ReadonlySet<string>): Promise<PlannedStep[]> {
  const steps: PlannedStep[] = [];
  let token: string | null = null;
  do {
    const page: Awaited<ReturnType<Client["jobs"]["list"]>> = await client.jobs.list({
      label_selector: selector,
      page_size: maxPageSize,
      ...(token !== null && { page_token: token }),
    });
    for (const current of page.jobs) {
      const { key, state } = current;
      if (key === null || keys.has(key) || (state !== "active" && state !== "paused")) continue;
      steps.push({ action: "cancel", key, current });
    }
    token = page.next_page_token;
  } while (token !== null);
  return steps;
}

/** The defaults that workers registered for these tasks; an older server has none. */
async function readDefaults(client: Client, tasks: Iterable<string>): Promise<DefaultsOf> {
  const known = await inParallel([...new Set(tasks)], requestsAtATime, async (name) => {
    const task = await found(client.tasks.get(name));
    return [name, task?.defaults ?? null] as const;
  });
  const byTask = new Map(known);
  return (task) => byTask.get(task);
}

/** The definition with the server's defaults filled in. A definition that is invalid then is left to the server to refuse. */
function plainByDefaults({ body, plain }: DesiredJob, now: number, defaultsOf: DefaultsOf): Partial<JobCreate> {
  try {
    return plainRequest(body, { now, defaultsOf });
  } catch (error) {
    if (error instanceof CarillonError) return plain;
    throw error;
  }
}

/** One changed field; undefined where it is absent. */
export interface Difference {
  /** schedule.cron */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The differences between two JSON values, field by field; lists are compared as a whole. */
function differences(before: unknown, after: unknown, path = ""): Difference[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => differences(before[name], after[name], path === "" ? name : `${path}.${name}`));
  }
  if (sortedJson(before) === sortedJson(after)) return [];
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/** JSON text that does not depend on the order of fields. */
function sortedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}
