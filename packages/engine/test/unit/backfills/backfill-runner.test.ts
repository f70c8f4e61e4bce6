import { describe, expect, it } from "vitest";
import { BackfillRunner } from "../../../src/backfills/backfill-runner.js";
import type { StepReport } from "../../../src/backfills/take-step.js";
import type { DueBackfill } from "@carillon/store";
import { membershipOf } from "../../../src/cluster/coordinator.js";

const settled = { made: new Map(), queued: [], ended: [], stopped: [], entries: [], fires: [] };

/** A backfill in memory, of a job that runs one at a time: a step makes a run, and the next one waits for its end. */
function setUp({ steps, pauseMs }: { steps: number; pauseMs: number }) {
  const one: DueBackfill = { id: "backfill", jobId: "job", shard: 0 };
  const state = { now: 1_000_000, live: false, left: steps, nextStepAt: 1_000_000 };
  const runner = new BackfillRunner({
    backfills: {
      due: async (_shards, now) => (state.left > 0 && !state.live && state.nextStepAt <= now ? [one] : []),
      anyRunning: async () => state.left > 0,
    },
    steps: {
      async take(): Promise<StepReport> {
        state.left -= 1;
        state.live = true;
        state.nextStepAt = state.now + pauseMs;
        const counts = { through: 0, made: 1, passed: 0, skipped: 0, runIds: ["run"], reason: null };
        const step = { ...counts, nextStepAt: state.nextStepAt, state: state.left > 0 ? "running" : "done" } as const;
        return { backfillId: one.id, jobId: one.jobId, shard: 0, step, moved: true, settled };
      },
    },
    membership: () => membershipOf("node", new Map([[0, 1]])),
    now: () => state.now,
    onStepped: () => undefined,
    onEvent: () => undefined,
  });
  return { runner, state };
}

describe("a backfill of a job that runs one at a time", () => {
  it("goes on when its run has ended here, as fast as its rate allows and not with the next poll", async () => {
    const { runner, state } = setUp({ steps: 3, pauseMs: 1 });
    await runner.tick();
    expect(runner.idleMs).toBe(1);
    state.now += 1;
    await runner.tick();
    expect(runner.idleMs).toBe(100);
    state.live = false;
    expect(runner.hint("other")).toBe(false);
    expect(runner.hint("job")).toBe(true);
    expect(await runner.tick()).toBe(1);
  });

  it("waits for its rate where the run ended sooner, and is looked at then", async () => {
    const { runner, state } = setUp({ steps: 3, pauseMs: 50 });
    await runner.tick();
    state.now += 20;
    state.live = false;
    expect(runner.hint("job")).toBe(false);
    expect(await runner.tick()).toBe(0);
    expect(runner.idleMs).toBe(30);
    state.now += 30;
    expect(await runner.tick()).toBe(1);
  });

  it("is forgotten when nothing is left to make", async () => {
    const { runner, state } = setUp({ steps: 1, pauseMs: 1 });
    await runner.tick();
    state.now += 10;
    state.live = false;
    expect(runner.hint("job")).toBe(false);
    await runner.tick();
    expect(runner.idleMs).toBe(5_000);
  });
});
