import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { audits } from "../../../../src/index.js";
import { Rescuer } from "../../../../src/dispatch/sessions/rescuer.js";
import { dispatchContext } from "../../../harness/dispatch-context.js";
import { gatewayId, newId, type StoreHarness, storeHarness, untilLockWaits } from "../../../harness/store-harness.js";

let h: StoreHarness;
beforeEach(async () => {
  h = await storeHarness();
});
afterEach(() => h.close());

const success = (session: string, id: string, fence: number) => {
  return {
    session,
    id,
    fence,
    status: "succeeded",
    reason: null,
    output: '{"ok":true}',
    error: null,
    startedAt: Date.now(),
  } as const;
};

describe("ClaimStore: claims", () => {
  it("claims give two gateways disjoint runs, in rank order", async () => {
    for (let i = 0; i < 20; i++) await h.run({ rank: 100 - i });
    const [a, b] = [await h.session(), await h.session()];
    const [first, second] = await Promise.all([h.claim(a, 10), h.claim(b, 10)]);
    const ids = [...first, ...second].map((run) => run.id);
    expect(new Set(ids).size).toBe(20);
    expect(first.map((run) => run.rank)).toEqual(first.map((run) => run.rank).sort((x, y) => x - y));
  });

  it("claims give nothing to a session that was declared dead", async () => {
    await h.run();
    const session = await h.session();
    await h.store.sessions.close(session);
    expect(await h.claim(session, 10)).toEqual([]);
  });

  it("claims exclude the death of their session: the later of the two matches no row [INV-6]", async () => {
    const id = await h.run();
    const session = await h.session();
    let late: Promise<readonly unknown[]> = Promise.resolve([]);
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "delete from carillon.worker_session where id = $1" }, [session]);
      late = h.claim(session, 1);
      await untilLockWaits(h);
    });
    expect(await late).toEqual([]);
    expect((await h.store.reads.live(1, [id]))[0]?.status).toBe("queued");
  });

  it("claims never take a run before its time [INV-5]", async () => {
    await h.run({ runAt: Date.now() + 3_600_000 });
    expect(await h.claim(await h.session(), 10)).toEqual([]);
  });

  it("claims never cross namespaces [INV-7]", async () => {
    await h.db.query({ text: "insert into carillon.namespace (name) values ('other')" });
    await h.run({ namespaceId: 2 });
    expect(await h.claim(await h.session(), 10)).toEqual([]);
  });
});

describe("ClaimStore: completions", () => {
  it("the completion of a run moves it into history once, and a second completion changes nothing [INV-4]", async () => {
    const id = await h.run();
    const session = await h.session();
    const [run] = await h.claim(session, 1);
    const done = success(session, id, run?.fence ?? 0);
    expect([...(await h.store.claims.finish([done])).keys()]).toEqual([id]);
    expect((await h.store.claims.finish([{ ...done, output: "false" }])).size).toBe(0);
    const history = await h.store.reads.finished(1, [id], 0);
    expect(history).toHaveLength(1);
    expect(history[0]).toMatchObject({ status: "succeeded", output: { ok: true }, attempt: 1, fence: run?.fence });
    expect(await h.store.reads.live(1, [id])).toEqual([]);
  });

  it("the completion of a run is refused from an older attempt [INV-2]", async () => {
    const id = await h.run();
    const first = await h.session();
    const [old] = await h.claim(first, 1);
    await h.store.sessions.close(first);
    await h.store.runs.rescue([id], 3);
    const second = await h.session();
    const [fresh] = await h.claim(second, 1);
    expect(fresh?.fence).toBeGreaterThan(old?.fence ?? Number.POSITIVE_INFINITY);
    expect((await h.store.claims.finish([success(first, id, old?.fence ?? 0)])).size).toBe(0);
    expect((await h.store.claims.finish([success(second, id, fresh?.fence ?? 0)])).size).toBe(1);
  });

  it("the completion of a run is refused under the first fence after the run was given back and claimed again [INV-2]", async () => {
    const id = await h.run();
    const session = await h.session();
    const [old] = await h.claim(session, 1);
    await h.store.claims.giveBack(session, [{ id, fence: old?.fence ?? 0 }]);
    const [again] = await h.claim(session, 1);
    expect(again).toMatchObject({ id, spent: 0 });
    expect((await h.store.claims.finish([success(session, id, old?.fence ?? 0)])).size).toBe(0);
  });
});

