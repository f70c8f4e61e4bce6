import { ManualClock } from "@carillon/core";
import { expect, it } from "vitest";
import { mostChars } from "../../../src/dispatch/answer-weight.js";
import type { Assigned } from "../../../src/dispatch/assignment-of.js";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import { RemoteWorkers } from "../../../src/dispatch/remote/remote-workers.js";
import type { WorkerRegistration } from "../../../src/dispatch/worker-registration.js";

const worker = { namespace: "default", name: "w", queues: ["default"], tasks: ["echo"], slots: 1 };

/** Remote workers over a gateway that has nothing for them. */
function setUp() {
  const clock = new ManualClock();
  let registered: WorkerRegistration | null = null;
  const gateway: Partial<Gateway> = {
    open: async (registration) => {
      registered = registration;
      return "session";
    },
    notHeld: async () => [],
    resume: () => undefined,
    pause: async () => undefined,
    rest: () => undefined,
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
  const assign = (runs: readonly Assigned[]): void => registered?.onAssign(runs);
  return { remote, clock, assign, isSaidToLive: () => registered?.isHeard?.() };
}

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
  const run = (runId: string, payloadJson: string): Assigned => ({ runId, fence: 1, payloadJson }) as Assigned;
  assign([
    run("a", half),
    run("b", half),
    run("c", "{}"),
    run("d", half + half),
    run("e", half + half),
    run("f", "{}"),
  ]);
  const poll = async (isDraining = false): Promise<string[]> => {
    const { assignments } = await remote.poll(id, { completions: [], waitMs: 60_000, isDraining });
    return assignments.map(({ runId }) => runId);
  };
  expect(await poll()).toEqual(["a", "b"]);
  expect(await poll()).toEqual(["c"]);
  expect(await poll(true)).toEqual(["d", "e", "f"]);
});
