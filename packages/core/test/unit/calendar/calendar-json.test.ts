import { describe, expect, it } from "vitest";
import { formatCalendarRules, parseCalendar, readCalendar } from "../../../src/calendar/calendar-json.js";
import { CarillonError } from "../../../src/errors/carillon-error.js";

const problemsOf = (rules: unknown, more: object = {}) =>
  parseCalendar({ name: "office", rules, ...more }).problems.map(({ pointer, detail }) => `${pointer}: ${detail}`);

describe("a calendar's JSON", () => {
  it("reads a calendar with weekdays, dates, ranges, yearly dates, holidays and imported dates", () => {
    const definition = readCalendar({
      name: "office.de-BY",
      rules: [
        { weekdays: ["SAT", "sun"] },
        { dates: ["2026-12-24", "2026-08-03/2026-08-14", "12-31", "12-24/01-01"] },
        { holidays: { country: "DE", region: "BY-A" } },
        { holidays: { country: "US", types: ["public", "bank"] } },
        { icalendar: { source: "school.ics", dates: ["2026-02-07/2026-02-22"] } },
      ],
    });
    expect(definition.rules).toEqual([
      { kind: "weekdays", weekdays: [6, 0] },
      {
        kind: "dates",
        ranges: [
          { from: 20_811, to: 20_811 },
          { from: 20_668, to: 20_679 },
        ],
        yearly: [
          { from: { month: 12, day: 31 }, to: { month: 12, day: 31 } },
          { from: { month: 12, day: 24 }, to: { month: 1, day: 1 } },
        ],
      },
      { kind: "holidays", place: { country: "DE", region: "BY-A" }, types: ["public"] },
      { kind: "holidays", place: { country: "US" }, types: ["public", "bank"] },
      { kind: "icalendar", source: "school.ics", ranges: [{ from: 20_491, to: 20_506 }] },
    ]);
  });

  it.each([
    ["a day that does not exist", "2026-02-30", 'Day "2026-02-30" does not exist.'],
    ["a yearly day that does not exist", "02-30", 'Day "02-30" does not exist.'],
    ["a range that runs backwards", "2026-02-02/2026-02-01", "runs backwards; write the earlier day first."],
    [
      "a range with a year on one side",
      "12-24/2027-01-01",
      'Date "12-24" has no year, but the other end of the range has one.',
    ],
    ["something else", "tomorrow", '"tomorrow" is not a date; write "2026-12-24"'],
    ["a number", 20_260_101, '"20260101" is not a date'],
    ["two slashes", "2026-01-01/2026-01-02/2026-01-03", 'more than one "/"'],
  ])("refuses a calendar with %s among its dates, with a remedy", (_, entry, message) => {
    const [problem = ""] = problemsOf([{ dates: ["2026-01-01", entry] }]);
    expect(problem).toMatch(/^\/rules\/0\/dates\/1: /);
    expect(problem).toContain(message);
  });

  it.each([
    [[{ weekdays: ["SA"] }], '/rules/0/weekdays/0: "SA" is not a weekday: use SUN, MON, TUE, WED, THU, FRI, SAT'],
    [[{ weekdays: [] }], "/rules/0/weekdays: Weekdays are a list"],
    [[{ dates: [] }], "/rules/0/dates: Dates are a list of 1 to 10000 dates"],
    [
      [{ weekday: ["SAT"] }],
      '/rules/0/weekday: Field "weekday" does not exist; use weekdays, dates, holidays, icalendar',
    ],
    [[{ weekdays: ["SAT"], dates: ["01-01"] }], "/rules/0: A rule is an object with exactly one of"],
    [["SAT"], "/rules/0: A rule is an object"],
    [[], "/rules: Rules are a list of 1 to 100 rules"],
    [[{ holidays: { country: "Germany" } }], "/rules/0/holidays/country: The country is a two-letter ISO 3166 code"],
    [[{ holidays: { country: "DE", region: "Bayern!" } }], "/rules/0/holidays/region: The region is the code"],
    [
      [{ holidays: { country: "DE", state: "BY" } }],
      '/rules/0/holidays/state: Field "state" does not exist; use country, region, types.',
    ],
    [
      [{ holidays: { country: "DE", types: ["national"] } }],
      "/rules/0/holidays/types: Types are a list of some of public",
    ],
    [[{ icalendar: { dates: ["12-24"] } }], "/rules/0/icalendar/dates: Imported dates have a year"],
  ])("refuses a calendar with the rules %j", (rules, message) => {
    expect(problemsOf(rules).join("\n")).toContain(message);
  });

  it("reports all problems of a calendar at once, with unknown members and the name", () => {
    const { problems } = parseCalendar({ name: "no blanks", rules: [{ weekdays: ["XXX"] }, 5], colour: "red" });
    expect(problems.map((problem) => problem.pointer)).toEqual(["/colour", "/name", "/rules/0/weekdays/0", "/rules/1"]);
    expect(parseCalendar("weekends").problems).toHaveLength(1);
  });

  it("throws one error with all problems of a calendar as items", () => {
    expect(() => readCalendar({ name: "office", rules: [{ dates: ["x", "y"] }] })).toThrow(
      expect.objectContaining({
        name: "CarillonError",
        code: "calendar_invalid",
        items: [expect.anything(), expect.anything()],
      }),
    );
    expect(() => readCalendar([])).toThrow(CarillonError);
  });
});

it("writes the rules of a calendar in the form that it reads", () => {
  const rules = [
    { weekdays: ["SAT", "SUN"] },
    { dates: ["2026-05-01", "2026-12-24/2027-01-01", "12-31", "12-27/01-02", "02-29"] },
    { holidays: { country: "DE", region: "BY", types: ["public", "bank"] } },
    { holidays: { country: "FR", types: ["public"] } },
    { icalendar: { source: "school.ics", dates: ["2026-02-07/2026-02-22"] } },
  ];
  const definition = readCalendar({ name: "a", rules });
  expect(formatCalendarRules(definition)).toEqual(rules);
  expect(readCalendar({ name: "a", rules: formatCalendarRules(definition) })).toEqual(definition);
});
