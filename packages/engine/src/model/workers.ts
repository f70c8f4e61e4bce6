import type { Instant } from "@carillon/core";
import type { Page, PageRequest } from "./api.js";

/** What was asked of a worker. cordoned: it is given nothing more; draining: and it is told to end. */
export type WorkerState = "active" | "cordoned" | "draining";

export interface WorkerView {
  readonly id: string;
  readonly name: string;
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  readonly state: WorkerState;
  /** It lives inside a node. */
  readonly isInProcess: boolean;
  readonly startedAt: Instant;
  readonly heartbeatAt: Instant;
}

/** Workers as operators see them: those that live, or died a moment ago. */
export interface Workers {
  listWorkers(namespace: string, page: PageRequest): Promise<Page<WorkerView>>;
  getWorker(namespace: string, id: string): Promise<WorkerView | null>;
  /** Null: there is no such worker. Its node knows at once if it is this one, else with the next sign of life. */
  askWorker(namespace: string, id: string, state: WorkerState): Promise<WorkerView | null>;
}
