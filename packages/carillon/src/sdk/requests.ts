import type { BreakerRequest, JobCreate, RetryRequest, RunCreate } from "@carillon/contract";
import { CarillonError, type DedupeAction } from "@carillon/core";
import { checkedPayload } from "./standard-schema.js";
import {
  type BreakerOptions,
  type RetryOptions,
  type RunDefaults,
  type TaskDefinition,
  withoutAbsent,
} from "./task.js";

/** A task, or the name of one that is defined elsewhere. */
export type TaskReference<Input> = TaskDefinition<Input, unknown> | string;

export interface EnqueueOptions extends RunDefaults {
  /** How long to wait before it may start, such as "3d". */
  readonly delay?: string;
  /** When it may start; at once when neither this nor delay is given. */
  readonly runAt?: Date;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly dedupe?: {
    /** What the run is about; without it the task alone is the identity. */
    readonly key?: string;
    /** While another run of this task and key counts; ignore by default. */
    readonly on?: DedupeAction;
    /** How long a run counts after its end, such as "1h"; while it is live when left out. */
    readonly window?: string;
  };
}

export interface ScheduleOptions<Input> extends RunDefaults {
  readonly cron?: string;
  readonly timeZone?: string;
  /** An interval such as "15m". */
  readonly every?: string;
  readonly at?: Date;
  readonly jitter?: string;
  /** When runs of other jobs end: on success unless said otherwise. */
  readonly after?: readonly {
    /** Key or id. */
    readonly job: string;
    readonly on?: "success" | "failure" | "finish";
    /** CEL over the run that ended, such as "output.rows > 0". */
    readonly when?: string;
  }[];
  /** With several: all of them, the default, or any. */
  readonly mode?: "all" | "any";
  readonly payload?: Input;
  readonly overlap?: JobCreate["overlap"];
  readonly misfire?: JobCreate["misfire"];
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
}

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
  const { cron, timeZone, every, at, jitter, after, mode, payload, overlap, misfire, labels, owner } = options;
  const schedule = withoutAbsent({
    cron,
    time_zone: timeZone,
    every,
    at: at?.toISOString(),
    jitter,
    after: after?.map((one) => ({ ...one })),
    mode,
  });
  return withoutAbsent({
    task: nameOf(task),
    payload: await soundPayload(task, payload),
    schedule,
    ...wireDefaults({ ...defaultsOf(task), ...withoutAbsent(options) }),
    overlap,
    misfire,
    labels: labels && { ...labels },
    owner,
  });
}

function nameOf(task: TaskReference<never>): string {
  return typeof task === "string" ? task : task.name;
}

function defaultsOf(task: TaskReference<never>): RunDefaults {
  return typeof task === "string" ? {} : task.defaults;
}

/** The payload as it was given: the schema looks at it again when it runs. */
export function soundPayload(task: TaskReference<never>, payload: unknown): unknown {
  if (typeof task === "string" || task.schema === null) return asJson(task, payload);
  return checkedPayload(task.name, task.schema, payload).then(() => asJson(task, payload));
}

function asJson(task: TaskReference<never>, payload: unknown): unknown {
  try {
    const text: string | undefined = JSON.stringify(payload ?? null);
    if (text !== undefined) return JSON.parse(text) as unknown;
  } catch (error) {
    throw new CarillonError("payload_invalid", `the payload of ${nameOf(task)} is not JSON: ${String(error)}`);
  }
  throw new CarillonError("payload_invalid", `the payload of ${nameOf(task)} is not JSON`);
}

type WireDefaults = Pick<
  RunCreate,
  "queue" | "priority" | "timeout" | "deadline" | "guarantee" | "retry" | "requires" | "task_version" | "allow_spot"
> &
  Pick<RunCreate, "concurrency" | "rate_limit" | "ordering_key" | "ordering_on_failure" | "breaker">;

function wireDefaults(defaults: RunDefaults): WireDefaults {
  const { queue, priority, timeout, deadline, guarantee, retry, requires, taskVersion, allowSpot } = defaults;
  return withoutAbsent({
    queue,
    priority,
    timeout,
    deadline,
    guarantee,
    retry: retry && wireRetry(retry),
    requires: requires && { ...requires },
    concurrency: defaults.concurrency && { ...defaults.concurrency },
    rate_limit: defaults.rateLimit && { ...defaults.rateLimit },
    ordering_key: defaults.orderingKey,
    ordering_on_failure: defaults.orderingOnFailure,
    breaker: defaults.breaker && wireBreaker(defaults.breaker),
    task_version: taskVersion,
    allow_spot: allowSpot,
  });
}

function wireBreaker({ name, failureRatio, window, minCalls, openFor }: BreakerOptions): BreakerRequest {
  return withoutAbsent({
    name,
    failure_ratio: failureRatio,
    window,
    min_calls: minCalls,
    open_for: openFor,
  });
}

function wireRetry({ maxAttempts, backoff, initial, factor, max, jitter, nonRetryable }: RetryOptions): RetryRequest {
  return withoutAbsent({
    max_attempts: maxAttempts,
    backoff,
    initial,
    factor,
    max,
    jitter,
    non_retryable: nonRetryable && [...nonRetryable],
  });
}
