import type { TimeInput } from "@carillon/contract/check";
import {
  type CallbackMoment,
  type CallbackPart,
  CarillonError,
  type DedupeAction,
  type Guarantee,
  type OrderFailure,
} from "@carillon/core";
import type { CreatedRun, TaskContext } from "../runtime/task.js";

/** How failed runs are retried. Durations are texts such as "10s". */
export interface RetryOptions {
  /** Includes the first attempt. */
  readonly maxAttempts?: number;
  readonly backoff?: "exponential" | "linear" | "fixed";
  readonly initial?: string;
  readonly factor?: number;
  readonly max?: string;
  readonly jitter?: "full" | "equal" | "none";
  /** Names of errors that are not retried. */
  readonly nonRetryable?: readonly string[];
}

export interface CallbackOptions {
  /** Left out: on every end. */
  readonly on?: readonly (CallbackMoment | "dead")[];
  readonly url?: string;
  readonly task?: string;
  readonly include?: readonly CallbackPart[];
}

/** A circuit breaker: while it is open, its runs wait and spend no attempt. Durations are texts such as "30s". */
export interface BreakerOptions {
  /** All tasks that name it share it; left out: the breaker of the task. */
  readonly name?: string;
  /** The share of failed attempts that opens it, 0.5 by default. An attempt that ends with a Retry-After opens it at once. */
  readonly failureRatio?: number;
  /** The time over which attempts are counted; "1m" by default. */
  readonly window?: string;
  /** The number of attempts from which the ratio counts; 10 by default. */
  readonly minCalls?: number;
  /** How long it stays open before it lets one run through as a probe; "30s" by default. */
  readonly openFor?: string;
}

/** Defaults of a task for its runs; each run can override them. */
export interface RunDefaults {
  readonly queue?: string;
  /** 0 to 9; 9 is the most urgent, 4 the default. */
  readonly priority?: number;
  readonly retry?: RetryOptions;
  /** Limit of each attempt, such as "2m". */
  readonly timeout?: string;
  /** Limit of the whole run, from the time when it may start, such as "1h". */
  readonly deadline?: string;
  /** Targets for each run from its scheduled time, such as { finishWithin: "10m" }. A breach emits an event and is counted. */
  readonly sla?: { readonly startWithin?: string; readonly finishWithin?: string };
  readonly guarantee?: Guarantee;
  /** Maximum number of active runs, of the key (a template such as "customer:{payload.customer}") or of the task. */
  readonly concurrency?: { readonly key?: string; readonly limit: number };
  /** Maximum number of starts in any window, such as { limit: 60, per: "1m" }. */
  readonly rateLimit?: {
    readonly key?: string;
    readonly limit: number;
    readonly per: string;
    readonly burst?: number;
  };
  /** Runs of one key are executed one after the other, in the order of their times. */
  readonly orderingKey?: string;
  /** What the failure of a run does to the ones behind it; "block" by default. */
  readonly orderingOnFailure?: OrderFailure;
  /** Receivers of a message when a run ends: a URL, or a task that runs with the message as its payload. */
  readonly callbacks?: readonly CallbackOptions[];
  /** Delays runs while too many fail: {} for a breaker of the task, with a name for one that tasks share. */
  readonly breaker?: BreakerOptions;
  /** Paths of the payload that lists can filter by, such as "customer.id": payload.<path>=<value>. */
  readonly searchable?: readonly string[];
  /** Labels that the worker must have. */
  readonly requires?: Readonly<Record<string, string>>;
  /** The version of the task that the worker must have. */
  readonly taskVersion?: string;
  /** Whether workers may take it whose machine may be reclaimed at any time. */
  readonly allowSpot?: boolean;
}

/** A task, or the name of one that is defined elsewhere. */
export type TaskReference<Input> = TaskDefinition<Input, unknown> | string;

export interface EnqueueOptions extends RunDefaults {
  /** How long the run waits before it may start, such as "3d". */
  readonly delay?: string;
  /** When the run may start; at once if neither this nor `delay` is given. */
  readonly runAt?: TimeInput;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly dedupe?: {
    /** Identifies the run among those of its task; left out: all runs of the task share one identity. */
    readonly key?: string;
    /** What to do while another run with this task and key counts; `ignore` by default. */
    readonly on?: DedupeAction;
    /** How long a run counts after its end, such as "1h"; left out: it counts until its end. */
    readonly window?: string;
  };
}

/** One run of enqueueMany. */
export interface EnqueueItem<Input> extends EnqueueOptions {
  readonly payload: Input;
}

