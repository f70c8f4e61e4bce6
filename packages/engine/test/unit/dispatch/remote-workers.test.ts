import { ManualClock } from "@carillon/core";
import { expect, it } from "vitest";
import { mostChars } from "../../../src/dispatch/claims/answer-weight.js";
import type { Assigned } from "../../../src/dispatch/sessions/to-assignment.js";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import { RemoteWorkers } from "../../../src/dispatch/remote/remote-workers.js";
import type { WorkerRegistration } from "../../../src/dispatch/sessions/worker-registration.js";

const worker = { namespace: "default", name: "w", queues: ["default"], tasks: ["echo"], slots: 1 };

/** Remote workers over a gateway that has nothing for them. */
function setUp() {
  const clock = new ManualClock();
  let registered: WorkerRegistration | null = null;
  const held = new Set<string>();
  const forgotten: string[] = [];
  const gateway: Partial<Gateway> = {
    open: async (registration) => {
      registered = registration;
      return "session";
    },
    notHeld: async () => [],
    resume: () => undefined,
    pause: async () => undefined,
    rest: () => undefined,
    heldCount: () => held.size,
    forget: (id) => void forgotten.push(id),
    complete: async (_, completions) => {
      for (const { runId } of completions) held.delete(runId);
      return new Set(completions.map(({ runId }) => runId));
    },
  };
  const remote = new RemoteWorkers({
    gateway: gateway as Gateway,
    claims: {} as never,
    sessions: {} as never,
    clock,
    timers: clock,
    now: () => clock.now(),
    silenceMs: 15_000,
  });
  const assign = (runs: readonly Assigned[]): void => {
    for (const { runId } of runs) held.add(runId);
    registered?.onAssign(runs);
  };
  return { remote, clock, assign, forgotten, isSaidToLive: () => registered?.isHeard?.() };
}

const run = (runId: string, payloadJson = "{}"): Assigned => ({ runId, fence: 1, payloadJson }) as Assigned;
const success = (runId: string) =>
  ({ runId, fence: 1, startedAgoMs: 0, outcome: { kind: "succeeded", outputJson: "1" } }) as const;

it("a poll that is answered says nothing of a worker that may be gone without a word", async () => {
  const { remote, clock, isSaidToLive } = setUp();
  const id = await remote.register(worker);
  const polled = remote.poll(id, { completions: [], waitMs: 20_000 });
  await clock.advanceAsync(4_000);
  expect(isSaidToLive()).toBe(true);
  await clock.advanceAsync(16_000);
  await polled;
  expect(isSaidToLive()).toBe(false);
  await remote.hear(id, {});
  expect(isSaidToLive()).toBe(true);
});

it("answers polls with no more payload than an answer may have, the rest at once with the next; who stops is told of all", async () => {
  const { remote, assign } = setUp();
  const id = await remote.register(worker);
  const half = "x".repeat(mostChars / 2);
  assign([run("a", half), run("b", half), run("c"), run("d", half + half), run("e", half + half), run("f")]);
  const poll = async (isDraining = false): Promise<string[]> => {
    const { assignments } = await remote.poll(id, { completions: [], waitMs: 60_000, isDraining });
    return assignments.map(({ runId }) => runId);
  };
  expect(await poll()).toEqual(["a", "b"]);
  expect(await poll()).toEqual(["c"]);
  expect(await poll(true)).toEqual(["d", "e", "f"]);
});

it("one that has nothing is said to live for two thirds of the limit after its last word, one that has runs for a third", async () => {
  const { remote, clock, assign, isSaidToLive } = setUp();
  const id = await remote.register(worker);
  clock.advance(9_999);
  expect(isSaidToLive()).toBe(true);
  clock.advance(1);
  expect(isSaidToLive()).toBe(false);

  assign([run("a")]);
  await remote.poll(id, { completions: [], held: [{ runId: "a", fence: 1 }], waitMs: 0 });
  clock.advance(4_999);
  expect(isSaidToLive()).toBe(true);
  clock.advance(1);
  expect(isSaidToLive()).toBe(false);

  await remote.poll(id, { completions: [success("a")], waitMs: 0 });
  clock.advance(9_999);
  expect(isSaidToLive()).toBe(true);
});

it("one that froze while it had nothing is said to live for a third of the limit after it was given runs, and for no more when given others", async () => {
  const { remote, clock, assign, isSaidToLive } = setUp();
  const id = await remote.register(worker);
  const polled = remote.poll(id, { completions: [], waitMs: 20_000 });
  await clock.advanceAsync(9_000);
  assign([run("a")]);
  await polled;
  await clock.advanceAsync(4_000);
  assign([run("b")]);
  expect(isSaidToLive()).toBe(true);
  await clock.advanceAsync(1_000);
  expect(isSaidToLive()).toBe(false);
});

it("one that has runs and froze is not said to live for longer when it is given more", async () => {
  const { remote, clock, assign, isSaidToLive } = setUp();
  const id = await remote.register(worker);
  assign([run("a")]);
  await remote.hear(id, { held: [{ runId: "a", fence: 1 }] });
  clock.advance(4_000);
  assign([run("b")]);
  clock.advance(1_000);
  expect(isSaidToLive()).toBe(false);
});

it("one that is not said to live is not said so because it is given runs: neither after its silence nor after its connection broke", async () => {
  const { remote, clock, assign, isSaidToLive } = setUp();
  const id = await remote.register(worker);
  clock.advance(10_000);
  assign([run("a")]);
  expect(isSaidToLive()).toBe(false);

  await remote.poll(id, { completions: [success("a")], waitMs: 0 });
  const gone = new AbortController();
  const polled = remote.poll(id, { completions: [], waitMs: 20_000, signal: gone.signal });
  await clock.advanceAsync(0);
  expect(isSaidToLive()).toBe(true);
  gone.abort();
  await polled;
  expect(isSaidToLive()).toBe(false);
  assign([run("b")]);
  expect(isSaidToLive()).toBe(false);
});

it("one whose connection breaks after it was given runs is not said to live any more", async () => {
  const { remote, clock, assign, isSaidToLive } = setUp();
  const id = await remote.register(worker);
  const gone = new AbortController();
  const polled = remote.poll(id, { completions: [], waitMs: 20_000, signal: gone.signal });
  await clock.advanceAsync(6_000);
  assign([run("a")]);
  expect(isSaidToLive()).toBe(true);
  gone.abort();
  await polled;
  expect(isSaidToLive()).toBe(false);
});

it("one that does not poll is forgotten when it is not said to live any more, not before", async () => {
  const { remote, clock, forgotten } = setUp();
  const id = await remote.register(worker);
  clock.advance(9_999);
  remote.tidy();
  expect(forgotten).toEqual([]);
  clock.advance(1);
  remote.tidy();
  expect(forgotten).toEqual([id]);
});
