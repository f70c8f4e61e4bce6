import type { Gateway } from "../../src/dispatch/gateway.js";
import type { Assigned, WorkerRegistration } from "../../src/dispatch/sessions/worker-registration.js";

/** A worker that ends every run at once. */
export class EagerWorker {
  readonly ids: string[] = [];
  readonly #gateway: Gateway;
  readonly #pending = new Set<Promise<void>>();
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
      onAssign: (assigned) => {
        const run = worker.#run(assigned).finally(() => worker.#pending.delete(run));
        worker.#pending.add(run);
      },
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

  /** Takes nothing more; resolves when all results are stored. */
  async stop(): Promise<void> {
    await this.#gateway.pause(this.#session);
    while (this.#pending.size > 0) await Promise.all(this.#pending);
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
