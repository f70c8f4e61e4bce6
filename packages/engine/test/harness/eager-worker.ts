import type { Assigned } from "../../src/dispatch/assignment-of.js";
import type { Gateway, WorkerRegistration } from "../../src/dispatch/gateway.js";

/** A worker that ends every run at once. */
export class EagerWorker {
  readonly ids: string[] = [];
  readonly #gateway: Gateway;
  #session = "";
  #waiting: { count: number; resolve: () => void } | null = null;

  static async over(gateway: Gateway, over: Partial<WorkerRegistration> = {}): Promise<EagerWorker> {
    const worker = new EagerWorker(gateway);
    worker.#session = await gateway.open({
      namespace: "default",
      name: "w",
      queues: ["default"],
      tasks: ["echo"],
      slots: 10,
      nodeId: null,
      onAssign: (assigned) => void worker.#run(assigned),
      onStop: () => undefined,
      onLost: () => undefined,
      ...over,
    });
    gateway.resume(worker.#session);
    return worker;
  }

  private constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  get session(): string {
    return this.#session;
  }

  until(count: number): Promise<void> {
    if (this.ids.length >= count) return Promise.resolve();
    return new Promise((resolve) => (this.#waiting = { count, resolve }));
  }

  async #run(assigned: readonly Assigned[]): Promise<void> {
    this.ids.push(...assigned.map((run) => run.runId));
    const outcome = { kind: "succeeded", outputJson: "null" } as const;
    await this.#gateway.complete(
      this.#session,
      assigned.map(({ runId, fence }) => ({ runId, fence, startedAgoMs: 0, outcome })),
    );
    if (this.#waiting !== null && this.ids.length >= this.#waiting.count) this.#waiting.resolve();
  }
}
