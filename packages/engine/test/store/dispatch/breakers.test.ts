import { type Outcome, requirementsOf, type RunPolicy } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClaimedRun } from "@carillon/store";
import { laneNameOf } from "../../../src/catalog/lanes.js";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import type { Assigned } from "../../../src/dispatch/sessions/worker-registration.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { gatewayId, newId, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

const policy: RunPolicy = {
  requires: requirementsOf({ breaker: "payments" }),
  breaker: { failureRatio: 0.5, windowMs: 60_000, minCalls: 4, openForMs: 3_600_000 },
};
const down: Outcome = {
  kind: "failed",
  reason: "handler_error",
  error: { type: "Down", message: "down", retryable: true },
};
const good: Outcome = { kind: "succeeded", outputJson: "null" };

let h: StoreHarness;
let lane: number;
const gateways: Gateway[] = [];
beforeEach(async () => {
  h = await storeHarness();
  lane = (await h.store.lanes.ensure([laneNameOf({ queue: "default", task: "echo", policy }, null)]))[0] ?? 0;
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) gateway.stop();
  await h.close();
});

/** A worker whose runs the test ends. */
class ManualWorker {
  readonly given: Assigned[] = [];
  readonly gateway: Gateway;
  #session = "";
  readonly #waiting: (() => void)[] = [];

  constructor(fullScanIntervalMs = 20) {
    this.gateway = gatewayOver(h, { limits: { fullScanIntervalMs } }).gateway;
    gateways.push(this.gateway);
  }

  async open(slots = 10): Promise<this> {
    this.#session = await this.gateway.open({
      namespace: "default",
      name: "w",
      queues: ["default"],
      tasks: ["echo"],
      slots,
      ahead: 0,
      nodeId: null,
      onAssign: (assigned) => {
        this.given.push(...assigned);
        for (const resolve of this.#waiting.splice(0)) resolve();
      },
      onStop: () => undefined,
      onLost: () => undefined,
    });
    this.gateway.resume(this.#session);
    return this;
  }

