import type { ClaimStore } from "@carillon/store";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { DirectNoticeHarness, gate, success, timesOf, until } from "../../harness/direct-notice-harness.js";
import { EagerWorker } from "../../harness/eager-worker.js";
import { untilLockWaits } from "../../harness/store-harness.js";

/** Longer than until the next scan for runs without a notice. */
const laterMs = 11_000;
let n: DirectNoticeHarness;
beforeAll(async () => {
  n = await DirectNoticeHarness.create();
});
afterEach(() => n.stopGateways());
afterAll(() => n.close());

describe("received notices", () => {
  it("a gateway that receives a direct notice assigns its runs under their first fence, unread, and accepts their results [INV-2]", async () => {
    const { gateway, assigned, offered, receive, session } = await n.serve();
    const { id, notice } = await n.store(offered);
    receive(notice);
    expect(assigned).toMatchObject([{ runId: id, fence: 1 }]);
    expect(n.reads).toEqual([]);
    expect([...(await gateway.complete(session, assigned.map(success)))]).toEqual([id]);
    expect(await n.isEnded(id)).toBe(true);
  });

  it.each(["a notice", "the scan"])(
    "a gateway assigns runs that were stored for its worker in a later history under the fence of their rows, by %s [INV-2]",
    async (by) => {
      const { gateway, assigned, offered, receive, session } = await n.serve();
      const text = "update carillon.worker_session set fence_floor = $2 where id = $1";
      await n.h.db.query({ text }, [session, 7 * 2 ** 32]);
      const { id, notice } = await n.store(offered);
      n.passedMs += laterMs;
      if (by === "a notice") receive(notice);
      else await gateway.scan();
      await n.readsFollowed();
      expect(assigned).toMatchObject([{ runId: id, fence: 7 * 2 ** 32 + 1 }]);
      expect([...(await gateway.complete(session, assigned.map(success)))]).toEqual([id]);
    },
  );

  it("a gateway that receives a direct notice assigns no run again when the notice is repeated, while it runs and after it ended [INV-2]", async () => {
    const { gateway, assigned, offered, receive, session } = await n.serve();
    const { id, at, encrypted, notice } = await n.store(offered);
    receive(notice);
    receive(notice);
    await gateway.complete(session, assigned.map(success));
    expect(await n.isEnded(id)).toBe(true);
    for (const time of [at, at + 60_000, at - 60_000, "soon"]) receive(`runs ${time} 1 ${encrypted}`);
    await n.readsFollowed();
    expect(timesOf(assigned, id)).toBe(1);
  });

  it("a gateway that receives a direct notice queues runs again when their worker left before the notice arrived, and another worker gets them [INV-6]", async () => {
    const { gateway, assigned, offered, receive, session } = await n.serve();
    const { id, notice } = await n.store(offered);
    await gateway.close(session);
    const other = await EagerWorker.over(gateway, { queues: [n.queue] });
    receive(notice);
    await other.until(1);
    await other.stop();
    expect([assigned, other.ids, await n.isEnded(id)]).toEqual([[], [id], true]);
  });

  it("a gateway that receives a direct notice queues runs again as soon as their worker has left when the notice arrived while it was leaving [INV-6]", async () => {
    const { gateway, assigned, offered, receive, session } = await n.serve();
    const { id, notice } = await n.store(offered);
    const { closing } = await n.h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.worker_session where id = $1 for key share" }, [session]);
      const leaving = gateway.close(session);
      await untilLockWaits(n.h);
      receive(notice);
      await n.rescued;
      // The row of its session still exists.
      expect(await n.rowOf(id)).toMatchObject({ state: "running", fence: 1, session });
      return { closing: leaving };
    });
    await closing;
    expect(await n.rowOf(id)).toEqual({ state: "queued", fence: 1, session: null, attempt: 0 });
    expect(assigned).toEqual([]);
  });

  it("a gateway that receives a direct notice gets no result accepted of runs that were rescued before the notice arrived [INV-2]", async () => {
    const { gateway, assigned, offered, receive, session } = await n.serve();
    const { id, notice } = await n.store(offered);
    await n.h.store.sessions.close(session);
    await n.h.store.runs.rescue([id], 3);
    const other = await n.h.session();
    expect((await n.h.claim(other, 1_000)).filter((claimed) => claimed.id === id)).toMatchObject([{ fence: 2 }]);
    receive(notice);
    expect([...(await gateway.complete(session, assigned.map(success)))]).toEqual([]);
    expect(await n.rowOf(id)).toEqual({ state: "running", fence: 2, session: other, attempt: 0 });
  });
});

