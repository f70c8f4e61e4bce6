import type { Page, PageRequest, Unserved, WorkerState, WorkerView } from "@carillon/engine";
import { pageOf } from "./fake-engine.js";
import { FakeOperations } from "./fake-operations.js";

/** Workers in memory, shown and asked, without effect. */
export class FakeWorkerViews extends FakeOperations {
  workers: WorkerView[] = [];
  unserved: Unserved | null = null;

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
}
