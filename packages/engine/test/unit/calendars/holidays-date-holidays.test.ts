import {
  checkCalendar,
  compileCalendar,
  compileSchedule,
  formatCivilDay,
  type HolidaySource,
  readCalendar,
} from "@carillon/core";
import { beforeAll, describe, expect, it } from "vitest";
import { loadHolidays } from "../../../src/calendars/public-holidays.js";

let source: HolidaySource;
beforeAll(async () => {
  source = await loadHolidays();
});

const publicDays = (country: string, region: string | undefined, year: number) =>
  source
    .holidays(region === undefined ? { country } : { country, region }, year)
    .filter(({ type }) => type === "public")
    .map(({ day }) => formatCivilDay(day));

describe("holidays from date-holidays", () => {
  it("reads the holidays of Germany in 2026 that are the same in every state", () => {
    expect(publicDays("DE", undefined, 2026)).toEqual([
      "2026-01-01",
      "2026-04-03",
      "2026-04-06",
      "2026-05-01",
      "2026-05-14",
      "2026-05-25",
      "2026-10-03",
      "2026-12-25",
      "2026-12-26",
    ]);
  });

  it("reads the holidays of a region: Epiphany, Corpus Christi and All Saints in Bavaria, 8 August in Augsburg", () => {
    const germany = publicDays("DE", undefined, 2026);
    const bavaria = publicDays("DE", "BY", 2026);
    expect(bavaria.filter((day) => !germany.includes(day))).toEqual(["2026-01-06", "2026-06-04", "2026-11-01"]);
    expect(publicDays("de", "by-a", 2026).filter((day) => !bavaria.includes(day))).toContain("2026-08-08");
  });

  it("reads the substitute days of the United States", () => {
    const days = publicDays("US", undefined, 2026);
    // 4 July 2026 is a Saturday: the Friday before is off as well.
    expect(days).toEqual(
      expect.arrayContaining(["2026-01-19", "2026-05-25", "2026-07-03", "2026-07-04", "2026-11-26", "2026-12-25"]),
    );
    expect(days).not.toContain("2026-02-14");
  });

  it("closes every day of a holiday of several days, and no day of an afternoon off", () => {
    const arabia = publicDays("SA", undefined, 2026);
    expect(arabia).toEqual(expect.arrayContaining(["2026-03-19", "2026-03-20", "2026-03-21", "2026-03-22"]));
    const eve = source.holidays({ country: "DE" }, 2026).filter(({ day }) => formatCivilDay(day) === "2026-12-24");
    expect(eve).toEqual([]);
  });

  it("computes the holidays of a place and year once", () => {
    expect(source.holidays({ country: "FR" }, 2030)).toBe(source.holidays({ country: "fr" }, 2030));
  });

  it("refuses an unknown place, and names the known ones", () => {
    expect(source.problemWith({ country: "DE", region: "BY" })).toBeNull();
    expect(source.problemWith({ country: "us", region: "la-no" })).toBeNull();
    expect(source.problemWith({ country: "XX" })).toContain('no holidays for the country "XX"');
    expect(source.problemWith({ country: "DE", region: "ZZ" })).toMatch(/region "ZZ" of DE: use one of .*BW.*BY/);
    expect(source.problemWith({ country: "DE", region: "BY-ZZ" })).toMatch(/region "BY-ZZ" of DE: use one of A/);
    expect(source.problemWith({ country: "VA", region: "X" })).toContain("leave the region out");
  });

  it("moves a schedule to the next business day after holidays", () => {
    const definition = readCalendar({
      name: "bavaria",
      rules: [{ weekdays: ["SAT", "SUN"] }, { holidays: { country: "DE", region: "BY" } }],
    });
    const calendars = new Map([["bavaria", compileCalendar(definition, { holidays: source })]]);
    const schedule = compileSchedule(
      {
        kind: "cron",
        cron: "0 9 L * *",
        timeZone: "Europe/Berlin",
        calendars: { exclude: ["bavaria"], roll: "modified_following" },
      },
      { jobId: "job", calendars },
    );
    const fires = schedule.between(Date.UTC(2026, 0, 1), Date.UTC(2026, 5, 15), 10);
    expect(fires.map(({ nominal }) => new Date(nominal).toISOString().slice(0, 16))).toEqual([
      "2026-01-30T08:00",
      "2026-02-27T08:00",
      "2026-03-31T07:00",
      "2026-04-30T07:00",
      "2026-05-29T07:00",
    ]);
  });

  it("lists holidays with their names in the check of a calendar", () => {
    const text = JSON.stringify({ name: "de", rules: [{ holidays: { country: "DE" } }] });
    const { days } = checkCalendar(text, { year: 2026, holidays: source });
    expect(days[6]).toEqual({ date: "2026-10-03", weekday: "Sat", reason: "Tag der Deutschen Einheit" });
    const wrong = JSON.stringify({ name: "de", rules: [{ holidays: { country: "DE", region: "XY" } }] });
    expect(checkCalendar(wrong, { year: 2026, holidays: source }).problems[0]?.detail).toContain('region "XY" of DE');
  });
});

describe("without the package", () => {
  it("names the package to install if date-holidays is missing", async () => {
    const missing = () => Promise.reject(new Error("Cannot find package 'date-holidays'"));
    await expect(loadHolidays(missing)).rejects.toMatchObject({
      code: "calendar_holidays_unavailable",
      message: expect.stringContaining("npm install date-holidays"),
    });
    await expect(loadHolidays(() => Promise.resolve({}))).rejects.toMatchObject({
      code: "calendar_holidays_unavailable",
    });
  });
});
