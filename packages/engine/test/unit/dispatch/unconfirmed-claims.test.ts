import { describe, expect, it } from "vitest";
import { claimedBy, memoryGateway, workerOf } from "../../harness/memory-gateway.js";

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a claim whose answer was lost", () => {
  it("is verified although other claims for its session are under way all the time [INV-6]", async () => {
    const { gateway, claims, clock } = memoryGateway();
    claims.faults.set("completeAndClaim", "after");
    claims.add("lost");
    const { assigned } = await workerOf(gateway, { slots: 2 });
    await nextTurn();
    expect([...claims.running.keys()]).toEqual(["lost"]);
    let answer: () => void = () => undefined;
    claims.gate = new Promise((resolve) => (answer = resolve));
    claims.add("other");
    clock.advance(1_000);
    gateway.hintAll();
    await gateway.scan();
    claims.gate = Promise.resolve();
    answer();
    await nextTurn();
    expect(assigned.map((run) => run.runId).sort()).toEqual(["lost", "other"]);
  });
});

describe("sessions that a node takes over from another", () => {
  const adopted = { namespaceId: 1, name: "w", queues: ["default"], tasks: ["echo"], slots: 2, state: "active" };
  const sessions = { adopt: async () => adopted } as never;

  it("are verified together when there are many, because each statement reads all live runs", async () => {
    const { gateway, claims } = memoryGateway({ store: { sessions } });
    const ids = Array.from({ length: 100 }, (_, index) => `s${index}`);
    for (const session of ids) claims.running.set(`of ${session}`, claimedBy(session));
    const assigned: string[] = [];
    const handlers = { onStop: () => undefined, onLost: () => undefined };
    await Promise.all(
      ids.map((id) =>
        gateway.adopt(id, { ...handlers, onAssign: ([run]) => void assigned.push(`${id} ${run?.runId}`) }),
      ),
    );
    expect(assigned.sort()).toEqual(ids.map((id) => `${id} of ${id}`).sort());
    expect(claims.heldReads).toBe(2);
  });

  it("get a slot back whose run the first node ended during the takeover", async () => {
    const { gateway, claims, clock } = memoryGateway({ store: { sessions } });
    for (const id of ["s", "t"]) claims.running.set(`of ${id}`, claimedBy(id));
    const handlers = { onStop: () => undefined, onLost: () => undefined, onAssign: () => undefined };
    await Promise.all(["s", "t"].map((id) => gateway.adopt(id, handlers)));
    claims.running.delete("of s");
    clock.advance(10_000);
    await gateway.scan();
    expect(gateway.sessions.load.usedSlots).toBe(2);
    clock.advance(10_000);
    await gateway.scan();
    expect(gateway.sessions.load.usedSlots).toBe(1);
  });

  it("are not kept when the runs that they hold cannot be read", async () => {
    const { gateway, claims } = memoryGateway({ store: { sessions } });
    claims.faults.set("held", "before");
    const handlers = { onStop: () => undefined, onLost: () => undefined, onAssign: () => undefined };
    await expect(gateway.adopt("s", handlers)).rejects.toThrow("reset");
    expect(gateway.sessions.load.workers).toBe(0);
  });
});

describe("a claimed run that no worker may start", () => {
  it.each([
    ["was cancelled", { isStopped: true }, "cancelled"],
    ["is past its deadline", { deadline: 1 }, "failed"],
  ])("ends although the database is away at first: it %s [INV-6]", async (_why, over, status) => {
    const { gateway, claims, clock, errors } = memoryGateway();
    claims.faults.set("finish", "before");
    claims.add("stuck", over);
    const { assigned } = await workerOf(gateway);
    await nextTurn();
    expect([errors.length, claims.running.size]).toEqual([1, 1]);
    clock.advance(1_000);
    await gateway.scan();
    await nextTurn();
    expect(claims.ended.get("stuck")).toBe(status);
    expect(assigned).toEqual([]);
  });
});