describe("ClaimStore: failures", () => {
  it("a failed run waits for its next try and keeps a record of the attempt", async () => {
    const id = await h.run();
    const session = await h.session();
    const [run] = await h.claim(session, 1);
    const at = { startedAt: 1_000, endedAt: 2_000, sessionId: session };
    const record = { attempt: 1, fence: run?.fence ?? 0, ...at, outcome: "failed" } as const;
    const [waiting] = await h.store.claims.retry([
      { session, id, fence: run?.fence ?? 0, delayMs: 60_000, rank: 0, record },
    ]);
    expect(waiting?.id).toBe(id);
    const [row] = await h.store.reads.live(1, [id]);
    expect(row).toMatchObject({ status: "retrying", attempt: 1, session_id: null, attempts: [record] });
    expect(row?.run_at).toBeGreaterThan(Date.now() + 50_000);
  });

  it("a failed run keeps the records of its last hundred tries", async () => {
    const id = await h.run();
    const many = "(select jsonb_agg(jsonb_build_object('attempt', n)) from generate_series(1, 100) as n)";
    await h.db.query({ text: `update carillon.run set attempt = 100, attempts = ${many}` });
    const session = await h.session();
    const fence = (await h.claim(session, 1))[0]?.fence ?? 0;
    const record = { attempt: 101, fence, startedAt: 1, endedAt: 2, sessionId: session, outcome: "failed" } as const;
    await h.store.claims.retry([{ session, id, fence, delayMs: 60_000, rank: 0, record }]);
    const [row] = await h.store.reads.live(1, [id]);
    expect([row?.attempt, row?.attempts?.length, row?.attempts?.[0]?.attempt, row?.attempts?.at(-1)]).toEqual([
      101,
      100,
      2,
      record,
    ]);
  });

  it("a failed run ends instead when it was cancelled, without a start recorded before its time [INV-5]", async () => {
    const id = await h.run();
    const session = await h.session();
    const [run] = await h.claim(session, 1);
    const fence = run?.fence ?? 0;
    await h.db.query({ text: "update carillon.run set cancel_reason = 'cancelled_by_job' where id = $1" }, [id]);
    const at = { startedAt: 1_000, endedAt: 2_000, sessionId: session };
    const record = { attempt: 1, fence, ...at, outcome: "failed" } as const;
    expect(await h.store.claims.retry([{ session, id, fence, delayMs: 60_000, rank: 0, record }])).toMatchObject([
      { id, isStopped: true },
    ]);
    expect((await h.store.runs.endStopped([id])).map((one) => one.id)).toEqual([id]);
    expect(await startedEarly()).toEqual([]);
  });

  it("a failed run has no start recorded before its time when it is cancelled while it waits [INV-5]", async () => {
    const id = await h.run();
    const session = await h.session();
    const [run] = await h.claim(session, 1);
    const fence = run?.fence ?? 0;
    await h.store.claims.started(session, [{ id, fence, agoMs: 0 }]);
    const record = {
      attempt: 1,
      fence,
      startedAt: 1_000,
      endedAt: 2_000,
      sessionId: session,
      outcome: "failed",
    } as const;
    await h.store.claims.retry([{ session, id, fence, delayMs: 60_000, rank: 0, record }]);
    const { unitOfWork, historyTransaction } = h.store;
    const ended = await historyTransaction((tx) => unitOfWork.writes.endRuns(tx, [{ id, reason: "cancelled_by_job" }]));
    expect(ended).toMatchObject([{ id, task: "echo" }]);
    expect(await startedEarly()).toEqual([]);
  });
});

async function startedEarly(): Promise<unknown[]> {
  const audit = audits("carillon").find(({ invariant }) => invariant === 5);
  if (audit === undefined) throw new Error("INV-5 has no audit");
  return (await h.db.query(audit.statement)).rows;
}