  async until(count: number): Promise<void> {
    while (this.given.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the runs that it was given first. */
  async end(outcome: Outcome, count = 1): Promise<void> {
    const ended = this.given.splice(0, count);
    const completions = ended.map(({ runId, fence }) => ({ runId, fence, startedAgoMs: 0, outcome }));
    await this.gateway.complete(this.#session, completions);
  }
}

const make = async (count: number): Promise<void> => {
  for (let made = 0; made < count; made++) await h.run({ lane, policy });
};

interface RunRow {
  readonly state: string;
  readonly state_reason: string | null;
  readonly attempt: number;
}
const runs = async (): Promise<RunRow[]> =>
  (await h.db.query<RunRow>({ text: "select state, state_reason, attempt from carillon.run order by id" })).rows;
const breaker = async () => (await h.store.breakers.page(1, { limit: 1 }))[0] ?? null;
const due = () =>
  h.db.query({ text: "update carillon.breaker set probe_at = clock_timestamp() - interval '1 second'" });

/** The lane of a strict queue whose runs are behind the breaker. */
async function strictLane(queue: string): Promise<number> {
  const text = `insert into carillon.queue (namespace_id, name, order_kind) values (1, $1, 'strict')
    on conflict (namespace_id, name) do update set order_kind = 'strict'`;
  await h.db.query({ text }, [queue]);
  const name = laneNameOf({ queue, task: "echo", policy }, { kind: "strict" });
  return (await h.store.lanes.ensure([name]))[0] ?? 0;
}

async function untilOpen(): Promise<void> {
  while ((await breaker())?.state !== "open") await new Promise((resolve) => setImmediate(resolve));
}

describe("a circuit breaker", () => {
  it("a breaker opens when enough attempts have failed; the failed runs wait and have spent no attempt", async () => {
    await make(4);
    const worker = await new ManualWorker().open();
    await worker.until(4);
    await worker.end(down, 4);
    await untilOpen();
    expect(await breaker()).toMatchObject({ name: "payments", state: "open", reason: "4 of 4 failed", openings: 1 });
    const deferred = (await runs()).filter((run) => run.state_reason === "breaker_open");
    expect(deferred).toEqual([{ state: "scheduled", state_reason: "breaker_open", attempt: 0 }]);
  });

  it("a breaker keeps its runs queued on every gateway while it is open, and lets other runs through", async () => {
    await h.store.breakers.open({ namespaceId: 1, name: "payments" }, opening(3_600_000));
    const workers = [new ManualWorker(), new ManualWorker()];
    for (const { gateway } of workers) await gateway.breakers.tick();
    for (const worker of workers) await worker.open();
    await make(3);
    const other = await h.run({});
    const [first, second] = workers as [ManualWorker, ManualWorker];
    await Promise.race([first.until(1), second.until(1)]);
    expect([...first.given, ...second.given].map(({ runId }) => runId)).toEqual([other]);
    expect((await runs()).filter(({ state }) => state === "queued")).toHaveLength(3);
  });

  it("a breaker opens at once for the time of a Retry-After", async () => {
    await make(1);
    const worker = await new ManualWorker().open();
    await worker.until(1);
    await worker.end({ ...down, retryAfterMs: 7_200_000 });
    await untilOpen();
    const open = await breaker();
    expect(open?.reason).toBe("retry_after");
    expect((open?.probeAt ?? 0) - Date.now()).toBeGreaterThan(7_000_000);
    expect(await runs()).toMatchObject([{ state: "scheduled", attempt: 0 }]);
  });

  it("a breaker lets one run through when its time is over, and closes when that run succeeds", async () => {
    const worker = new ManualWorker(3_600_000);
    await h.store.breakers.open({ namespaceId: 1, name: "payments" }, opening(3_600_000));
    await worker.gateway.breakers.tick();
    await worker.open();
    await make(5);
    await due();
    await worker.gateway.breakers.tick();
    await worker.until(1);
    await worker.gateway.breakers.tick();
    expect([worker.given.length, (await breaker())?.state]).toEqual([1, "half_open"]);
    await worker.end(good);
    await worker.until(4);
    expect([worker.given.length, (await breaker())?.state]).toEqual([4, "closed"]);
  });

  it("a breaker opens again when its probe fails, which spends no attempt", async () => {
    const worker = new ManualWorker(3_600_000);
    await h.store.breakers.open({ namespaceId: 1, name: "payments" }, opening(3_600_000));
    await worker.gateway.breakers.tick();
    await worker.open();
    await make(2);
    await due();
    await worker.gateway.breakers.tick();
    await worker.until(1);
    await worker.end(down);
    await untilOpen();
    expect(((await breaker())?.probeAt ?? 0) - Date.now()).toBeGreaterThan(3_000_000);
    expect((await runs()).map(({ attempt }) => attempt)).toEqual([0, 0]);
  });

  it("a breaker is probed by one gateway at a time, and by another when that one no longer renews its probe", async () => {
    await h.store.breakers.open({ namespaceId: 1, name: "payments" }, opening(3_600_000));
    const [first, second] = [new ManualWorker(3_600_000), new ManualWorker(3_600_000)];
    for (const worker of [first, second]) await worker.gateway.breakers.tick();
    for (const worker of [first, second]) await worker.open();
    await make(5);
    await due();
    await first.gateway.breakers.tick();
    await first.until(1);
    await second.gateway.breakers.tick();
    expect(second.given).toEqual([]);
    // The first gateway no longer renews its probe.
    await h.db.query({ text: "update carillon.breaker set probe_until = clock_timestamp() - interval '1 second'" });
    await second.gateway.breakers.tick();
    await second.until(1);
    expect([first.given.length, second.given.length]).toEqual([1, 1]);
    await second.end(good);
    await second.until(3);
    expect((await breaker())?.state).toBe("closed");
  });

  it("a breaker holds back a strict queue whose first run is behind it, and lets that run through", async () => {
    lane = await strictLane("default");
    const worker = new ManualWorker(20);
    await h.store.breakers.open({ namespaceId: 1, name: "payments" }, opening(3_600_000));
    await worker.gateway.breakers.tick();
    await worker.open();
    await make(3);
    await worker.gateway.scan();
    expect(worker.given).toEqual([]);
    await due();
    await worker.gateway.breakers.tick();
    await worker.until(1);
    expect((await breaker())?.state).toBe("half_open");
    await worker.end(good);
    await worker.until(1);
    await worker.end(good);
    await worker.until(1);
    expect((await breaker())?.state).toBe("closed");
  });

  it("a breaker lets one run at a time through of all strict queues behind it, also to concurrent claims", async () => {
    const queues = ["default", "ledger", "books"];
    const lanes = await Promise.all(queues.map(async (queue) => [queue, await strictLane(queue)] as const));
    for (const [queue, id] of lanes) await h.run({ lane: id, queue, policy });
    await h.store.breakers.open({ namespaceId: 1, name: "payments" }, opening(0));
    await h.store.breakers.takeProbe({ namespaceId: 1, name: "payments" }, gatewayId, 15_000);
    const session = await h.session();
    const claimEach = async (): Promise<ClaimedRun[]> => {
      const claims = lanes.map(([queue, id]) => {
        const trials = [{ lane: id, breaker: "payments" }];
        return h.store.claims.claimStrict({ gatewayId, session, namespaceId: 1, queue, lanes: [id], trials });
      });
      return (await Promise.all(claims)).filter((run) => run !== null);
    };
    const [first, ...others] = await claimEach();
    expect([first === undefined, others]).toEqual([false, []]);
    expect(await claimEach()).toEqual([]);
    await h.store.claims.giveBack(session, first === undefined ? [] : [first]);
    expect(await claimEach()).toHaveLength(1);
    await h.db.query({ text: "update carillon.breaker set probe_by = $1" }, [newId()]);
    await h.db.query({ text: "update carillon.run set state = 'queued', session_id = null" });
    expect(await claimEach()).toEqual([]);
  });

  it("a breaker lets all runs through once it is reset", async () => {
    await h.store.breakers.open({ namespaceId: 1, name: "payments" }, opening(3_600_000));
    const worker = new ManualWorker(3_600_000);
    await worker.gateway.breakers.tick();
    await worker.open();
    await make(3);
    expect(await h.store.breakers.reset({ namespaceId: 1, name: "payments" })).toMatchObject({ state: "closed" });
    await worker.gateway.breakers.refresh();
    await worker.until(3);
    expect(worker.given).toHaveLength(3);
  });
});

const opening = (forMs: number) => ({ reason: "test", forMs, usualMs: forMs });
