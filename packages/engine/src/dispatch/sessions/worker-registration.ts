import type { DurationMs, StopOrder } from "@carillon/core";
import type { Assigned } from "./to-assignment.js";
import type { TaskDefaults, WorkerSkills } from "@carillon/store";

export interface WorkerRegistration extends WorkerSkills {
  /** To which it belongs. */
  readonly namespace: string;
  /** Those whose runs it takes, `*` alone for every one; left out: its own. */
  readonly namespaces?: readonly string[];
  readonly name: string;
  /** `*` alone stands for every queue, also for those that do not exist yet. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  /** By task, what its runs are like where nobody says otherwise. Of a task that is not named nothing is said. */
  readonly defaults?: Readonly<Record<string, TaskDefaults>>;
  /** Runs that may wait at the worker beyond its slots; left out: as many as it does in a twentieth of a second. */
  readonly ahead?: number;
  /** Set for a worker inside a node: it dies with it. */
  readonly nodeId: string | null;
  readonly onAssign: (assignments: readonly Assigned[]) => void;
  /** Says whether a worker elsewhere was heard of lately; one in this process lives as long as the node. */
  readonly isHeard?: () => boolean;
  /** Called with runs that the worker holds and is asked to stop, again and again until they have ended. */
  readonly onStop: (orders: readonly StopOrder[]) => void;
  readonly onLost: () => void;
  /**
   * An operator wants the worker to end; with a notice: at once, since its machine goes. One inside a node goes on until that stops,
   * but is given nothing more.
   */
  readonly onDrain?: (isNotice: boolean) => void;
}

/** A run under one claim. */
export interface ClaimOf {
  readonly runId: string;
  readonly fence: number;
}

/** How a worker is spoken to. */
export type WorkerHandlers = Pick<WorkerRegistration, "onAssign" | "onStop" | "onLost" | "isHeard" | "onDrain">;

export interface StartedRun {
  readonly runId: string;
  readonly fence: number;
  readonly agoMs: DurationMs;
}
