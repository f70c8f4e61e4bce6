import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import type { HeartbeatOptions } from "../../../src/transport/http/heartbeat.js";
import { HeldClaims, HttpSession, PollTracker } from "../../../src/transport/http/http-session.js";
import { type Poster, type Reply, ServerCalls } from "../../../src/transport/http/server-calls.js";

const nothing = (): void => undefined;
const limits = { id: "wrk_1", heartbeat_ms: 3_000, timeout_ms: 15_000, poll_ms: 20_000 };
const polled = { runs: [], refused: [], stops: [], lost: [], drain: false, leave: false };
const success = { kind: "succeeded", outputJson: "1" } as const;

/** A session whose polls are answered by the test and whose heartbeats are recorded. */
function setUp(registered: ConstructorParameters<typeof HttpSession>[0]["registered"]) {
  const clock = new ManualClock();
  const heartbeat = { options: {} as HeartbeatOptions, acknowledged: 0, isHolding: false, answeredPolls: 0 };
  const disconnectedAt: number[] = [];
  let answer: (text: string) => void = nothing;
  const poster: Poster = {
    post(url, json) {
      if (!url.endsWith(":poll") || json.includes("results")) {
        const text = JSON.stringify({ ...polled, lost: [] });
        return Promise.resolve({ status: 200, text });
      }
      return new Promise<Reply>((resolve) => {
        answer = (text) => resolve({ status: 200, text });
      });
    },
    close: nothing,
  };
  const session = new HttpSession({
    registered,
    calls: new ServerCalls(poster, ["http://a"]),
    events: {
      onAssign: nothing,
      onStop: nothing,
      onLost: nothing,
      onDisconnected: () => void disconnectedAt.push(clock.monotonic()),
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
    heartbeat(options) {
      heartbeat.options = options;
      return {
        get acknowledged() {
          return heartbeat.acknowledged;
        },
        setHolding: (isHolding) => void (heartbeat.isHolding = isHolding),
        pollAnswered: () => void heartbeat.answeredPolls++,
        stop: nothing,
      };
    },
  });
  session.start();
  const assign = async (...runIds: string[]): Promise<void> => {
    answer(JSON.stringify({ ...polled, runs: runIds.map((id) => ({ run_id: id, fence: 1 })) }));
    await clock.advanceAsync(0);
  };
  return { clock, session, heartbeat, disconnectedAt, assign };
}

it("reports a lost connection only while the worker holds runs, counted from the poll that brought them", async () => {
  const { clock, disconnectedAt, assign } = setUp({ ...limits, idle_heartbeat_ms: 7_500 });
  await clock.advanceAsync(17_000);
  expect(disconnectedAt).toEqual([]);
  await assign("a");
  await clock.advanceAsync(10_000);
  expect(disconnectedAt).toEqual([]);
  await clock.advanceAsync(3_000);
  expect(disconnectedAt).toEqual([30_000]);
});

it("informs its heartbeat of answered polls, of the first run that it holds, and of the end of the last one", async () => {
  const { session, heartbeat, assign } = setUp({ ...limits, idle_heartbeat_ms: 7_500 });
  expect(heartbeat.options).toMatchObject({ everyMs: 3_000, idleEveryMs: 7_500 });
  await assign("a", "b");
  expect(heartbeat).toMatchObject({ isHolding: true, answeredPolls: 1 });
  await session.complete([{ runId: "a", fence: 1, startedAgoMs: 0, outcome: success }]);
  expect(heartbeat.isHolding).toBe(true);
  await session.giveBack([{ runId: "b", fence: 1 }]);
  expect(heartbeat.isHolding).toBe(false);
});

it("uses the normal heartbeat interval without runs when a server of an older version names no idle interval", () => {
  const { heartbeat } = setUp(limits);
  expect(heartbeat.options).toMatchObject({ everyMs: 3_000, idleEveryMs: 3_000 });
});

describe("the poll tracker", () => {
  it("reports up to which number all polls are finished, in any order of their ends", () => {
    const polls = new PollTracker();
    const [first, second] = [polls.begin(), polls.begin()];
    expect([first, second]).toMatchObject([
      { number: 1, endedUpTo: 0 },
      { number: 2, endedUpTo: 0 },
    ]);
    polls.answered(second);
    expect(polls.begin()).toMatchObject({ number: 3, endedUpTo: 0 });
    polls.answered(first);
    expect(polls.begin()).toMatchObject({ number: 4, endedUpTo: 2, listsHeld: false });
  });

  it("lists all held claims after a failed poll until a poll that started later is answered [INV-6]", () => {
    const polls = new PollTracker();
    const [lost, older] = [polls.begin(), polls.begin()];
    polls.failed(lost);
    const listing = polls.begin();
    expect(listing).toMatchObject({ endedUpTo: 1, listsHeld: true });
    polls.answered(older);
    const another = polls.begin();
    expect(another.listsHeld).toBe(true);
    polls.failed(another);
    polls.answered(listing);
    const last = polls.begin();
    expect(last).toMatchObject({ listsHeld: true });
    polls.answered(last);
    expect(polls.begin().listsHeld).toBe(false);
  });
});

describe("held claims", () => {
  it("ignores a claim that arrives again, also after it ended [INV-2]", () => {
    const held = new HeldClaims();
    const run = (fence: number) => ({ runId: "a", fence }) as Parameters<HeldClaims["take"]>[0][number];
    expect(held.take([run(1)])).toHaveLength(1);
    expect(held.take([run(1)])).toHaveLength(0);
    held.release([run(1)]);
    expect(held.take([run(1)])).toHaveLength(0);
    expect(held.take([run(2)])).toHaveLength(1);
    expect([...held]).toEqual([{ runId: "a", fence: 2 }]);
  });
});
