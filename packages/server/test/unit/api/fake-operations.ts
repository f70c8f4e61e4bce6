import { CarillonError, type Instant } from "@carillon/core";
import type {
  BulkCount,
  BulkRequest,
  JobRef,
  JobStats,
  Operations,
  OperationView,
  Page,
  PageRequest,
  RunChanges,
  RunView,
} from "@carillon/engine";
import { FakeFailures } from "./fake-failures.js";
import { pageOf, uuid } from "./fake-engine.js";

/** Changes of runs in memory; operations are stored and shown, and change nothing. */
export class FakeOperations extends FakeFailures implements Operations, RunChanges {
  readonly operations: OperationView[] = [];

  async cancelRun(_namespace: string, id: string): Promise<RunView> {
    this.failOnce();
    return this.#change(id, (run) => (run.finishedAt === null ? { status: "cancelled", finishedAt: this.now() } : {}));
  }

  async rescheduleRun(_namespace: string, id: string, runAt: Instant): Promise<RunView> {
    this.failOnce();
    return this.#change(id, (run) => {
      if (run.finishedAt !== null) throw new CarillonError("run_not_waiting", "it has ended");
      return { status: "scheduled", runAt };
    });
  }

  async jobStats(namespace: string, ref: JobRef): Promise<JobStats> {
    if ((await this.getJob(namespace, ref)) === null) throw new CarillonError("not_found", "there is no such job");
    const none = { finished: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0, retried: 0 };
    return { ...none, firstAt: null, lastAt: null, durationP50Ms: null, durationP95Ms: null, lagP95Ms: null };
  }

  /** A purge of the queue `many` continues as an operation. */
  async purgeQueue(_namespace: string, queue: string): Promise<OperationView | null> {
    if (!this.queues.has(queue)) return null;
    const operation = this.#operation({ action: "purge", target: { filter: { queue } } });
    return queue === "many" ? operation : { ...operation, state: "done", seen: 3, done: 3 };
  }

  async countPurge(_namespace: string, queue: string): Promise<BulkCount | null> {
    return this.queues.has(queue) ? { count: 3, isLowerBound: false } : null;
  }

  async startBulk(_namespace: string, request: BulkRequest): Promise<OperationView> {
    return this.#operation(request);
  }

  #operation({ action, target }: Pick<OperationView, "action" | "target">): OperationView {
    this.failOnce();
    const at = this.now();
    const counts = { seen: 0, done: 0, failed: 0, failures: [] };
    const times = { createdAt: at, updatedAt: at, finishedAt: null };
    const id = uuid(this.operations.length + 1);
    const operation = {
      id,
      action,
      target,
      state: "running" as const,
      stateReason: null,
      ...counts,
      actor: null,
      ...times,
    };
    this.operations.unshift(operation);
    return operation;
  }

  async countBulk(): Promise<BulkCount> {
    return { count: this.runs.length, isLowerBound: false };
  }

  async getOperation(_namespace: string, id: string): Promise<OperationView | null> {
    return this.operations.find((one) => one.id === id) ?? null;
  }

  async listOperations(_namespace: string, page: PageRequest): Promise<Page<OperationView>> {
    return pageOf(this.operations, page);
  }

  async abortOperation(namespace: string, id: string): Promise<OperationView | null> {
    return this.getOperation(namespace, id);
  }

  #change(id: string, change: (run: RunView) => Partial<RunView>): RunView {
    const at = this.runs.findIndex((run) => run.id === id);
    const run = this.runs[at];
    if (run === undefined) throw new CarillonError("not_found", "there is no such run");
    const changed = { ...run, ...change(run) };
    this.runs[at] = changed;
    return changed;
  }
}
