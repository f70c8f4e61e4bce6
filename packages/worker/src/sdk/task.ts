import {
  type CallbackMoment,
  type CallbackPart,
  CarillonError,
  type Guarantee,
  type OrderFailure,
} from "@carillon/core";
import type { TaskContext } from "../runtime/task.js";
import type { StandardSchema } from "./standard-schema.js";

/** After a failure. Durations are texts such as "10s". */
export interface RetryOptions {
  /** Tries in all, the first included. */
  readonly maxAttempts?: number;
  readonly backoff?: "exponential" | "linear" | "fixed";
  readonly initial?: string;
  readonly factor?: number;
  readonly max?: string;
  readonly jitter?: "full" | "equal" | "none";
  /** Names of errors that end the run at once. */
  readonly nonRetryable?: readonly string[];
}

export interface CallbackOptions {
  /** Every end when left out. */
  readonly on?: readonly (CallbackMoment | "dead")[];
  readonly url?: string;
  readonly task?: string;
  readonly include?: readonly CallbackPart[];
}

/** A circuit breaker: while it is open its runs wait, and spend nothing. Durations are texts such as "30s". */
export interface BreakerOptions {
  /** What it stands for, shared by all that name it; the task when left out. */
  readonly name?: string;
  /** It opens when so many of the attempts failed, 0.5 by default, and at once when one ends with a Retry-After. */
  readonly failureRatio?: number;
  /** Within this time; "1m" by default. */
  readonly window?: string;
  /** If there were so many; 10 by default. */
  readonly minCalls?: number;
  /** For so long it stays open before one run is tried; "30s" by default. */
  readonly openFor?: string;
}

/** What a task says about its runs; each run can say otherwise. */
export interface RunDefaults {
  readonly queue?: string;
  /** 0 to 9; 9 is most urgent, 4 the default. */
  readonly priority?: number;
  readonly retry?: RetryOptions;
  /** For each attempt, such as "2m". */
  readonly timeout?: string;
  /** For the whole run, from the time when it may start, such as "1h". */
  readonly deadline?: string;
  /** What was promised of each run, from its time on, such as { finishWithin: "10m" }: a breach is an event and is counted. */
  readonly sla?: { readonly startWithin?: string; readonly finishWithin?: string };
  readonly guarantee?: Guarantee;
  /** So many runs at a time: of the key (a template such as "customer:{payload.customer}"), or of the task. */
  readonly concurrency?: { readonly key?: string; readonly limit: number };
  /** So many starts in any window, such as { limit: 60, per: "1m" }. */
  readonly rateLimit?: {
    readonly key?: string;
    readonly limit: number;
    readonly per: string;
    readonly burst?: number;
  };
  /** Runs of one key go one after the other, in the order of their times. */
  readonly orderingKey?: string;
  /** What the failure of a run does to those behind it; "block" by default. */
  readonly orderingOnFailure?: OrderFailure;
  /** Whom to tell of the ends of runs: an address, or a task that is run with the message. */
  readonly callbacks?: readonly CallbackOptions[];
  /** What its runs wait for when too much fails: {} for a breaker of the task, with a name for one that others share. */
  readonly breaker?: BreakerOptions;
  /** Paths of the payload by which its runs and jobs are found, such as "customer.id": payload.<path>=<value> in lists. */
  readonly searchable?: readonly string[];
  /** Labels that the worker must have. */
  readonly requires?: Readonly<Record<string, string>>;
  /** Only workers that have this version of the task. */
  readonly taskVersion?: string;
  /** Also workers whose machine may go at any time. */
  readonly allowSpot?: boolean;
}

/** What a task says about the worker that runs it. */
export interface TaskTraits {
  /** How many slots of the worker a run takes; 1 by default, all of them at the most. */
  readonly weight?: number;
  /** The versions of the task that this code is: runs that ask for one of them come here. */
  readonly versions?: readonly string[];
}