/** The result of a request for a run. */
export type Enqueued = CreatedRun;

/** Options of a run that a handler creates. */
export interface ChildOptions extends EnqueueOptions {
  /**
   * Identifies the run among those that this run creates, so that a retried attempt creates it only once. Left out: the number of the
   * call, counted from the start of the attempt; then each attempt must make the same calls in the same order.
   */
  readonly key?: string;
}

/** One run of `ctx.enqueueMany`. */
export interface ChildItem<Input> extends ChildOptions {
  readonly payload: Input;
}

/** The second argument of a handler, beside its payload. */
export interface HandlerContext extends Omit<TaskContext, "createRuns"> {
  /** Creates a run in the namespace and the trace of this one, which becomes its parent; durable when the promise resolves. */
  enqueue<Input>(task: TaskReference<Input>, payload: Input, options?: ChildOptions): Promise<Enqueued>;
  /** Creates many runs in few round trips, in their order. If one is refused, throws its error; the others are stored. */
  enqueueMany<Input>(task: TaskReference<Input>, items: readonly ChildItem<Input>[]): Promise<Enqueued[]>;
}

/** Properties of a task on its worker. */
export interface TaskTraits {
  /** How many slots of the worker a run uses; 1 by default, capped at all of them. */
  readonly weight?: number;
  /** The versions of the task that this code implements: it gets runs that require one of them. */
  readonly versions?: readonly string[];
}

/** One run of a batch. */
export interface BatchItem<Payload> {
  readonly payload: Payload;
  readonly ctx: HandlerContext;
}

export type Handler<Payload, Result> =
  | { readonly run: (payload: Payload, ctx: HandlerContext) => Result | Promise<Result>; readonly runBatch?: undefined }
  | {
      /**
       * Handles several runs in one call, and returns their results in the same order. An Error in the results fails that run; a thrown
       * error fails all of them.
       */
      readonly runBatch: (
        items: readonly BatchItem<Payload>[],
      ) => readonly (Result | Error)[] | Promise<readonly (Result | Error)[]>;
      /** The maximum number of runs per call; 100 by default. */
      readonly batchSize?: number;
      readonly run?: undefined;
    };

export type TaskOptions<Input, Payload, Result> = RunDefaults &
  TaskTraits &
  Handler<Payload, Result> & {
    readonly name: string;
    /** Any Standard Schema. The payload is validated when a run is created and again before it is executed. */
    readonly payload: StandardSchema<Input, Payload>;
  };

export type PlainTaskOptions<Payload, Result> = RunDefaults &
  TaskTraits &
  Handler<Payload, Result> & { readonly name: string; readonly payload?: undefined };

/** A task: its name, its handler, and the defaults of its runs. */
export interface TaskDefinition<in Input, out Result> {
  readonly name: string;
  readonly defaults: RunDefaults;
  readonly traits: TaskTraits;
  readonly schema: StandardSchema<never, unknown> | null;
  readonly handler: Handler<never, Result>;
  /** Exists only in types: the payload that `enqueue` takes. */
  readonly accepts?: (input: Input) => void;
}

/** The payload that `enqueue` takes for a task. */
export type TaskInput<Task extends TaskDefinition<never, unknown>> =
  Task extends TaskDefinition<infer Input, unknown> ? Input : never;

/** The result of the runs of a task. */
export type TaskOutput<Task extends TaskDefinition<never, unknown>> =
  Task extends TaskDefinition<never, infer Result> ? Result : never;

/** A validator with the interface of standardschema.dev, which zod, valibot, arktype and others implement. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => ValidationResult<Output> | Promise<ValidationResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type ValidationResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Validates a payload and returns the output of the schema. Throws payload_invalid with all faults and their places. */
export async function validatePayload<Output>(
  taskName: string,
  schema: StandardSchema<never, Output>,
  payload: unknown,
): Promise<Output> {
  const result = await schema["~standard"].validate(payload);
  if (result.issues === undefined) return result.value;
  const items = result.issues.map((issue) => ({
    pointer: `/payload${toPointer(issue)}`,
    code: "payload_invalid",
    detail: issue.message,
  }));
  const faults = items.map(({ pointer, detail }) => `${pointer}: ${detail}`).join("; ");
  throw new CarillonError("payload_invalid", `The payload does not fit the task ${taskName}: ${faults}.`, { items });
}

function toPointer({ path = [] }: Issue): string {
  const names = path.map((step) => String(typeof step === "object" ? step.key : step));
  return names.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
