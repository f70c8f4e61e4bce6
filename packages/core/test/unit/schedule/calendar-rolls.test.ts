import { describe, expect, it } from "vitest";
import { compileCalendar } from "../../../src/calendar/calendar.js";
import { readCalendar } from "../../../src/calendar/calendar-json.js";
import { compileSchedule } from "../../../src/schedule/compile-schedule.js";
import type { CronSchedule, EverySchedule, Roll } from "../../../src/schedule/spec.js";

const at = (text: string) => Date.parse(text);
const iso = (instant: number) => new Date(instant).toISOString().replace(":00.000Z", "Z");
const calendarOf = (name: string, rules: unknown) => [name, compileCalendar(readCalendar({ name, rules }))] as const;
const calendars = new Map([
  calendarOf("weekends", [{ weekdays: ["SAT", "SUN"] }]),
  calendarOf("holidays", [{ dates: ["2026-05-01", "2026-12-25", "2026-12-26"] }]),
  calendarOf("all", [{ dates: ["01-01/12-31"] }]),
  calendarOf("closing", [{ dates: ["2026-06-01/2040-12-31"] }]),
  calendarOf("seventh", [{ dates: ["2010-11-07"] }]),
  calendarOf("sixth", [{ dates: ["2010-11-06"] }]),
  calendarOf("change", [{ dates: ["2026-03-28"] }]),
]);
const compile = (spec: CronSchedule | EverySchedule) => compileSchedule(spec, { jobId: "job", calendars });
const office = (cron: string, roll?: Roll, more: Partial<CronSchedule> = {}): CronSchedule => ({
  kind: "cron",
  cron,
  timeZone: "UTC",
  calendars: { exclude: ["weekends", "holidays"], ...(roll === undefined ? {} : { roll }) },
  ...more,
});
const nominals = (spec: CronSchedule | EverySchedule, from: string, to: string) =>
  compile(spec)
    .between(at(from), at(to), 100)
    .map((fire) => iso(fire.nominal));

