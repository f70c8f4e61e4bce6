import { ManualClock } from "@carillon/core";
import { expect, it } from "vitest";
import { maxAnswerChars } from "../../../src/dispatch/claims/batch-size.js";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import { RemoteWorkers } from "../../../src/dispatch/remote/remote-workers.js";
import type { Assigned, WorkerRegistration } from "../../../src/dispatch/sessions/worker-registration.js";
import { dispatchContext } from "../../harness/dispatch-context.js";

const worker = { namespace: "default", name: "w", queues: ["default"], tasks: ["echo"], slots: 1 };

/** Remote workers over a gateway that assigns runs only when the test does. */
function setUp() {
  const clock = new ManualClock();
  let registered: WorkerRegistration | null = null;
  const held = new Set<string>();
  const forgotten: string[] = [];
  const gateway: Partial<Gateway> = {
    sessions: { find: () => ({ held }) } as never,
    open: async (registration) => {
      registered = registration;
      return "session";
    },
    notHeld: async () => [],
    resume: () => undefined,
    pause: async () => undefined,
    rest: () => undefined,
    forget: (id) => void forgotten.push(id),
    complete: async (_, completions) => {
      for (const { runId } of completions) held.delete(runId);
      return new Set(completions.map(({ runId }) => runId));
    },
  };
  const context = dispatchContext({ clock, timers: clock, now: () => clock.now() });
  const remote = new RemoteWorkers(context, gateway as Gateway);
  const assign = (runs: readonly Assigned[]): void => {
    for (const { runId } of runs) held.add(runId);
    registered?.onAssign(runs);
  };
  return { remote, clock, assign, forgotten, isConnected: () => registered?.isConnected?.() };
}

const run = (runId: string, payloadJson = "{}"): Assigned => ({ runId, fence: 1, payloadJson }) as Assigned;
const success = (runId: string) =>
  ({ runId, fence: 1, startedAgoMs: 0, outcome: { kind: "succeeded", outputJson: "1" } }) as const;

it("an answered poll does not prove that its worker is still connected", async () => {
  const { remote, clock, isConnected } = setUp();
  const id = await remote.register(worker);
  const polled = remote.poll(id, { completions: [], waitMs: 20_000 });
  await clock.advanceAsync(4_000);
  expect(isConnected()).toBe(true);
  await clock.advanceAsync(16_000);
  await polled;
  expect(isConnected()).toBe(false);
  await remote.heartbeat(id, {});
  expect(isConnected()).toBe(true);
});

it("a poll is answered with no more payload than an answer may have, and the last poll of a stopping worker with all of it", async () => {
  const { remote, assign } = setUp();
  const id = await remote.register(worker);
  const half = "x".repeat(maxAnswerChars / 2);
  assign([run("a", half), run("b", half), run("c"), run("d", half + half), run("e", half + half), run("f")]);
  const poll = async (isDraining = false): Promise<string[]> => {
    const { assignments } = await remote.poll(id, { completions: [], waitMs: 60_000, isDraining });
    return assignments.map(({ runId }) => runId);
  };
  expect(await poll()).toEqual(["a", "b"]);
  expect(await poll()).toEqual(["c"]);
  expect(await poll(true)).toEqual(["d", "e", "f"]);
});

it("an idle worker counts as connected for two thirds of the timeout after its last heartbeat, one with runs for a third", async () => {
  const { remote, clock, assign, isConnected } = setUp();
  const id = await remote.register(worker);
  clock.advance(9_999);
  expect(isConnected()).toBe(true);
  clock.advance(1);
  expect(isConnected()).toBe(false);

  assign([run("a")]);
  await remote.poll(id, { completions: [], held: [{ runId: "a", fence: 1 }], waitMs: 0 });
  clock.advance(4_999);
  expect(isConnected()).toBe(true);
  clock.advance(1);
  expect(isConnected()).toBe(false);

  await remote.poll(id, { completions: [success("a")], waitMs: 0 });
  clock.advance(9_999);
  expect(isConnected()).toBe(true);
});

it("an idle worker that freezes counts as connected for a third of the timeout after it was assigned runs, and not longer when assigned more", async () => {
  const { remote, clock, assign, isConnected } = setUp();
  const id = await remote.register(worker);
  const polled = remote.poll(id, { completions: [], waitMs: 20_000 });
  await clock.advanceAsync(9_000);
  assign([run("a")]);
  await polled;
  await clock.advanceAsync(4_000);
  assign([run("b")]);
  expect(isConnected()).toBe(true);
  await clock.advanceAsync(1_000);
  expect(isConnected()).toBe(false);
});

it("a worker with runs that freezes does not count as connected for longer when it is assigned more", async () => {
  const { remote, clock, assign, isConnected } = setUp();
  const id = await remote.register(worker);
  assign([run("a")]);
  await remote.heartbeat(id, { held: [{ runId: "a", fence: 1 }] });
  clock.advance(4_000);
  assign([run("b")]);
  clock.advance(1_000);
  expect(isConnected()).toBe(false);
});

it("a disconnected worker does not count as connected because it is assigned runs", async () => {
  const { remote, clock, assign, isConnected } = setUp();
  const id = await remote.register(worker);
  clock.advance(10_000);
  assign([run("a")]);
  expect(isConnected()).toBe(false);

  await remote.poll(id, { completions: [success("a")], waitMs: 0 });
  const gone = new AbortController();
  const polled = remote.poll(id, { completions: [], waitMs: 20_000, signal: gone.signal });
  await clock.advanceAsync(0);
  expect(isConnected()).toBe(true);
  gone.abort();
  await polled;
  expect(isConnected()).toBe(false);
  assign([run("b")]);
  expect(isConnected()).toBe(false);
});

it("a worker whose connection breaks after it was assigned runs counts as disconnected", async () => {
  const { remote, clock, assign, isConnected } = setUp();
  const id = await remote.register(worker);
  const gone = new AbortController();
  const polled = remote.poll(id, { completions: [], waitMs: 20_000, signal: gone.signal });
  await clock.advanceAsync(6_000);
  assign([run("a")]);
  expect(isConnected()).toBe(true);
  gone.abort();
  await polled;
  expect(isConnected()).toBe(false);
});

it("a worker that does not poll is forgotten once it counts as disconnected", async () => {
  const { remote, clock, forgotten } = setUp();
  const id = await remote.register(worker);
  clock.advance(9_999);
  remote.forgetDisconnected();
  expect(forgotten).toEqual([]);
  clock.advance(1);
  remote.forgetDisconnected();
  expect(forgotten).toEqual([id]);
});
