import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClaimedRun, LaneKind } from "@carillon/store";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import type { Assigned } from "../../../src/dispatch/sessions/worker-registration.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { gatewayId, newId, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
const gateways: Gateway[] = [];
beforeEach(async () => {
  h = await storeHarness();
  const text = "insert into carillon.queue (namespace_id, name, order_kind) values (1, 'ledger', 'strict')";
  await h.db.query({ text });
});
afterEach(() => {
  for (const gateway of gateways.splice(0)) gateway.stop();
  return h.close();
});

async function laneOf(task = "echo", kind: LaneKind = "strict"): Promise<number> {
  return (await h.store.lanes.ensure([{ queue: "ledger", task, kind }]))[0] ?? 0;
}

async function runs(count: number, lane: number, first = Date.now() - 100_000): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++)
    ids.push(await h.run({ lane, queue: "ledger", rank: first + index, runAt: first + index }));
  return ids;
}

async function claim(session: string, lanes: readonly number[]): Promise<ClaimedRun | null> {
  return h.store.claims.claimStrict({ gatewayId, session, namespaceId: 1, queue: "ledger", lanes, trials: [] });
}

async function end({ id, fence, session }: ClaimedRun): Promise<void> {
  const how = { status: "succeeded", reason: null, output: "null", error: null, startedAt: Date.now() } as const;
  await h.store.claims.completeAndClaim({ succeeded: [{ id, fence, session, ...how }], demand: null });
}

const retry = { delayMs: 3_600_000, rank: 0, record: { attempt: 1 } as never };

/** A worker that holds what it is given until the test ends it. */
async function open(gateway: Gateway, onAssign: (session: string, runs: readonly Assigned[]) => void): Promise<string> {
  const session: string = await gateway.open({
    namespace: "default",
    name: "w",
    queues: ["ledger"],
    tasks: ["echo"],
    slots: 5,
    nodeId: null,
    onAssign: (assigned) => onAssign(session, assigned),
    onStop: () => undefined,
    onLost: () => undefined,
  });
  gateway.resume(session);
  return session;
}

describe("strict queues", () => {
  it("a strict queue runs one run at a time, in order, also with concurrent claims [INV-4]", async () => {
    const lane = await laneOf();
    const ids = await runs(20, lane);
    const sessions = await Promise.all(Array.from({ length: 6 }, () => h.session()));
    const done: string[] = [];
    while (done.length < ids.length) {
      const claimed = (await Promise.all(sessions.map((session) => claim(session, [lane])))).filter(
        (run) => run !== null,
      );
      expect(claimed.length).toBeLessThanOrEqual(1);
      for (const run of claimed) {
        done.push(run.id);
        await end(run);
      }
    }
    expect(done).toEqual(ids);
  });

  it("a strict queue never has two running runs, also when results and claims overlap [INV-4]", async () => {
    const lane = await laneOf();
    const ids = await runs(60, lane);
    const [done, atWork] = [[] as string[], new Set<string>()];
    let most = 0;
    const work = async (): Promise<void> => {
      const session = await h.session();
      while (done.length < ids.length) {
        const run = await claim(session, [lane]);
        if (run === null) continue;
        done.push(run.id);
        most = Math.max(most, atWork.add(run.id).size);
        // Before the database can let another begin.
        atWork.delete(run.id);
        await end(run);
      }
    };
    await Promise.all([work(), work(), work(), work()]);
    const { rows } = await h.db.query<{ overlaps: number }>({
      text: `select count(*) as overlaps from carillon.run_history a join carillon.run_history b on a.id < b.id
             and a.queue = 'ledger' and b.queue = 'ledger'
             and a.started_at < b.finished_at and b.started_at < a.finished_at`,
    });
    expect([done, most, rows[0]?.overlaps]).toEqual([ids, 1, 0]);
  });

  it("a dead worker blocks a strict queue until the rescue, and then the same run is the first again [INV-4]", async () => {
    const lane = await laneOf();
    const [first = ""] = await runs(2, lane);
    const [dead, other] = [await h.session(), await h.session()];
    expect((await claim(dead, [lane]))?.id).toBe(first);
    expect(await claim(other, [lane])).toBeNull();
    await h.store.sessions.close(dead);
    expect(await claim(other, [lane])).toBeNull();
    const lost = (await h.store.runs.lost(10)).map((run) => run.id);
    const rescued = await h.store.runs.rescue(lost, 3);
    expect(rescued).toMatchObject([{ id: first, lane }]);
    const again = await claim(other, [lane]);
    expect([again?.id, again?.fence]).toEqual([first, 2]);
  });

  it("a strict queue continues while a run waits for its next attempt, and after a run was given back", async () => {
    const lane = await laneOf();
    const [first, second] = await runs(2, lane);
    const session = await h.session();
    const failed = await claim(session, [lane]);
    expect(failed?.id).toBe(first);
    await h.store.claims.retry([{ id: failed?.id ?? "", fence: failed?.fence ?? 0, session, ...retry }]);
    const next = await claim(session, [lane]);
    expect(next?.id).toBe(second);
    await h.store.claims.giveBack(session, [{ id: next?.id ?? "", fence: next?.fence ?? 0 }]);
    expect((await claim(session, [lane]))?.id).toBe(second);
  });

  it("no run of a strict queue overtakes the first one, also if the claiming worker cannot execute the first one", async () => {
    const [echo, other] = [await laneOf(), await laneOf("other")];
    const now = Date.now();
    const [first] = await runs(1, other, now - 2_000);
    const [second] = await runs(1, echo, now - 1_000);
    const session = await h.session();
    expect(await claim(session, [echo])).toBeNull();
    const run = await claim(session, [echo, other]);
    expect(run?.id).toBe(first);
    if (run !== null) await end(run);
    expect((await claim(session, [echo]))?.id).toBe(second);
  });

  it("a claim gets nothing from a paused strict queue, for a dead session, or for a session of another gateway", async () => {
    const lane = await laneOf();
    await runs(1, lane);
    const [session, dead] = [await h.session(), await h.session()];
    await h.store.sessions.close(dead);
    expect(await claim(dead, [lane])).toBeNull();
    const foreign = { gatewayId: newId(), session, namespaceId: 1, queue: "ledger", lanes: [lane], trials: [] };
    expect(await h.store.claims.claimStrict(foreign)).toBeNull();
    await h.db.query({ text: "update carillon.queue set pause = '{}'" });
    expect(await claim(session, [lane])).toBeNull();
    await h.db.query({ text: "update carillon.queue set pause = null" });
    expect(await claim(session, [lane])).not.toBeNull();
  });

  it("a strict queue does not start an at-most-once run again", async () => {
    const lane = await laneOf("echo", "strict_once");
    const first = await h.run({ lane, queue: "ledger", policy: { guarantee: "at_most_once" } });
    const session = await h.session();
    await claim(session, [lane]);
    await h.store.sessions.close(session);
    expect(await h.store.runs.rescue([first], 3)).toEqual([]);
    expect((await h.store.runs.buryLost([first], 3)).map((run) => run.id)).toEqual([first]);
  });
});

