import type { Client } from "@carillon/client";
import { type DefaultsOf, type Job, type JobCreate, mostKeys, plainDefinition, plainRequest } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import { found } from "../client.js";
import { inParallel } from "../in-parallel.js";
import type { DesiredJob } from "./read-jobs.js";

/** What applying files would do about one job. */
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

/** Questions under way at a time. */
const lookWidth = 4;
const maxPageSize = 1_000;

/** Compares what is wanted with what there is, many jobs with one question. */
export async function planJobs(
  client: Client,
  desired: readonly DesiredJob[],
  { now, onLooked }: { readonly now: number; readonly onLooked: () => void },
): Promise<PlannedStep[]> {
  const parts = Array.from({ length: Math.ceil(desired.length / mostKeys) }, (_, at) =>
    desired.slice(at * mostKeys, (at + 1) * mostKeys),
  );
  const planned = await inParallel(parts, lookWidth, async (part) => {
    const { jobs } = await client.jobs.list({ key: part.map(({ key }) => key).join(",") });
    const byKey = new Map(jobs.map((job) => [job.key, job]));
    return part.map((one) => {
      onLooked();
      return stepFor(one, byKey.get(one.key) ?? null);
    });
  });
  return judgedByDefaults(client, planned.flat(), now);
}

/** What a file leaves out the server takes from the task: where that is all that differs, nothing is to change. */
async function judgedByDefaults(client: Client, steps: readonly PlannedStep[], now: number): Promise<PlannedStep[]> {
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
  const before: JobCreate = current === null ? {} : plainDefinition(current);
  const changes = differences(before, plain);
  if (current === null) return { action: "create", key, desired, differences: changes };
  if (changes.length === 0) return { action: "keep", key, current };
  return { action: "change", key, desired, current, differences: changes };
}

/** Jobs that the selector names and the files do not. Jobs without a key never came from a file. */
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

/** What the workers of these tasks say about their runs; a server of an older version knows of none. */
async function readDefaults(client: Client, tasks: Iterable<string>): Promise<DefaultsOf> {
  const known = await inParallel([...new Set(tasks)], lookWidth, async (name) => {
    const task = await found(client.tasks.get(name));
    return [name, task?.defaults ?? null] as const;
  });
  const byTask = new Map(known);
  return (task) => byTask.get(task);
}

/** What the job means once the server has filled in what it leaves out. What is wrong with that is for the server to say. */
function plainByDefaults({ body, plain }: DesiredJob, now: number, defaultsOf: DefaultsOf): JobCreate {
  try {
    return plainRequest(body, { now, defaultsOf });
  } catch (error) {
    if (error instanceof CarillonError) return plain;
    throw error;
  }
}

/** One member that is to change; undefined where it is not there. */
export interface Difference {
  /** schedule.cron */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What differs between two JSON values, member by member; lists are compared whole. */
function differences(before: unknown, after: unknown, path = ""): Difference[] {
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => differences(before[name], after[name], path === "" ? name : `${path}.${name}`));
  }
  if (sortedJson(before) === sortedJson(after)) return [];
  return [{ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
}

/** As text that does not depend on the order of members. */
function sortedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_, member: unknown) =>
    isRecord(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
