import { ManualClock } from "@carillon/core";
import { expect, it } from "vitest";
import { Endpoints } from "../../../src/transport/http/endpoints.js";
import type { HeartOptions } from "../../../src/transport/http/heart/heart.js";
import { HttpSession } from "../../../src/transport/http/http-session.js";
import type { Answered, Poster } from "../../../src/transport/http/post.js";
import { ServerCalls } from "../../../src/transport/http/server-calls.js";

const nothing = (): void => undefined;
const limits = { id: "wrk_1", heartbeat_ms: 3_000, silence_ms: 15_000, poll_ms: 20_000 };
const polled = { runs: [], refused: [], stops: [], lost: [], drain: false, leave: false };
const success = { kind: "succeeded", outputJson: "1" } as const;

/** A session over a server that answers polls when the test says what, and whose heart says what the test says. */
function setUp(registered: ConstructorParameters<typeof HttpSession>[0]["registered"]) {
  const clock = new ManualClock();
  const heart = { options: {} as HeartOptions, acknowledged: 0, isHolding: false, polls: 0 };
  const unheardAt: number[] = [];
  let answer: (text: string) => void = nothing;
  const poster: Poster = {
    post(url, json) {
      if (!url.endsWith(":poll") || json.includes("results")) {
        const text = JSON.stringify({ ...polled, lost: [] });
        return Promise.resolve({ status: 200, text });
      }
      return new Promise<Answered>((resolve) => {
        answer = (text) => resolve({ status: 200, text });
      });
    },
    close: nothing,
  };
  const session = new HttpSession({
    registered,
    calls: new ServerCalls(poster, new Endpoints(["http://a"])),
    events: {
      onAssign: nothing,
      onStop: nothing,
      onLost: nothing,
      onUnheard: () => void unheardAt.push(clock.monotonic()),
      onDrain: nothing,
      onFailure: nothing,
    },
    timers: {
      setTimeout: (callback, delayMs) => clock.setTimeout(callback, delayMs),
      clearTimeout: (timer) => clock.clearTimeout(timer),
      monotonic: () => clock.monotonic(),
      soon: (work) => void Promise.resolve().then(work),
    },
    random: () => 0.5,
    urls: ["http://a"],
    heart(options) {
      heart.options = options;
      return {
        get acknowledged() {
          return heart.acknowledged;
        },
        hold: (isHolding) => void (heart.isHolding = isHolding),
        polled: () => void heart.polls++,
        stop: nothing,
      };
    },
  });
  session.start();
  const bring = async (...runIds: string[]): Promise<void> => {
    answer(JSON.stringify({ ...polled, runs: runIds.map((id) => ({ run_id: id, fence: 1 })) }));
    await clock.advanceAsync(0);
  };
  return { clock, session, heart, unheardAt, bring };
}

it("a worker without runs is not alarmed by signs of life that are seldom or fail; one with runs is, from when they came", async () => {
  const { clock, unheardAt, bring } = setUp({ ...limits, idle_heartbeat_ms: 7_500 });
  await clock.advanceAsync(17_000);
  expect(unheardAt).toEqual([]);
  await bring("a");
  await clock.advanceAsync(10_000);
  expect(unheardAt).toEqual([]);
  await clock.advanceAsync(3_000);
  expect(unheardAt).toEqual([30_000]);
});

it("tells its heart of answered polls, when it has runs, and when the last result or the last run given back is answered for", async () => {
  const { session, heart, bring } = setUp({ ...limits, idle_heartbeat_ms: 7_500 });
  expect(heart.options).toMatchObject({ everyMs: 3_000, idleEveryMs: 7_500 });
  await bring("a", "b");
  expect(heart).toMatchObject({ isHolding: true, polls: 1 });
  await session.complete([{ runId: "a", fence: 1, startedAgoMs: 0, outcome: success }]);
  expect(heart.isHolding).toBe(true);
  await session.giveBack([{ runId: "b", fence: 1 }]);
  expect(heart.isHolding).toBe(false);
});

it("beats as often without runs as with some where a server of an older version does not say otherwise", () => {
  const { heart } = setUp(limits);
  expect(heart.options).toMatchObject({ everyMs: 3_000, idleEveryMs: 3_000 });
});
