import {
  checkCalendar,
  compileCalendar,
  compileSchedule,
  formatCivilDay,
  type Holiday,
  type HolidayType,
  type HolidaySource,
  readCalendar,
} from "@carillon/core";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { HolidayTable } from "../../../src/calendars/holiday-table.js";
import { loadHolidays, PackageHolidays } from "../../../src/calendars/public-holidays.js";

/** The package is one of the checking tools; this file has its name, so it is run where they are installed. */
const findInTools = (): unknown =>
  createRequire(new URL("../../../../../tools/package.json", import.meta.url))("date-holidays");
const allTypes: readonly HolidayType[] = ["public", "bank", "optional", "school", "observance"];
const fromPackage = new PackageHolidays(findInTools() as ConstructorParameters<typeof PackageHolidays>[0]);
const source: HolidaySource = loadHolidays(findInTools);

const publicDays = (country: string, region: string | undefined, year: number) =>
  source
    .holidays(region === undefined ? { country } : { country, region }, year, ["public"])
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
    const eve = source
      .holidays({ country: "DE" }, 2026, allTypes)
      .filter(({ day }) => formatCivilDay(day) === "2026-12-24");
    expect(eve).toEqual([]);
  });

  it("computes the holidays of a place and year once", () => {
    for (const year of [2030, 2050])
      expect(source.holidays({ country: "FR" }, year, ["public"])).toBe(
        source.holidays({ country: "fr" }, year, ["public"]),
      );
  });

  it.each([
    ["the table", loadHolidays(() => null)],
    ["the package", loadHolidays(findInTools)],
  ])("refuses an unknown place, and names the known ones, with %s", (_name, known) => {
    const problem = (country: string, region?: string): string | undefined =>
      known.problemWith(region === undefined ? { country } : { country, region }, ["public"])?.message;
    expect(problem("DE", "BY")).toBeUndefined();
    expect(problem("us", "la-no")).toBeUndefined();
    expect(problem("XX")).toMatch(/no holidays for the country "XX": use one of AD, AE, .*ZW$/);
    expect(problem("DE", "ZZ")).toMatch(/region "ZZ" of DE: use one of .*BW.*BY/);
    expect(problem("DE", "BY-ZZ")).toMatch(/region "BY-ZZ" of DE: use one of A/);
    expect(problem("VA", "X")).toContain("leave the region out");
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
    expect(days[6]).toEqual({
      date: "2026-10-03",
      weekday: "Sat",
      reason: "Tag der Deutschen Einheit (National Holiday)",
    });
    const wrong = JSON.stringify({ name: "de", rules: [{ holidays: { country: "DE", region: "XY" } }] });
    expect(checkCalendar(wrong, { year: 2026, holidays: source }).problems[0]?.detail).toContain('region "XY" of DE');
  });
});

describe("the table of public holidays", () => {
  const table = new HolidayTable();
  const { from, to } = table.years;

  it("has the same public holidays as the package, for every place, each in one of its years", () => {
    const places = table.countries.flatMap((country) => [
      { country },
      ...table
        .regions({ country })
        .flatMap((region) => [
          { country, region },
          ...table.regions({ country, region }).map((finer) => ({ country, region: `${region}-${finer}` })),
        ]),
    ]);
    expect(places.length).toBeGreaterThan(600);
    const byDay = (holidays: readonly Holiday[]): string[] =>
      holidays
        .filter(({ type }) => type === "public")
        .map(({ day, name, englishName }) => `${formatCivilDay(day)} ${name} ${englishName}`)
        .toSorted();
    const different = places.filter((place, index) => {
      const year = from + (index % (to - from + 1));
      return byDay(table.holidays(place, year)).join("\n") !== byDay(fromPackage.holidays(place, year)).join("\n");
    });
    expect(different).toEqual([]);
  });

  it("covers this year and the next", () => {
    const year = new Date().getUTCFullYear();
    expect({ from: from <= year, to: to > year + 1 }).toEqual({ from: true, to: true });
  });
});

describe("without the package", () => {
  const small = loadHolidays(() => null);

  it("has public holidays of the years of the table, and states which years those are", () => {
    const names = small.holidays({ country: "de", region: "by" }, 2030, ["public"]).map(({ name }) => name);
    expect(names).toContain("Heilige Drei Könige");
    expect(small.knownYears(["public"])).toMatchObject({ remedy: "npm install date-holidays" });
    expect(small.holidays({ country: "DE" }, 2099, ["public"])).toEqual([]);
  });

  it("refuses other kinds of holidays with the command that installs the package", () => {
    expect(small.problemWith({ country: "DE" }, ["public", "bank"])).toEqual({
      code: "calendar_holidays_unavailable",
      message:
        'without the package date-holidays only public holidays are known, and the rule has "bank" ones: npm install date-holidays',
    });
  });

  it("reports a package of that name that is another one", () => {
    expect(() => loadHolidays(() => ({})).problemWith({ country: "DE" }, ["bank"])).toThrow(
      "is not the one that is expected: npm install date-holidays@3",
    );
  });

  it("knows all years and kinds with the package", () => {
    expect(source.knownYears(["public"])).toBeNull();
    expect(source.problemWith({ country: "DE" }, ["school"])).toBeNull();
    expect(source.holidays({ country: "DE" }, 2099, ["public"]).length).toBeGreaterThan(8);
  });
});
