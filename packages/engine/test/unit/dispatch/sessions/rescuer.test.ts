import { expect, it } from "vitest";
import type { EngineEvent } from "../../../../src/events.js";
import { Rescuer } from "../../../../src/dispatch/sessions/rescuer.js";
import type { EndedLate } from "@carillon/store";

const ended = (id: string): EndedLate => ({
  id,
  jobId: null,
  namespaceId: 1,
  task: "echo",
  queue: "default",
  freedJobId: null,
  sla: null,
  nominal: 0,
  trigger: "once",
  fence: 1,
  endedAt: 0,
});

/** A rescuer over sessions and runs in memory; `sweeps` counts the looks at all live runs. */
function setUp() {
  const state = {
    sessions: ["a", "b"],
    lost: [] as string[],
    /** Silent for good, once it is tried to end them; and who had the runs that are lost. */
    dead: [] as string[],
    session: null as string | null,
    isAway: false,
    isLocked: false,
    sweeps: 0,
    queued: [] as string[],
    buried: [] as string[],
    stopped: [] as string[],
    told: [] as EngineEvent[],
    nowMs: 0,
  };
  const rescuer = new Rescuer({
    sessions: {
      list: async () => state.sessions.map((id) => ({ id, heartbeat: String(state.nowMs) })),
      expire: async () => [],
      closeOfDeadNodes: async () => state.dead.splice(0).map((id) => ({ id, namespaceId: 1, name: `worker ${id}` })),
    } as never,
    runs: {
      lost: async () => {
        if (state.isAway) throw new Error("the database is away");
        state.sweeps++;
        return state.lost.map((id) => ({ id, sessionId: state.session }));
      },
      buryLost: async () => state.buried.map(ended),
      rescue: async (ids) =>
        (state.isLocked ? [] : ids).map((id) => ({ id, lane: 1, rank: 1, isStopped: state.stopped.includes(id) })),
      endStopped: async (ids) => ids.filter((id) => state.stopped.includes(id)).map(ended),
    },
    clock: { monotonic: () => state.nowMs } as never,
    silenceMs: 15_000,
    mostLosses: 3,
    batch: 100,
    onQueued: (queued) => {
      state.queued.push(...queued.map((run) => run.id));
      if (queued.length > 0) state.lost = [];
    },
    onFreed: () => undefined,
    onEvent: (event) => void state.told.push(event),
  });
  /** Ticks every three seconds, as the engine does. */
  const pass = async (ms: number): Promise<void> => {
    for (const end = state.nowMs + ms; state.nowMs < end;) {
      state.nowMs += 3_000;
      await rescuer.tick();
    }
  };
  return { state, pass };
}

it("looks at all live runs when it begins, and then once a minute while no session goes away", async () => {
  const { state, pass } = setUp();
  await pass(9_000);
  expect(state.sweeps).toBe(3);
  await pass(180_000);
  expect(state.sweeps).toBeLessThanOrEqual(6);
});

it("rescues at the very next tick after a session went away, whoever ended it [INV-6]", async () => {
  const { state, pass } = setUp();
  await pass(30_000);
  state.sessions = ["a"];
  state.lost = ["run-1"];
  await pass(3_000);
  expect(state.queued).toEqual(["run-1"]);
});

it("looks again after a rescue, because rows that others had locked were passed over [INV-6]", async () => {
  const { state, pass } = setUp();
  await pass(30_000);
  const before = state.sweeps;
  state.sessions = ["a"];
  state.lost = ["run-1"];
  await pass(3_000);
  state.lost = ["run-2"];
  await pass(3_000);
  expect(state.queued).toEqual(["run-1", "run-2"]);
  await pass(30_000);
  expect(state.sweeps - before).toBe(5);
});

it("goes on as long as there are lost runs, though somebody who hangs has locked them [INV-6]", async () => {
  const { state, pass } = setUp();
  await pass(30_000);
  state.sessions = ["a"];
  state.lost = ["run-1"];
  state.isLocked = true;
  await pass(45_000);
  state.isLocked = false;
  await pass(3_000);
  expect(state.queued).toEqual(["run-1"]);
});

it("finds within a minute what nobody noticed: its session came and went between two looks", async () => {
  const { state, pass } = setUp();
  await pass(12_000);
  state.lost = ["run-1"];
  await pass(63_000);
  expect(state.queued).toEqual(["run-1"]);
});

it("tells of the runs that it ends: those that took their workers down too often, and those that were to stop", async () => {
  const { state, pass } = setUp();
  Object.assign(state, { lost: ["a", "b", "c"], buried: ["a"], stopped: ["b"] });
  await pass(3_000);
  const told = state.told.flatMap((event) => (event.type === "run.finished" ? [[event.runId, event.status]] : []));
  expect(told).toEqual([
    ["a", "failed"],
    ["b", "cancelled"],
  ]);
});

it("ends what another node queued again and did not end before it died, although it was to stop", async () => {
  const { state, pass } = setUp();
  Object.assign(state, { lost: ["a"], stopped: ["a"], isLocked: true });
  await pass(3_000);
  expect(state.told).toMatchObject([{ type: "run.finished", runId: "a", status: "cancelled" }]);
  expect(state.queued).toEqual([]);
});

it("tells of each worker that it declares dead once, with the runs that it left", async () => {
  const { state, pass } = setUp();
  await pass(30_000);
  Object.assign(state, { dead: ["b", "c"], lost: ["run-1", "run-2"], session: "b", sessions: ["a"] });
  await pass(30_000);
  expect(state.told.filter((event) => event.type === "session.lost")).toEqual([
    { type: "session.lost", namespaceId: 1, sessionId: "b", name: "worker b", runs: 2 },
    { type: "session.lost", namespaceId: 1, sessionId: "c", name: "worker c", runs: 0 },
  ]);
});

it("tells of it later where what a dead worker left could not be read at first", async () => {
  const { state, pass } = setUp();
  await pass(30_000);
  Object.assign(state, { dead: ["b"], lost: ["run-1"], session: "b", isAway: true });
  await expect(pass(3_000)).rejects.toThrow("the database is away");
  state.isAway = false;
  await pass(30_000);
  expect(state.told.filter((event) => event.type === "session.lost")).toMatchObject([{ sessionId: "b", runs: 1 }]);
});
