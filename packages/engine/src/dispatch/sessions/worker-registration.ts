import {
  type Assignment,
  defaultRetryPolicy,
  type DurationMs,
  type Instant,
  retryOf,
  type StopOrder,
  timeoutOf,
} from "@carillon/core";
import type { ClaimedRun, Lane, TaskDefaults, WorkerSkills } from "@carillon/store";

export interface WorkerRegistration extends WorkerSkills {
  /** The namespace that the worker belongs to. */
  readonly namespace: string;
  /** The namespaces whose runs it takes, `*` alone for every one; left out: its own. */
  readonly namespaces?: readonly string[];
  readonly name: string;
  /** `*` alone stands for every queue, also for queues that do not exist yet. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  /** Defaults for the runs of a task, by task. A task that is not named keeps the defaults that it has. */
  readonly defaults?: Readonly<Record<string, TaskDefaults>>;
  /** How many runs may wait at the worker beyond its slots; left out: as many as it finishes in a twentieth of a second. */
  readonly ahead?: number;
  /** Set for a worker inside a node: its session ends with the node. */
  readonly nodeId: string | null;
  readonly onAssign: (assignments: readonly Assigned[]) => void;
  /** Whether a worker of another process was connected lately; left out for a worker in this process, which lives as long as the node. */
  readonly isConnected?: () => boolean;
  /** Called with runs that the worker holds and has to stop, repeatedly until they have ended. */
  readonly onStop: (orders: readonly StopOrder[]) => void;
  readonly onLost: () => void;
  /**
   * An operator asks the worker to end; with a notice: at once, because its machine goes away. A worker inside a node goes on until the
   * node stops, but is assigned nothing more.
   */
  readonly onDrain?: (isNotice: boolean) => void;
}

/** A run under one claim. */
export interface ClaimName {
  readonly runId: string;
  readonly fence: number;
}

/** The calls by which the gateway reaches a worker. */
export type WorkerHandlers = Pick<WorkerRegistration, "onAssign" | "onStop" | "onLost" | "isConnected" | "onDrain">;

export interface StartedRun extends ClaimName {
  readonly agoMs: DurationMs;
}

/** An assignment with its payload as the stored JSON, which is parsed when the payload is read. */
export type Assigned = Assignment & { readonly payloadJson: string };

/** Converts a claimed run to the form in which its worker gets it. */
export function toAssignment(run: ClaimedRun, lane: Lane | null, namespace: string | null): Assigned {
  if (lane === null) throw new Error(`run ${run.id} was claimed from lane ${run.lane}, which this node does not know`);
  return new AssignedRun(run, lane, namespace ?? undefined);
}

class AssignedRun implements Assigned {
  readonly runId: string;
  readonly jobId: string | null;
  readonly namespace: string | undefined;
  readonly task: string;
  readonly queue: string;
  readonly payloadJson: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly atMostOnce: boolean;
  readonly fence: number;
  readonly timeoutMs: DurationMs | null;
  readonly scheduledFor: Instant;
  readonly runAt: Instant;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;

  constructor(run: ClaimedRun, lane: Lane, namespace: string | undefined) {
    const { policy } = run;
    this.runId = run.id;
    this.jobId = run.jobId;
    this.namespace = namespace;
    this.task = lane.task;
    this.queue = lane.queue;
    this.payloadJson = run.payload;
    this.attempt = run.spent + 1;
    this.atMostOnce = policy.guarantee === "at_most_once";
    const isUsual = policy.retry === undefined && !this.atMostOnce;
    this.maxAttempts = isUsual ? defaultRetryPolicy.maxAttempts : retryOf(policy).maxAttempts;
    this.fence = run.fence;
    this.timeoutMs = timeoutOf(policy);
    this.scheduledFor = run.nominal;
    this.runAt = run.runAt;
    this.traceparent = policy.traceparent;
    this.tracestate = policy.tracestate;
  }

  /** Parsed at every read: a handler reads it once, and most of the time the run only waits. */
  get payload(): unknown {
    return JSON.parse(this.payloadJson);
  }
}
