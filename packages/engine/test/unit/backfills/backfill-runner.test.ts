import { describe, expect, it } from "vitest";
import { BackfillRunner } from "../../../src/backfills/backfill-runner.js";
import type { StepReport } from "../../../src/backfills/backfill-stepper.js";
import type { BackfillStore, DueBackfill } from "@carillon/store";
import { testContext } from "../../harness/test-context.js";

const applied = { made: new Map(), queued: [], ended: [], stopped: [], entries: [], fires: [] };

/** A backfill in memory, of a job that runs one at a time: a step makes a run, and the next one waits for its end. */
function setUp({ steps, pauseMs }: { steps: number; pauseMs: number }) {
  const one: DueBackfill = { id: "backfill", jobId: "job", shard: 0 };
  const state = { now: 1_000_000, live: false, left: steps, nextStepAt: 1_000_000 };
  const backfills: Pick<BackfillStore, "due" | "anyRunning"> = {
    due: async (_shards, now) => (state.left > 0 && !state.live && state.nextStepAt <= now ? [one] : []),
    anyRunning: async () => state.left > 0,
  };
  const { emit, membership, wakeups } = testContext({ shards: [0] });
  const context = { store: { backfills }, now: () => state.now, emit, membership, wakeups };
  const runner = new BackfillRunner(context, {
    async take(): Promise<StepReport> {
      state.left -= 1;
      state.live = true;
      state.nextStepAt = state.now + pauseMs;
      const counts = { through: 0, made: 1, passed: 0, skipped: 0, runIds: ["run"], reason: null };
      const step = { ...counts, nextStepAt: state.nextStepAt, state: state.left > 0 ? "running" : "done" } as const;
      return { backfillId: one.id, jobId: one.jobId, shard: 0, step, moved: true, applied };
    },
  });
  return { runner, state };
}

describe("a backfill of a job that runs one at a time", () => {
  it("takes its next step when its run ends on this node, without waiting for the next poll", async () => {
    const { runner, state } = setUp({ steps: 3, pauseMs: 1 });
    await runner.tick();
    expect(runner.idleMs).toBe(1);
    state.now += 1;
    await runner.tick();
    expect(runner.idleMs).toBe(100);
    state.live = false;
    expect(runner.runEnded("other")).toBe(false);
    expect(runner.runEnded("job")).toBe(true);
    expect(await runner.tick()).toBe(1);
  });

  it("waits for its rate if the run ends sooner", async () => {
    const { runner, state } = setUp({ steps: 3, pauseMs: 50 });
    await runner.tick();
    state.now += 20;
    state.live = false;
    expect(runner.runEnded("job")).toBe(false);
    expect(await runner.tick()).toBe(0);
    expect(runner.idleMs).toBe(30);
    state.now += 30;
    expect(await runner.tick()).toBe(1);
  });

  it("is no longer awaited when it is done", async () => {
    const { runner, state } = setUp({ steps: 1, pauseMs: 1 });
    await runner.tick();
    state.now += 10;
    state.live = false;
    expect(runner.runEnded("job")).toBe(false);
    await runner.tick();
    expect(runner.idleMs).toBe(5_000);
  });
});