/** One run of a batch. */
export interface BatchItem<Payload> {
  readonly payload: Payload;
  readonly ctx: TaskContext;
}

type Handler<Payload, Result> =
  | { readonly run: (payload: Payload, ctx: TaskContext) => Result | Promise<Result>; readonly runBatch?: undefined }
  | {
      /**
       * One call for runs that come together; answers for each in their order. An Error in the answer is the failure of that run; what
       * is thrown is the failure of all.
       */
      readonly runBatch: (
        items: readonly BatchItem<Payload>[],
      ) => readonly (Result | Error)[] | Promise<readonly (Result | Error)[]>;
      /** Runs of one call at most; 100 by default. */
      readonly batchSize?: number;
      readonly run?: undefined;
    };

export type TaskOptions<Input, Payload, Result> = RunDefaults &
  TaskTraits &
  Handler<Payload, Result> & {
    readonly name: string;
    /** Any Standard Schema; checked when a run is asked for and again before it runs. */
    readonly payload: StandardSchema<Input, Payload>;
  };

export type PlainTaskOptions<Payload, Result> = RunDefaults &
  TaskTraits &
  Handler<Payload, Result> & { readonly name: string; readonly payload?: undefined };

/** What a worker runs, by name, and what its runs are like. */
export interface TaskDefinition<in Input, out Result> {
  readonly name: string;
  readonly defaults: RunDefaults;
  readonly traits: TaskTraits;
  readonly schema: StandardSchema<never, unknown> | null;
  readonly handler: Handler<never, Result>;
  /** Only in types: what `enqueue` takes. */
  readonly accepts?: (input: Input) => void;
}

/** What `enqueue` takes for a task. */
export type TaskInput<Task extends TaskDefinition<never, unknown>> =
  Task extends TaskDefinition<infer Input, unknown> ? Input : never;

/** What the runs of a task answer. */
export type TaskOutput<Task extends TaskDefinition<never, unknown>> =
  Task extends TaskDefinition<never, infer Result> ? Result : never;

export function task<Input, Payload, Result>(
  options: TaskOptions<Input, Payload, Result>,
): TaskDefinition<Input, Result>;
export function task<Payload = unknown, Result = unknown>(
  options: PlainTaskOptions<Payload, Result>,
): TaskDefinition<Payload, Result>;
export function task(
  options: RunDefaults & TaskTraits & { readonly name: string; readonly payload?: unknown },
): TaskDefinition<never, unknown> {
  const { name, payload, queue, priority, retry, timeout, deadline, guarantee } = options;
  const { requires, taskVersion, allowSpot, weight, versions } = options;
  const { concurrency, rateLimit, orderingKey, orderingOnFailure } = options;
  const { callbacks, breaker, sla, searchable } = options;
  const limits = { concurrency, rateLimit, orderingKey, orderingOnFailure, breaker };
  checkTraits(name, { ...(weight !== undefined && { weight }) });
  return Object.freeze({
    name,
    defaults: withoutAbsent({
      queue,
      priority,
      retry,
      timeout,
      deadline,
      sla,
      guarantee,
      requires,
      taskVersion,
      allowSpot,
      ...limits,
      callbacks,
      searchable,
    }),
    traits: withoutAbsent({ weight, versions }),
    schema: (payload ?? null) as StandardSchema<never, unknown> | null,
    handler: options as unknown as Handler<never, unknown>,
  });
}

function checkTraits(name: string, { weight = 1 }: TaskTraits): void {
  if (!Number.isSafeInteger(weight) || weight < 1)
    throw new CarillonError(
      "config_invalid",
      `the weight of task ${name} is a number of slots from 1 on, not ${weight}`,
    );
}

/** The members that are there. */
export function withoutAbsent<Given extends object>(
  given: Given,
): { [Name in keyof Given]?: Exclude<Given[Name], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Given]?: Exclude<Given[Name], undefined>;
  };
}
