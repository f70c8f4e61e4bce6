import { describe, expect, it } from "vitest";
import { describeSchedule } from "../../../src/describe/describe-schedule.js";
import type { ScheduleSpec } from "../../../src/schedule/spec.js";

const at = (text: string) => Date.parse(text);
const weekdays = { kind: "cron", cron: "30 9 * * MON-FRI", timeZone: "Europe/Paris" } as const;
const every = { kind: "every", anchor: at("2026-01-01T00:00Z") } as const;

const table: readonly [spec: ScheduleSpec, words: string][] = [
  [weekdays, "At 09:30 on Monday through Friday, Europe/Paris"],
  [{ ...weekdays, timeZone: "UTC" }, "At 09:30 on Monday through Friday, UTC"],
  [
    { ...weekdays, jitterMs: 90_000 },
    "At 09:30 on Monday through Friday, Europe/Paris, delayed by up to 1 minute 30 seconds",
  ],
  [
    { ...weekdays, startsAt: at("2026-05-01T00:00Z"), endsAt: at("2026-06-01T12:30:00.5Z"), maxRuns: 1 },
    "At 09:30 on Monday through Friday, Europe/Paris, from 2026-05-01T00:00:00Z, until 2026-06-01T12:30:00.500Z, at most 1 time",
  ],
  [
    { ...weekdays, calendars: { exclude: ["de-holidays", "plant"] } },
    "At 09:30 on Monday through Friday, Europe/Paris, except on days of de-holidays or plant",
  ],
  [
    { ...weekdays, calendars: { only: ["trading"], exclude: ["audit"], roll: "modified_following" } },
    "At 09:30 on Monday through Friday, Europe/Paris, only on days of trading, except on days of audit, then moved to the next open day of the month, else to the previous one",
  ],
  [
    { ...weekdays, dst: { gap: "skip", overlap: "both" } },
    "At 09:30 on Monday through Friday, Europe/Paris, not at all when the clock skips the time, at both passes when the clock repeats the time",
  ],
  [{ ...every, everyMs: 60_000 }, "Every minute, counted from 2026-01-01T00:00:00Z"],
  [{ ...every, everyMs: 900_000 }, "Every 15 minutes, counted from 2026-01-01T00:00:00Z"],
  [{ ...every, everyMs: 86_400_000 }, "Every 24 hours, counted from 2026-01-01T00:00:00Z"],
  [{ ...every, everyMs: 5_400_500 }, "Every 1 hour 30 minutes 500 milliseconds, counted from 2026-01-01T00:00:00Z"],
  [{ kind: "at", at: at("2026-05-01T09:00Z") }, "Once at 2026-05-01T09:00:00Z"],
  [{ kind: "manual" }, "Only when asked"],
  [{ kind: "after", after: [{ job: "load", on: "success" }] }, "After job load succeeds"],
  [
    {
      kind: "after",
      mode: "any",
      after: [
        { job: "a", on: "failure" },
        { job: "b", on: "finish", when: "output.ok" },
      ],
    },
    "After job a fails or job b finishes with output.ok",
  ],
];

describe("a schedule in words", () => {
  it.each(table)("describes the schedule %j", (spec, words) => {
    expect(describeSchedule(spec)).toBe(words);
  });
});