describe("carillon.enqueue and strict queues", () => {
  it.each([
    ["{}", "strict"],
    ['{"guarantee": "at_most_once"}', "strict_once"],
  ])(
    "a run that SQL enqueues into a strict queue gets a lane of the strict kind: policy %s, kind %s",
    async (policy, kind) => {
      const text = "select run_id from carillon.enqueue('echo', queue => 'ledger', policy => $1::jsonb)";
      const { rows } = await h.db.query<{ run_id: string }>({ text }, [policy]);
      const lanes = await h.store.lanes.list();
      const lane = lanes.find((one) => one.queue === "ledger" && one.kind === kind)?.id ?? 0;
      expect(await h.claim(await h.session(), 10)).toEqual([]);
      expect((await claim(await h.session(), [lane]))?.id).toBe(rows[0]?.run_id);
    },
  );
});

describe("two gateways of a strict queue", () => {
  it("two gateways claim the runs of a strict queue one at a time and in order, and wake each other [INV-4]", async () => {
    const lane = await laneOf();
    const ids = await runs(12, lane);
    const order: string[] = [];
    let atWork = 0;
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const all: Gateway[] = [];
    const runsQueued = (queued: readonly { lane: number; rank: number }[]): void => {
      for (const gateway of all) gateway.hint(queued);
    };
    const over = { wakeups: { runsQueued } };
    const made = [gatewayOver(h, over), gatewayOver(h, over)];
    all.push(...made.map(({ gateway }) => gateway));
    gateways.push(...all);
    const outcome = { kind: "succeeded", outputJson: "null" } as const;
    for (const gateway of all) {
      await open(gateway, (session, assigned) => {
        atWork += assigned.length;
        expect(atWork).toBe(1);
        for (const { runId, fence } of assigned) {
          order.push(runId);
          atWork--;
          void gateway.complete(session, [{ runId, fence, startedAgoMs: 0, outcome }]).then(() => {
            if (order.length === ids.length) finish();
          });
        }
      });
    }
    await finished;
    expect(order).toEqual(ids);
  });

  it("the gateways find a run whose wakeup was lost, and a lane that was created after they started", async () => {
    const { gateway } = gatewayOver(h, { limits: { fullScanIntervalMs: 30 } });
    gateways.push(gateway);
    const given = new Promise<string>((resolve) => {
      void open(gateway, (_, assigned) => resolve(assigned[0]?.runId ?? "")).then(async () => {
        await runs(1, await laneOf());
        await gateway.scan();
      });
    });
    expect(await given).not.toBe("");
  });
});