describe("ClaimStore: rescue", () => {
  /** Claims one run for a new session, which dies; answers the run. */
  const lose = async (begun: boolean) => {
    const session = await h.session();
    const [run] = await h.claim(session, 1);
    if (run === undefined) throw new Error("nothing was claimed");
    if (begun) await h.store.claims.started(session, [{ id: run.id, fence: run.fence, agoMs: 0 }]);
    await h.store.sessions.close(session);
    expect(await h.store.runs.lost(10)).toEqual([{ id: run.id, sessionId: session }]);
    const lost = [run.id];
    await h.store.runs.buryLost(lost, 3);
    await h.store.runs.rescue(lost, 3);
    return run;
  };
  const live = async (id: string) => (await h.store.reads.live(1, [id]))[0];

  it("the rescue queues the runs of dead sessions, and no runs of live ones [INV-6]", async () => {
    const [lost, kept] = [await h.run({ rank: 1 }), await h.run({ rank: 2 })];
    const [dead, alive] = [await h.session(), await h.session()];
    await h.claim(dead, 1);
    await h.claim(alive, 1);
    await h.store.sessions.close(dead);
    expect(await h.store.runs.lost(10)).toEqual([{ id: lost, sessionId: dead }]);
    expect((await h.store.runs.rescue([lost, kept], 3)).map((run) => run.id)).toEqual([lost]);
    expect(await live(lost)).toMatchObject({ status: "queued", status_reason: "not_started", losses: 0, attempt: 0 });
    expect(await live(kept)).toMatchObject({ status: "running", losses: 0 });
  });

  it("the rescue ends a cancelled run whose node died after it queued the run again, so that no worker claims it", async () => {
    const [rescued, given] = [await h.run({ rank: 1 }), await h.run({ rank: 2 })];
    const [dead, drained] = [await h.session(), await h.session()];
    await h.claim(dead, 1);
    const [back] = await h.claim(drained, 1);
    await h.store.runChanges.cancel(1, [rescued, given], { reason: "cancelled_by_user", isOfRunning: true });
    await h.store.sessions.close(dead);
    await h.store.runs.rescue([rescued], 3);
    await h.store.claims.giveBack(drained, [{ id: given, fence: back?.fence ?? 0 }]);
    const limits = { workerTimeoutMs: 60_000, maxLosses: 3, rescueBatch: 10 };
    const runsQueued = (queued: readonly unknown[]) => expect(queued).toEqual([]);
    const other = new Rescuer({ ...dispatchContext({ store: h.store, wakeups: { runsQueued } }), limits });
    await other.tick();
    const ended = await h.store.reads.finished(1, [rescued, given], 0);
    expect(ended.map(({ status, status_reason: why, fence }) => [status, why, fence])).toEqual([
      ["cancelled", "cancelled_by_user", 1],
      ["cancelled", "cancelled_by_user", 1],
    ]);
    expect(await h.store.runs.lost(10)).toEqual([]);
  });

  it("the rescue counts the loss of runs that had started, and of no others", async () => {
    const id = await h.run();
    await lose(true);
    expect(await live(id)).toMatchObject({ status: "queued", status_reason: "worker_lost", losses: 1, attempt: 0 });
  });

  it("the rescue lets a lost run be claimed only to start at once", async () => {
    const id = await h.run();
    await lose(false);
    expect(await live(id)).toMatchObject({ losses: 0 });
    await lose(false);
    expect(await live(id)).toMatchObject({ status: "queued", status_reason: "worker_lost", losses: 1 });
  });

  it("the rescue ends a run that lost too many workers, with that reason", async () => {
    const id = await h.run();
    for (let loss = 0; loss <= 4; loss++) await lose(false);
    const [row] = await h.store.reads.finished(1, [id], 0);
    expect(row).toMatchObject({ status: "failed", status_reason: "worker_lost", losses: 4 });
  });

  it("the rescue never queues a started at-most-once run again", async () => {
    const [solo = 0] = await h.store.lanes.ensure([{ queue: "default", task: "echo", kind: "solo" }]);
    const id = await h.run({ lane: solo, policy: { guarantee: "at_most_once" } });
    await lose(false);
    const [row] = await h.store.reads.finished(1, [id], 0);
    expect(row).toMatchObject({ status: "failed", status_reason: "worker_lost", losses: 1 });
  });

  it("the rescue expires a session only with the heartbeat that was watched", async () => {
    const id = await h.session();
    const seen = await h.store.sessions.list();
    await h.store.sessions.heartbeat([id], gatewayId);
    expect(await h.store.sessions.expire(seen)).toEqual([]);
    expect(await h.store.sessions.expire(await h.store.sessions.list())).toMatchObject([{ id, namespaceId: 1 }]);
  });

  it("the rescue closes the sessions of a node that is gone", async () => {
    const node = newId();
    await h.store.nodes.register({ id: node, name: "n", address: null, version: "0", level: 1 });
    const what = { namespaceId: 1, name: "w", queues: [], tasks: [], slots: 1, nodeId: node };
    const id = newId();
    await h.store.sessions.open({ id, gatewayId, ...what });
    expect(await h.store.sessions.closeOfDeadNodes()).toEqual([]);
    await h.store.nodes.remove(node, null);
    expect(await h.store.sessions.closeOfDeadNodes()).toEqual([{ id, namespaceId: 1, name: "w" }]);
  });
});
