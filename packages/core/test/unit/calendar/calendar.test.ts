import { describe, expect, it } from "vitest";
import { readCalendar } from "../../../src/calendar/calendar-json.js";
import { compileCalendar } from "../../../src/calendar/calendar.js";
import type { Holiday, HolidaySource } from "../../../src/calendar/definition.js";
import { parseCivilDay } from "../../../src/zone/civil.js";

const day = (text: string) => parseCivilDay(text) ?? Number.NaN;

/** One holiday a year in the country "XA"; counts the calls. */
function fakeHolidays(): HolidaySource & { readonly asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    problemWith: ({ country }) =>
      country === "XA" ? null : { code: "calendar_invalid", message: `there is no country "${country}"` },
    knownYears: () => null,
    holidays: (_, year, types) => {
      asked.push(year);
      const all: readonly Holiday[] = [
        { day: day(`${year}-05-05`), name: "Glockentag", englishName: "Bell Day", type: "public" },
        { day: day(`${year}-06-06`), name: "Bank Day", englishName: "Bank Day", type: "bank" },
      ];
      return all.filter(({ type }) => types.includes(type));
    },
  };
}

function includes(rules: unknown, dates: string[], holidays?: HolidaySource): string[] {
  const calendar = compileCalendar(readCalendar({ name: "one", rules }), holidays === undefined ? {} : { holidays });
  return dates.filter((date) => calendar.includes(day(date)));
}

describe("a calendar", () => {
  it("a calendar contains its weekdays", () => {
    const week = ["2026-11-13", "2026-11-14", "2026-11-15", "2026-11-16"];
    expect(includes([{ weekdays: ["SAT", "SUN"] }], week)).toEqual(["2026-11-14", "2026-11-15"]);
  });

  it("a calendar contains single dates and ranges with both ends, also over the new year", () => {
    const dates = ["2026-12-23", "2026-12-24", "2026-12-31", "2027-01-01", "2027-01-02", "2027-12-24"];
    expect(includes([{ dates: ["2026-12-24/2027-01-01"] }], dates)).toEqual(dates.slice(1, 4));
  });

  it("a calendar contains yearly dates in every year, 29 February in leap years only", () => {
    const dates = ["2027-02-28", "2027-03-01", "2028-02-28", "2028-02-29", "2028-03-01"];
    expect(includes([{ dates: ["02-29"] }], dates)).toEqual(["2028-02-29"]);
    expect(includes([{ dates: ["02-28/02-29"] }], dates)).toEqual(["2027-02-28", "2028-02-28", "2028-02-29"]);
    expect(includes([{ dates: ["02-29/03-01"] }], dates)).toEqual(["2027-03-01", "2028-02-29", "2028-03-01"]);
  });

  it("a calendar contains yearly ranges over the new year", () => {
    const dates = ["2026-01-01", "2026-01-02", "2026-12-23", "2026-12-24", "2026-12-31"];
    expect(includes([{ dates: ["12-24/01-01"] }], dates)).toEqual(["2026-01-01", "2026-12-24", "2026-12-31"]);
  });

  it("a calendar is the union of its rules and gives the reason for a day", () => {
    const rules = [
      { weekdays: ["SAT"] },
      { dates: ["2026-05-01"] },
      { holidays: { country: "XA" } },
      { icalendar: { source: "party.ics", dates: ["2026-07-07"] } },
    ];
    const calendar = compileCalendar(readCalendar({ name: "all", rules }), { version: 3, holidays: fakeHolidays() });
    expect(
      ["2026-05-02", "2026-05-01", "2026-05-05", "2026-07-07", "2026-05-04"].map((date) => calendar.reason(day(date))),
    ).toEqual(["Saturday", "listed date", "Glockentag (Bell Day)", "party.ics", null]);
    expect(calendar.version).toBe(3);
  });

  it("a calendar contains the types of holidays that it names, by default public ones", () => {
    const dates = ["2026-05-05", "2026-06-06"];
    expect(includes([{ holidays: { country: "XA" } }], dates, fakeHolidays())).toEqual(["2026-05-05"]);
    expect(includes([{ holidays: { country: "XA", types: ["bank"] } }], dates, fakeHolidays())).toEqual(["2026-06-06"]);
  });

  it("a calendar reads its source once for each year", () => {
    const source = fakeHolidays();
    const rules = [{ holidays: { country: "XA" } }];
    const calendar = compileCalendar(readCalendar({ name: "xa", rules }), { holidays: source });
    expect(source.asked).toEqual([]);
    for (let one = day("2026-01-01"); one <= day("2027-12-31"); one += 1) calendar.includes(one);
    expect(source.asked).toEqual([2026, 2027]);
  });

  it("refuses a calendar with holidays of an unknown place, or without a source", () => {
    const definition = readCalendar({ name: "de", rules: [{ holidays: { country: "DE" } }] });
    expect(() => compileCalendar(definition)).toThrow(
      expect.objectContaining({ code: "calendar_holidays_unavailable" }),
    );
    expect(() => compileCalendar(definition, { holidays: fakeHolidays() })).toThrow(
      'Calendar "de": there is no country "DE"',
    );
  });
});