describe("lost notices", () => {
  it("a gateway that scans for direct runs without a notice finds runs whose notice was lost on a live connection, and assigns them once [INV-2] [INV-6]", async () => {
    const { gateway, assigned, offered, session } = await n.serve();
    const { id } = await n.store(offered);
    await gateway.scan();
    expect(assigned).toMatchObject([{ runId: id, fence: 1 }]);
    n.passedMs += laterMs;
    await gateway.scan();
    await gateway.complete(session, assigned.map(success));
    n.passedMs += laterMs;
    await gateway.scan();
    await n.readsFollowed();
    expect([timesOf(assigned, id), await n.isEnded(id)]).toEqual([1, true]);
  });

  it("a gateway that scans for direct runs without a notice finds runs at once when its connection was lost, and assigns none twice when the notice arrives after all [INV-6]", async () => {
    const { gateway, assigned, offered, receive, session } = await n.serve();
    // After it, the next scan is not due.
    await gateway.scan();
    const { id, notice } = await n.store(offered);
    gateway.arrivals.noticesMissed();
    await until(() => assigned.length > 0);
    await gateway.complete(session, assigned.map(success));
    receive(notice);
    await n.readsFollowed();
    expect([timesOf(assigned, id), await n.isEnded(id)]).toEqual([1, true]);
  });

  it("a gateway that scans for direct runs without a notice finds runs that its own node stored when the answer to that was lost, and not before [INV-6]", async () => {
    const node = await n.serve();
    const { gateway, assigned, offered, session } = node;
    const committed = gate();
    const lost = gate();
    const { id, stored } = n.storeHere(node, offered, async () => {
      committed.open();
      await lost.opened;
      throw new Error("the connection was reset");
    });
    const refused = stored.catch((error: unknown) => error);
    await committed.opened;
    // Until the statement is answered, its answer may assign them.
    await gateway.scan();
    await n.readsFollowed();
    expect(assigned).toEqual([]);
    lost.open();
    expect(await refused).toMatchObject({ message: "the connection was reset" });
    expect(await n.rowOf(id)).toMatchObject({ state: "running", fence: 1, session });
    n.passedMs += laterMs;
    await gateway.scan();
    expect(assigned).toMatchObject([{ runId: id, fence: 1 }]);
    n.passedMs += laterMs;
    await gateway.scan();
    expect(timesOf(assigned, id)).toBe(1);
  });
});