describe("fires on days that calendars close", () => {
  it("fires on closed days are skipped by default, and listed as removed with the reason", () => {
    const spec = office("0 9 * * *");
    expect(nominals(spec, "2026-04-30T00:00Z", "2026-05-05T00:00Z")).toEqual([
      "2026-04-30T09:00Z",
      "2026-05-04T09:00Z",
    ]);
    expect(compile(spec).removedBetween(at("2026-04-30T00:00Z"), at("2026-05-05T00:00Z"), 10)).toEqual([
      { at: at("2026-05-01T09:00Z"), notes: [{ kind: "excluded", calendar: "holidays", reason: "listed date" }] },
      { at: at("2026-05-02T09:00Z"), notes: [{ kind: "excluded", calendar: "weekends", reason: "Saturday" }] },
      { at: at("2026-05-03T09:00Z"), notes: [{ kind: "excluded", calendar: "weekends", reason: "Sunday" }] },
    ]);
  });

  it("a fire is on a closed day by the date in the zone of the schedule", () => {
    // Friday 23:30 in New York is Saturday in UTC.
    const inUtc = office("30 3 * * *");
    const inNewYork = office("30 23 * * *", undefined, { timeZone: "America/New_York" });
    expect(nominals(inUtc, "2026-06-05T12:00Z", "2026-06-08T12:00Z")).toEqual(["2026-06-08T03:30Z"]);
    expect(nominals(inNewYork, "2026-06-05T12:00Z", "2026-06-08T12:00Z")).toEqual(["2026-06-06T03:30Z"]);
  });

  it("a fire of an interval is on a closed day by the date in its zone", () => {
    const spec: EverySchedule = {
      kind: "every",
      everyMs: 12 * 3_600_000,
      anchor: at("2026-06-04T04:30Z"),
      timeZone: "America/New_York",
      calendars: { exclude: ["weekends"] },
    };
    expect(nominals(spec, "2026-06-05T00:00Z", "2026-06-09T00:00Z")).toEqual([
      "2026-06-05T04:30Z",
      "2026-06-05T16:30Z",
      "2026-06-08T04:30Z",
      "2026-06-08T16:30Z",
    ]);
  });

  it("a roll moves fires to the next or previous open day at the same wall time, with a note", () => {
    const next = compile(office("0 9 1 * *", "next")).next(at("2026-04-15T00:00Z"));
    expect([iso(next?.nominal ?? 0), next?.notes]).toEqual([
      "2026-05-04T09:00Z",
      [{ kind: "rolled", from: at("2026-05-01T09:00Z"), calendar: "holidays" }],
    ]);
    const previous = compile(office("0 9 1 * *", "previous")).next(at("2026-04-15T00:00Z"));
    expect([iso(previous?.nominal ?? 0), previous?.notes]).toEqual([
      "2026-04-30T09:00Z",
      [{ kind: "rolled", from: at("2026-05-01T09:00Z"), calendar: "holidays" }],
    ]);
  });

  it("modified following keeps fires in their month", () => {
    const spec = office("0 9 L * *", "modified_following");
    // 31 January, 28 February and 31 May 2026 are weekend days at a month's end.
    expect(nominals(spec, "2026-01-01T00:00Z", "2026-06-15T00:00Z")).toEqual([
      "2026-01-30T09:00Z",
      "2026-02-27T09:00Z",
      "2026-03-31T09:00Z",
      "2026-04-30T09:00Z",
      "2026-05-29T09:00Z",
    ]);
  });

  it("a roll merges fires that coincide into one occurrence, with a note of every origin", () => {
    const schedule = compile(office("0 9 * * *", "next"));
    const fires = schedule.between(at("2026-04-30T12:00Z"), at("2026-05-05T12:00Z"), 10);
    expect(fires.map((fire) => iso(fire.nominal))).toEqual(["2026-05-04T09:00Z", "2026-05-05T09:00Z"]);
    expect(fires[0]?.notes).toEqual([
      { kind: "merged", from: at("2026-05-01T09:00Z"), calendar: "holidays" },
      { kind: "merged", from: at("2026-05-02T09:00Z"), calendar: "weekends" },
      { kind: "merged", from: at("2026-05-03T09:00Z"), calendar: "weekends" },
    ]);
    expect(fires[1]?.notes).toEqual([]);
  });

  it("a roll merges moved fires that coincide into the earliest one", () => {
    const fire = compile(office("0 9 * * SAT,SUN", "next")).next(at("2026-06-01T00:00Z"));
    expect([iso(fire?.nominal ?? 0), fire?.notes]).toEqual([
      "2026-06-01T09:00Z",
      [
        { kind: "rolled", from: at("2026-05-30T09:00Z"), calendar: "weekends" },
        { kind: "merged", from: at("2026-05-31T09:00Z"), calendar: "weekends" },
      ],
    ]);
  });

  it("moved fires mix in order with those of their target day", () => {
    // Friday has 07:00 and 18:00 of its own; Saturday's 07:00 and 18:00, Sunday's too, move back onto them.
    expect(nominals(office("0 7,18 * * *", "previous"), "2026-06-05T00:00Z", "2026-06-08T12:00Z")).toEqual([
      "2026-06-05T07:00Z",
      "2026-06-05T18:00Z",
      "2026-06-08T07:00Z",
    ]);
    const mixed = office("0 7 6 * *", "previous", { cron: "0 7-9 5,6 6 *" });
    expect(nominals(mixed, "2026-06-01T00:00Z", "2026-07-01T00:00Z")).toEqual([
      "2026-06-05T07:00Z",
      "2026-06-05T08:00Z",
      "2026-06-05T09:00Z",
    ]);
  });

  it("moved fires land right after a gap, or are lost, according to the dst policy", () => {
    const base = { timeZone: "Europe/Paris", calendars: { exclude: ["change"], roll: "next" as const } };
    const fire = compile(office("30 2 28 3 *", undefined, base)).next(at("2026-01-01T00:00Z"));
    expect([iso(fire?.nominal ?? 0), fire?.notes]).toEqual([
      "2026-03-29T01:00Z",
      [
        { kind: "rolled", from: at("2026-03-28T01:30Z"), calendar: "change" },
        { kind: "gap", wallTime: "2026-03-29T02:30:00" },
      ],
    ]);
    const skipping = compile(office("30 2 28 3 *", undefined, { ...base, dst: { gap: "skip" } }));
    // In 2027 the clock itself skips 02:30 on 28 March.
    expect(iso(skipping.nextNominal(at("2026-01-01T00:00Z")))).toBe("2028-03-28T00:30Z");
    expect(skipping.removedBetween(at("2026-01-01T00:00Z"), at("2026-12-31T00:00Z"), 5)).toHaveLength(1);
  });

  it("a roll loses a fire without an open day within 366 days, with a note", () => {
    const schedule = compile(office("0 9 1 * *", undefined, { calendars: { exclude: ["closing"], roll: "next" } }));
    expect(iso(schedule.nextNominal(at("2026-05-02T00:00Z")))).toBe("2041-01-01T09:00Z");
    const merged = schedule.next(at("2026-05-02T00:00Z"))?.notes ?? [];
    expect(merged).toHaveLength(12);
    const [lost] = schedule.removedBetween(at("2026-05-02T00:00Z"), at("2026-06-02T00:00Z"), 1);
    expect(lost).toEqual({
      at: at("2026-06-01T09:00Z"),
      notes: [
        {
          kind: "excluded",
          calendar: "closing",
          reason: "listed date; no open day to move to within 366 days and the schedule's bounds",
        },
      ],
    });
  });

  it("a calendar that closes every day removes all fires, and the search ends immediately", () => {
    const rolls: Roll[] = ["skip", "next", "previous", "modified_following"];
    for (const roll of rolls) {
      const schedule = compile(office("* * * * * *", undefined, { calendars: { exclude: ["all"], roll } }));
      expect(schedule.nextNominal(at("2026-05-02T00:00Z"))).toBe(-1);
      expect(schedule.previousNominal(at("2026-05-02T00:00Z"))).toBe(-1);
    }
  });

  it("a schedule for every second stays in order: every second of a weekend merges into Monday's", () => {
    const schedule = compile(office("* * * * * *", "next"));
    const friday = at("2026-06-05T23:59:58Z");
    expect(
      schedule.between(friday, friday + 3 * 86_400_000, 3).map(({ nominal }) => new Date(nominal).toISOString()),
    ).toEqual(["2026-06-05T23:59:59.000Z", "2026-06-08T00:00:00.000Z", "2026-06-08T00:00:01.000Z"]);
    expect(new Date(schedule.previousNominal(at("2026-06-08T00:00:00Z"))).toISOString()).toBe(
      "2026-06-05T23:59:59.000Z",
    );
  });

  it("bounds apply to moved fires", () => {
    const endsAt = at("2026-05-02T00:00Z");
    const schedule = compile(office("0 9 1 * *", "next", { endsAt }));
    expect(schedule.next(at("2026-04-15T00:00Z"))).toBeNull();
    expect(schedule.removedBetween(at("2026-04-15T00:00Z"), at("2026-06-01T00:00Z"), 5)).toHaveLength(1);
  });
});

