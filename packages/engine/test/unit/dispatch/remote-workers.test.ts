import { ManualClock } from "@carillon/core";
import { expect, it } from "vitest";
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
  return { remote, clock, isSaidToLive: () => registered?.isHeard?.() };
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
