import { describe, expect, it } from "vitest";
import { claimedBy, memoryGateway, workerOf } from "../../harness/memory-gateway.js";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a claim whose answer was lost", () => {
  it("is asked about although other claims for its session are under way all the time [INV-6]", async () => {
    const { gateway, claims, clock } = memoryGateway();
    claims.faults.set("completeAndClaim", "after");
    claims.add("lost");
    const { given } = await workerOf(gateway, { slots: 2 });
    await settled();
    expect([...claims.running.keys()]).toEqual(["lost"]);
    let answer: () => void = () => undefined;
    claims.gate = new Promise((resolve) => (answer = resolve));
    claims.add("other");
    clock.advance(1_000);
    gateway.hintAll();
    await gateway.look();
    claims.gate = Promise.resolve();
    answer();
    await settled();
    expect(given.map((run) => run.runId).sort()).toEqual(["lost", "other"]);
  });
});

describe("sessions that a node takes over from another", () => {
  const adopted = { namespaceId: 1, name: "w", queues: ["default"], tasks: ["echo"], slots: 2, state: "active" };
  const sessions = { adopt: async () => adopted } as never;

  it("are asked about together when there are many: each question reads all live runs", async () => {
    const { gateway, claims } = memoryGateway({ sessions });
    const ids = Array.from({ length: 100 }, (_, index) => `s${index}`);
    for (const session of ids) claims.running.set(`of ${session}`, claimedBy(session));
    const given: string[] = [];
    const handlers = { onStop: () => undefined, onLost: () => undefined };
    await Promise.all(
      ids.map((id) => gateway.adopt(id, { ...handlers, onAssign: ([run]) => void given.push(`${id} ${run?.runId}`) })),
    );
    expect(given.sort()).toEqual(ids.map((id) => `${id} of ${id}`).sort());
    expect(claims.asked).toBe(2);
  });

  it("have their slots, although the first node ended a run while they were taken over", async () => {
    const { gateway, claims, clock } = memoryGateway({ sessions });
    for (const id of ["s", "t"]) claims.running.set(`of ${id}`, claimedBy(id));
    const handlers = { onStop: () => undefined, onLost: () => undefined, onAssign: () => undefined };
    await Promise.all(["s", "t"].map((id) => gateway.adopt(id, handlers)));
    claims.running.delete("of s");
    clock.advance(10_000);
    await gateway.look();
    expect(gateway.load.usedSlots).toBe(2);
    clock.advance(10_000);
    await gateway.look();
    expect(gateway.load.usedSlots).toBe(1);
  });

  it("are not kept when it cannot be told what they hold", async () => {
    const { gateway, claims } = memoryGateway({ sessions });
    claims.faults.set("held", "before");
    const handlers = { onStop: () => undefined, onLost: () => undefined, onAssign: () => undefined };
    await expect(gateway.adopt("s", handlers)).rejects.toThrow("reset");
    expect(gateway.load.workers).toBe(0);
  });
});

describe("a claimed run that nobody is to begin", () => {
  it.each([
    ["is to stop", { isStopped: true }, "cancelled"],
    ["is past its deadline", { deadline: 1 }, "failed"],
  ])("ends also when the database is away at first: it %s [INV-6]", async (_why, over, status) => {
    const { gateway, claims, clock, errors } = memoryGateway();
    claims.faults.set("finish", "before");
    claims.add("stuck", over);
    const { given } = await workerOf(gateway);
    await settled();
    expect([errors.length, claims.running.size]).toEqual([1, 1]);
    clock.advance(1_000);
    await gateway.look();
    await settled();
    expect(claims.ended.get("stuck")).toBe(status);
    expect(given).toEqual([]);
  });
});
