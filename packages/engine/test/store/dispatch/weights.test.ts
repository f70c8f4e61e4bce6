import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import type { Assigned, WorkerRegistration } from "../../../src/dispatch/sessions/worker-registration.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let gateway: Gateway;
let heavyLane = 0;
beforeEach(async () => {
  h = await storeHarness();
  ({ gateway } = gatewayOver(h));
  [heavyLane = 0] = await h.store.lanes.ensure([{ queue: "default", task: "encode" }]);
});
afterEach(() => {
  gateway.stop();
  return h.close();
});

/** A worker that ends its runs when the test says so. */
class HoldingWorker {
  readonly held = new Map<string, Assigned>();
  #session = "";
  #notify: () => void = () => undefined;

  static async start(over: Partial<WorkerRegistration> = {}): Promise<HoldingWorker> {
    const worker = new HoldingWorker();
    worker.#session = await gateway.open({
      namespace: "default",
      name: "w",
      queues: ["default"],
      tasks: ["echo", "encode"],
      slots: 10,
      ahead: 0,
      weights: { encode: 4 },
      nodeId: null,
      onAssign: (runs) => {
        for (const run of runs) worker.held.set(run.runId, run);
        worker.#notify();
      },
      onStop: () => undefined,
      onLost: () => undefined,
      ...over,
    });
    gateway.resume(worker.#session);
    return worker;
  }

  count(task: string): number {
    return [...this.held.values()].filter((run) => run.task === task).length;
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => (this.#notify = resolve));
  }

  async end(task: string, count = 1): Promise<void> {
    const ended = [...this.held.values()].filter((run) => run.task === task).slice(0, count);
    for (const { runId } of ended) this.held.delete(runId);
    const outcome = { kind: "succeeded", outputJson: "null" } as const;
    await gateway.complete(
      this.#session,
      ended.map(({ runId, fence }) => ({ runId, fence, startedAgoMs: 0, outcome })),
    );
  }

  /** Resolves when nothing is on its way to it. */
  async quiet(): Promise<void> {
    await gateway.pause(this.#session);
    gateway.resume(this.#session);
  }
}

const light = (count: number) => Promise.all(Array.from({ length: count }, () => h.run({})));
const heavy = (count: number) =>
  Promise.all(Array.from({ length: count }, () => h.run({ lane: heavyLane, task: "encode" })));

describe("run weights", () => {
  it("a run that takes several slots is assigned to a worker with as many free slots: ten slots hold two runs of weight 4 and two of weight 1", async () => {
    await Promise.all([heavy(5), light(5)]);
    const worker = await HoldingWorker.start();
    await worker.until(() => worker.held.size >= 4);
    await worker.quiet();
    expect(4 * worker.count("encode") + worker.count("echo")).toBeLessThanOrEqual(10);
    // In either order, the other slots are filled with runs that fit.
    await worker.end("echo", 10);
    await worker.until(() => worker.count("encode") === 2);
    await worker.until(() => worker.count("echo") === 2);
    expect(worker.held.size).toBe(4);
  });

  it("a run that takes several slots takes the whole worker if its weight is larger", async () => {
    await heavy(2);
    const worker = await HoldingWorker.start({ slots: 3 });
    await worker.until(() => worker.held.size === 1);
    await worker.quiet();
    expect(worker.count("encode")).toBe(1);
    await worker.end("encode");
    await worker.until(() => worker.held.size === 1);
  });

  it("a heavy run does not starve, because freed slots are reserved for it, and lighter runs continue after it", async () => {
    await light(10);
    const worker = await HoldingWorker.start();
    await worker.until(() => worker.count("echo") === 10);
    await heavy(1);
    await light(40);
    gateway.hintAll();
    await gateway.scan();
    await gateway.scan();
    for (let ended = 0; ended < 3; ended++) await worker.end("echo");
    expect([worker.count("echo"), worker.count("encode")]).toEqual([7, 0]);
    await worker.end("echo");
    await worker.until(() => worker.count("encode") === 1);
    expect(worker.count("echo")).toBe(6);
    await worker.end("echo");
    await worker.until(() => worker.count("echo") === 6);
  });

  it("no slots are reserved when no heavy run waits", async () => {
    await light(10);
    const worker = await HoldingWorker.start();
    await worker.until(() => worker.count("echo") === 10);
    await gateway.scan();
    await gateway.scan();
    await light(1);
    gateway.hintAll();
    await worker.end("echo");
    await worker.until(() => worker.count("echo") === 10);
    expect(worker.count("encode")).toBe(0);
  });

  it("reservations leave lighter runs a slot, however many heavy runs wait", async () => {
    await heavy(3);
    const worker = await HoldingWorker.start();
    await worker.until(() => worker.count("encode") === 2);
    await gateway.scan();
    await gateway.scan();
    await light(2);
    gateway.hintAll();
    await worker.until(() => worker.count("echo") === 2);
    expect(worker.count("encode")).toBe(2);
  });
});
