import type { Client } from "@carillon/client";
import { type Job, type JobCreate, maxKeys, plainDefinition } from "@carillon/contract";
import type { DesiredJob } from "./desired-jobs.js";
import { type Difference, differences } from "./differences.js";
import { inParallel } from "./in-parallel.js";
import { plainByDefaults, readDefaults } from "./task-defaults.js";

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
const largestPage = 1_000;

/** Compares what is wanted with what there is, many jobs with one question. */
export async function planJobs(
  client: Client,
  desired: readonly DesiredJob[],
  { now, onLooked }: { readonly now: number; readonly onLooked: () => void },
): Promise<PlannedStep[]> {
  const parts = Array.from({ length: Math.ceil(desired.length / maxKeys) }, (_, at) =>
    desired.slice(at * maxKeys, (at + 1) * maxKeys),
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
      page_size: largestPage,
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
