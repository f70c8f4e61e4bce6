import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { quietYear, usualYear } from "./draw/plan.js";
import { dayMs, yearStart } from "./draw/year.js";
import { judgeYear } from "./oracle/judge-year.js";
import { liveAYear } from "./world/live-a-year.js";

/** The seed of all property tests; `npm run properties` tries others. */
const seed = fc.readConfigureGlobal().seed ?? 1;
/** On a machine that is busy with other tests. */
const timeout = 180_000;

describe("a simulated year", () => {
  it(
    "of 1,000 random schedules has one run or one entry of the ledger for each occurrence, none early and none invented, whatever fails [INV-1] [INV-2] [INV-3] [INV-5] [INV-9] [INV-11]",
    async () => {
      const record = await liveAYear({ seed, jobs: 1_000, incidents: usualYear, losesHints: true });
      const verdict = judgeYear(record);
      expect(verdict.report).toBe("");
      expect(record.lives.size).toBe(1_000);
      expect(verdict.runs).toBeGreaterThan(50_000);
      expect(verdict.inLedger).toBeGreaterThan(5_000);
      // A year in which no fault bit would show nothing.
      const bites = [
        "refused due.fire",
        "refused due.settle",
        "refused due.pass",
        "run.late",
        "run.blocked",
        "job.quarantined",
      ];
      expect(bites.filter((bite) => !record.seen.has(bite))).toEqual([]);
      const reasons = new Set(record.ledger.map((range) => range.reason));
      const expected = ["missed", "overlap", "window", "calendar", "merged", "paused"] as const;
      expect(expected.filter((reason) => !reasons.has(reason))).toEqual([]);
    },
    timeout,
  );

  it(
    "in which nothing fails has a run for each occurrence at its time, but for what policies leave out [INV-11]",
    async () => {
      const record = await liveAYear({ seed, jobs: 150, incidents: quietYear });
      const verdict = judgeYear(record);
      expect(verdict.report).toBe("");
      // A roll brings occurrences together that the jitter lets overtake one another: they take their turns.
      const isInTurn = ({ jobId }: { readonly jobId: string | null }): boolean => {
        const schedule = record.lives.get(jobId ?? "")?.drawn.spec.schedule;
        return schedule !== undefined && !("jitterMs" in schedule && (schedule.calendars?.roll ?? "skip") !== "skip");
      };
      const made = [...record.live, ...record.ended.map((one) => one.run)].filter(isInTurn);
      const runs = made.filter((run) => run.runAt < record.judgedTo);
      expect(runs.length).toBeGreaterThan(5_000);
      expect(runs.filter((run) => run.createdAt > run.runAt)).toEqual([]);
      const reasons = new Set(record.ledger.filter(isInTurn).map((range) => range.reason));
      for (const reason of ["missed", "window", "paused", "superseded"]) expect(reasons).not.toContain(reason);
    },
    timeout,
  );

  it(
    "is lived again in the same way under the same seed, and in another way under another",
    async () => {
      const live = async (under: number): Promise<string> => {
        const endsAt = yearStart + 40 * dayMs;
        const { live: runs, ended, ledger } = await liveAYear({ seed: under, jobs: 60, incidents: usualYear, endsAt });
        return JSON.stringify([runs, ended, ledger]);
      };
      const first = await live(seed);
      expect(await live(seed)).toBe(first);
      expect(await live(seed + 1)).not.toBe(first);
    },
    timeout,
  );
});
