import { CarillonError } from "@carillon/core";
import type {
  ClusterView,
  TaskDefaults,
  TaskView,
  Forecast,
  JobExplanation,
  JobRef,
  Page,
  PageRequest,
  RunExplanation,
  RunView,
  Unserved,
  WorkerState,
  WorkerView,
} from "@carillon/engine";
import { pageOf } from "./fake-engine.js";
import { FakeOperations } from "./fake-operations.js";

/** Workers in memory: their states change, without any effect. */
export class FakeWorkerViews extends FakeOperations {
  workers: WorkerView[] = [];
  unserved: Unserved | null = null;

  tasks: TaskView[] = [];

  async listTasks(_namespace: string, page: PageRequest): Promise<Page<TaskView>> {
    const { rows, next } = pageOf(
      this.tasks.map((task) => ({ ...task, id: task.name })),
      page,
    );
    return { rows, next };
  }

  async getTask(_namespace: string, name: string): Promise<TaskView | null> {
    return this.tasks.find((task) => task.name === name) ?? null;
  }

  defaultsOf(_namespace: string, name: string): TaskDefaults | null {
    return this.tasks.find((task) => task.name === name)?.defaults ?? null;
  }

  async cluster(): Promise<ClusterView> {
    return { nodes: [], shards: [{ id: 0, owner: null, epoch: 1 }] };
  }

  async listWorkers(_namespace: string, page: PageRequest): Promise<Page<WorkerView>> {
    return pageOf(this.workers, page);
  }

  async getWorker(_namespace: string, id: string): Promise<WorkerView | null> {
    return this.workers.find((worker) => worker.id === id) ?? null;
  }

  async askWorker(namespace: string, id: string, state: WorkerState): Promise<WorkerView | null> {
    this.workers = this.workers.map((worker) => (worker.id === id ? { ...worker, state } : worker));
    return this.getWorker(namespace, id);
  }

  async whyUnserved(): Promise<Unserved | null> {
    return this.unserved;
  }

  async explain(_namespace: string, { queue }: RunView): Promise<RunExplanation> {
    const { code, detail } = this.unserved ?? {
      code: "position" as const,
      detail: `position 1 of 1 in queue ${queue}`,
    };
    return { code, detail, until: null, facts: { queue } };
  }

  async firesAt(): Promise<number> {
    return this.jobs.length;
  }

  async forecast(): Promise<Forecast> {
    const from = this.now();
    const none = { perMinute: [], busiest: null, crowded: [], proposals: [] };
    return { from, until: from, jobs: 0, sampledJobs: 0, isExact: true, fires: 0, ...none };
  }

  async explainRun(namespace: string, runId: string): Promise<{ run: RunView; explanation: RunExplanation } | null> {
    const run = await this.getRun(namespace, runId);
    return run && { run, explanation: await this.explain(namespace, run) };
  }

  async explainJob(namespace: string, ref: JobRef): Promise<JobExplanation> {
    const job = await this.getJob(namespace, ref);
    if (job === null) throw new CarillonError("not_found", "there is no such job");
    const { state } = job;
    return {
      code: "manual",
      detail: "it runs only when asked",
      until: null,
      facts: {},
      job,
      state,
      run: null,
      outcomes: [],
    };
  }
}
