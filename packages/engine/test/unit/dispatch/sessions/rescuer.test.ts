import { isRunEnd } from "@carillon/core";
import { expect, it } from "vitest";
import type { EngineEvent } from "../../../../src/events.js";
import { Rescuer } from "../../../../src/dispatch/sessions/rescuer.js";
import type { EndedLate } from "@carillon/store";

const endedRun = (id: string): EndedLate => ({
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

/** A rescuer over sessions and runs in memory; `sweeps` counts the reads of all live runs. */
function setUp() {
  const state = {
    sessions: ["a", "b"],
    lost: [] as string[],
    /** Sessions of dead nodes; and the session that had the lost runs. */
    dead: [] as string[],
    session: null as string | null,
    isAway: false,
    isLocked: false,
    sweeps: 0,
    queued: [] as string[],
    buried: [] as string[],
    stopped: [] as string[],
    emitted: [] as EngineEvent[],
    nowMs: 0,
  };
  const rescuer = new Rescuer({
    store: {
      sessions: {
        list: async () => state.sessions.map((id) => ({ id, heartbeat: String(state.nowMs) })),
        expire: async () => [],
        closeOfDeadNodes: async () => state.dead.splice(0).map((id) => ({ id, namespaceId: 1, name: `worker ${id}` })),
      },
      runs: {
        lost: async () => {
          if (state.isAway) throw new Error("the database is away");
          state.sweeps++;
          return state.lost.map((id) => ({ id, sessionId: state.session }));
        },
        buryLost: async () => state.buried.map(endedRun),
        rescue: async (ids) =>
          (state.isLocked ? [] : ids).map((id) => ({ id, lane: 1, rank: 1, isStopped: state.stopped.includes(id) })),
        endStopped: async (ids) => ids.filter((id) => state.stopped.includes(id)).map(endedRun),
      },
    },
    clock: { monotonic: () => state.nowMs },
    limits: { workerTimeoutMs: 15_000, maxLosses: 3, rescueBatch: 100 },
    loops: { register: () => undefined },
    wakeups: {
      publish: () => undefined,
      runsQueued(queued) {
        state.queued.push(...queued.map((run) => run.id));
        if (queued.length > 0) state.lost = [];
      },
    },
    emit: (event) => void state.emitted.push(event),
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

it("the rescuer reads all live runs when it starts, and then once a minute while no session goes away", async () => {
  const { state, pass } = setUp();
  await pass(9_000);
  expect(state.sweeps).toBe(3);
  await pass(180_000);
  expect(state.sweeps).toBeLessThanOrEqual(6);
});

it("the rescuer rescues runs at the next tick after any node ended their session [INV-6]", async () => {
  const { state, pass } = setUp();
  await pass(30_000);
  state.sessions = ["a"];
  state.lost = ["run-1"];
  await pass(3_000);
  expect(state.queued).toEqual(["run-1"]);
});

it("the rescuer sweeps again after a rescue, because it skips rows that others have locked [INV-6]", async () => {
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

it("the rescuer continues as long as there are lost runs, although a transaction that hangs has locked them [INV-6]", async () => {
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

it("the rescuer finds runs within a minute whose session began and ended between two ticks", async () => {
  const { state, pass } = setUp();
  await pass(12_000);
  state.lost = ["run-1"];
  await pass(63_000);
  expect(state.queued).toEqual(["run-1"]);
});

it("the rescuer announces the runs that it ends: those that lost too many workers, and those that were cancelled", async () => {
  const { state, pass } = setUp();
  Object.assign(state, { lost: ["a", "b", "c"], buried: ["a"], stopped: ["b"] });
  await pass(3_000);
  const ended = state.emitted.flatMap((event) => (isRunEnd(event) ? [[event.runId, event.type]] : []));
  expect(ended).toEqual([
    ["a", "run.failed"],
    ["b", "run.cancelled"],
  ]);
});

it("the rescuer ends cancelled runs that another node queued again before it died", async () => {
  const { state, pass } = setUp();
  Object.assign(state, { lost: ["a"], stopped: ["a"], isLocked: true });
  await pass(3_000);
  expect(state.emitted).toMatchObject([{ type: "run.cancelled", runId: "a" }]);
  expect(state.queued).toEqual([]);
});

it("the rescuer announces each worker that it declares dead once, with the runs that it left", async () => {
  const { state, pass } = setUp();
  await pass(30_000);
  Object.assign(state, { dead: ["b", "c"], lost: ["run-1", "run-2"], session: "b", sessions: ["a"] });
  await pass(30_000);
  expect(state.emitted.filter((event) => event.type === "worker.lost")).toEqual([
    { type: "worker.lost", namespaceId: 1, workerId: "b", worker: "worker b", runs: 2 },
    { type: "worker.lost", namespaceId: 1, workerId: "c", worker: "worker c", runs: 0 },
  ]);
});

it("the rescuer announces a dead worker later when its runs could not be read at first", async () => {
  const { state, pass } = setUp();
  await pass(30_000);
  Object.assign(state, { dead: ["b"], lost: ["run-1"], session: "b", isAway: true });
  await expect(pass(3_000)).rejects.toThrow("the database is away");
  state.isAway = false;
  await pass(30_000);
  expect(state.emitted.filter((event) => event.type === "worker.lost")).toMatchObject([{ workerId: "b", runs: 1 }]);
});