describe("a clock that goes back over midnight (St. John's, 7 November 2010, 00:01 to 23:01)", () => {
  const minutely = (calendar: string): CronSchedule => ({
    kind: "cron",
    cron: "0 * * * * *",
    timeZone: "America/St_Johns",
    calendars: { exclude: [calendar] },
  });
  // The 7th begins at 02:30Z for the first time; at 02:31Z it is 23:01 on the 6th again, and at 03:30Z the 7th begins again.

  it("fires in the second end of an open day, although the closed day had begun", () => {
    const schedule = compile(minutely("seventh"));
    expect(iso(schedule.nextNominal(at("2010-11-07T02:29Z")))).toBe("2010-11-07T02:31Z");
    expect(iso(schedule.previousNominal(at("2010-11-07T02:31Z")))).toBe("2010-11-07T02:29Z");
    expect(iso(schedule.nextNominal(at("2010-11-07T03:29Z")))).toBe("2010-11-08T03:30Z");
  });

  it("fires in the first beginning of an open day, although the closed day returns", () => {
    const schedule = compile(minutely("sixth"));
    expect(iso(schedule.nextNominal(at("2010-11-06T12:00Z")))).toBe("2010-11-07T02:30Z");
    expect(iso(schedule.nextNominal(at("2010-11-07T02:30Z")))).toBe("2010-11-07T03:30Z");
    expect(iso(schedule.previousNominal(at("2010-11-07T03:30Z")))).toBe("2010-11-07T02:30Z");
  });
});
