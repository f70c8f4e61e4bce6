import type { DurationMs, StopOrder } from "@carillon/core";
import type { TaskDefaults, WorkerSkills } from "@carillon/store";
import type { Assigned } from "./to-assignment.js";

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
