import type { RunPolicy } from "@carillon/core";
import type { WorkerState, WorkerView } from "@carillon/store";
import type { Page, PageRequest } from "../../requests.js";

/** Why no worker can take a run, whatever becomes free. */
export interface Unserved {
  readonly code:
    | "no_worker_for_task"
    | "no_worker_for_queue"
    | "no_worker_for_version"
    | "no_worker_with_labels"
    | "only_spot_workers"
    | "workers_cordoned";
  /** One sentence for people. */
  readonly detail: string;
}

/** Who can take a run. */
export interface Served {
  readonly workers: number;
  readonly slots: number;
}

/** What tells which workers can take a run. */
export interface RunToServe {
  readonly task: string;
  readonly queue: string;
  readonly policy: Pick<RunPolicy, "requires">;
}

/** Workers as operators see them: those that live, or died a moment ago. */
export interface Workers {
  listWorkers(namespace: string, page: PageRequest): Promise<Page<WorkerView>>;
  getWorker(namespace: string, id: string): Promise<WorkerView | null>;
  /** Null: there is no such worker. Its node knows at once if it is this one, else with the next sign of life. */
  askWorker(namespace: string, id: string, state: WorkerState): Promise<WorkerView | null>;
  /** Null: some worker that lives can take such runs. */
  whyUnserved(namespace: string, run: RunToServe): Promise<Unserved | null>;
}
