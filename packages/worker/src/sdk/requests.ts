import type { JobCreate, RunCreate } from "@carillon/client";
import { CarillonError } from "@carillon/core";
import type { EnqueueOptions, ScheduleOptions, TaskReference } from "./options.js";
import { checkedPayload } from "./standard-schema.js";
import { type RunDefaults, withoutAbsent } from "./task.js";
import { wireDefaults } from "./wire-defaults.js";

/** The request for a run, as the wire has it; the payload has passed its task's schema. */
export async function runRequest<Input>(
  task: TaskReference<Input>,
  payload: Input,
  options: EnqueueOptions,
): Promise<RunCreate> {
  const { labels, owner, dedupe, delay, runAt } = options;
  return withoutAbsent({
    task: nameOf(task),
    payload: await soundPayload(task, payload),
    ...wireDefaults({ ...defaultsOf(task), ...withoutAbsent(options) }),
    delay,
    run_at: runAt?.toISOString(),
    labels: labels && { ...labels },
    owner,
    dedupe: dedupe && withoutAbsent({ key: dedupe.key, on: dedupe.on, window: dedupe.window }),
  });
}

/** The definition of a job, as the wire has it. */
export async function jobRequest<Input>(
  task: TaskReference<Input>,
  options: ScheduleOptions<Input>,
): Promise<JobCreate> {
  const { payload, overlap, misfire, misfireThreshold, catchupWindow, catchupLimit, catchupRate } = options;
  const { labels, owner } = options;
  return withoutAbsent({
    task: nameOf(task),
    payload: await soundPayload(task, payload),
    schedule: wireSchedule(options),
    ...wireDefaults({ ...defaultsOf(task), ...withoutAbsent(options) }),
    overlap,
    misfire,
    misfire_threshold: misfireThreshold,
    catchup_window: catchupWindow,
    catchup_limit: catchupLimit,
    catchup_rate: catchupRate,
    labels: labels && { ...labels },
    owner,
  });
}

function wireSchedule(options: Omit<ScheduleOptions<never>, "payload">): NonNullable<JobCreate["schedule"]> {
  const { cron, every, at, manual, after, mode, timeZone, dayMatch, dst, jitter, startsAt, endsAt, maxRuns } = options;
  const { exclude, only, roll } = options.calendars ?? {};
  return withoutAbsent({
    cron,
    every,
    at: at?.toISOString(),
    manual,
    after: after?.map((one) => ({ ...one })),
    mode,
    time_zone: timeZone,
    day_match: dayMatch,
    dst: dst && { ...dst },
    jitter,
    starts_at: startsAt?.toISOString(),
    ends_at: endsAt?.toISOString(),
    max_runs: maxRuns,
    calendars: options.calendars && withoutAbsent({ exclude: exclude && [...exclude], only: only && [...only], roll }),
  });
}

function nameOf(task: TaskReference<never>): string {
  return typeof task === "string" ? task : task.name;
}

function defaultsOf(task: TaskReference<never>): RunDefaults {
  return typeof task === "string" ? {} : task.defaults;
}

/** The payload as it was given, as JSON: the schema looks at it again when it runs. */
async function soundPayload(task: TaskReference<never>, payload: unknown): Promise<unknown> {
  return JSON.parse(await soundPayloadText(task, payload)) as unknown;
}

/** A promise only where the task has a schema. */
export function soundPayloadText(task: TaskReference<never>, payload: unknown): string | Promise<string> {
  if (typeof task === "string" || task.schema === null) return jsonTextOf(task, payload);
  return checkedPayload(task.name, task.schema, payload).then(() => jsonTextOf(task, payload));
}

function jsonTextOf(task: TaskReference<never>, payload: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(payload ?? null);
    if (text !== undefined) return text;
  } catch (error) {
    throw new CarillonError("payload_invalid", `the payload of ${nameOf(task)} is not JSON: ${String(error)}`);
  }
  throw new CarillonError("payload_invalid", `the payload of ${nameOf(task)} is not JSON`);
}