describe("verification", () => {
  /** The read is under way until the test says so; the database answered it before, or will after. */
  function heldRead(when: "answered" | "unanswered") {
    const [reading, answer] = [gate(), gate()];
    const held: ClaimStore["held"] = async (sessions) => {
      const before = when === "answered" ? await n.h.store.claims.held(sessions) : null;
      reading.open();
      await answer.opened;
      return before ?? n.h.store.claims.held(sessions);
    };
    return { held, isReading: reading.opened, answer: answer.open };
  }

  it("a gateway that verifies the runs of its worker assigns runs once, and gives none back, that the notice and the answer both contain [INV-2]", async () => {
    const { held, isReading, answer } = heldRead("answered");
    const back: string[] = [];
    const { gateway, assigned, offered, loseClaim, receive } = await n.serve({
      held,
      giveBack(of, runs) {
        back.push(...runs.map((one) => one.id));
        return n.h.store.claims.giveBack(of, runs);
      },
    });
    const claimed = await loseClaim();
    const { id, notice } = await n.store(offered);
    const scanning = gateway.scan();
    await isReading;
    receive(notice);
    answer();
    await scanning;
    // A scan does not wait for a verification that waits for claims.
    await until(() => assigned.length > 1);
    await gateway.scan();
    await n.readsFollowed();
    expect(assigned.map((one) => one.runId).sort()).toEqual([claimed, id].sort());
    expect(back).toEqual([]);
  });

  it("a gateway that verifies the runs of its worker assigns no run again whose notice arrives after the answer contained it and it ended [INV-2]", async () => {
    const { gateway, assigned, offered, loseClaim, receive, session } = await n.serve();
    await loseClaim();
    const { id, notice } = await n.store(offered);
    await gateway.scan();
    await until(() => timesOf(assigned, id) > 0);
    await gateway.complete(session, assigned.map(success));
    receive(notice);
    await n.readsFollowed();
    expect([timesOf(assigned, id), await n.isEnded(id)]).toEqual([1, true]);
  });

  it("a gateway that verifies the runs of its worker assigns runs that were stored after the answer, once they are read [INV-6]", async () => {
    const { gateway, assigned, offered, loseClaim, receive } = await n.serve();
    await loseClaim();
    await gateway.scan();
    await until(() => assigned.length > 0);
    const { id, notice } = await n.store(offered);
    receive(notice);
    await until(() => timesOf(assigned, id) > 0);
    expect(n.reads).not.toEqual([]);
  });

  it("a gateway that verifies the runs of its worker assigns no run again when the notice, received meanwhile, is repeated with another time [INV-2]", async () => {
    const { held, isReading, answer } = heldRead("answered");
    const { gateway, assigned, offered, loseClaim, receive, session } = await n.serve({ held });
    await loseClaim();
    const { id, at, encrypted, notice } = await n.store(offered);
    const scanning = gateway.scan();
    await isReading;
    receive(notice);
    answer();
    await scanning;
    await until(() => timesOf(assigned, id) > 0);
    await gateway.complete(session, assigned.map(success));
    expect(await n.isEnded(id)).toBe(true);
    receive(`runs ${at + 60_000} 1 ${encrypted}`);
    await n.readsFollowed();
    expect(timesOf(assigned, id)).toBe(1);
  });

  it("a gateway that verifies the runs of its worker assigns no run again that its own node was storing during the read [INV-2]", async () => {
    const { held, isReading, answer } = heldRead("unanswered");
    const node = await n.serve({ held });
    const { gateway, assigned, offered, loseClaim, session } = node;
    await loseClaim();
    const scanning = gateway.scan();
    await isReading;
    const [committed, answered] = [gate(), gate()];
    const { id, stored } = n.storeHere(node, offered, async () => {
      committed.open();
      await answered.opened;
    });
    await committed.opened;
    answer();
    await scanning;
    await until(() => timesOf(assigned, id) > 0);
    await gateway.complete(session, assigned.map(success));
    answered.open();
    expect(await stored).toMatchObject({ isAssigned: true });
    n.passedMs += laterMs;
    await gateway.scan();
    await n.readsFollowed();
    expect([timesOf(assigned, id), await n.isEnded(id)]).toEqual([1, true]);
  });

  it("a gateway that verifies the runs of its worker assigns no run that it is giving back [INV-2]", async () => {
    const giving = gate();
    const { gateway, assigned, offered, loseClaim, receive, session } = await n.serve({
      async giveBack(...args) {
        await giving.opened;
        return n.h.store.claims.giveBack(...args);
      },
    });
    const claimed = await loseClaim();
    const { id, notice } = await n.store(offered);
    await gateway.pause(session);
    receive(notice);
    await gateway.scan();
    await until(() => assigned.length > 0);
    expect(assigned.map((one) => one.runId)).toEqual([claimed]);
    expect(await n.rowOf(id)).toMatchObject({ state: "running", fence: 1, session });
    giving.open();
    gateway.resume(session);
    while (timesOf(assigned, id) === 0) await gateway.scan();
    expect(assigned.filter((one) => one.runId === id)).toMatchObject([{ fence: 2 }]);
    expect(await n.rowOf(id)).toMatchObject({ state: "running", fence: 2, session });
  });
});
