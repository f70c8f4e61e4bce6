import { describe, expect, it } from "vitest";
import { parseCalendar, readCalendar } from "../../../src/calendar/parse-calendar.js";
import { CarillonError } from "../../../src/errors/carillon-error.js";

const problemsOf = (rules: unknown, more: object = {}) =>
  parseCalendar({ name: "office", rules, ...more }).problems.map(({ pointer, detail }) => `${pointer}: ${detail}`);

describe("a calendar's JSON", () => {
  it("is read with weekdays, dates, ranges, yearly dates, holidays and imported dates", () => {
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
    ["a day that does not exist", "2026-02-30", '"2026-02-30" is a day that does not exist'],
    ["a yearly day that does not exist", "02-30", '"02-30" is a day that does not exist'],
    ["a range that runs backwards", "2026-02-02/2026-02-01", "runs backwards: write the earlier day first"],
    [
      "a range with a year on one side",
      "12-24/2027-01-01",
      '"12-24" has no year but the other end of the range has one',
    ],
    ["something else", "tomorrow", '"tomorrow" is not a date: write "2026-12-24"'],
    ["a number", 20_260_101, '"20260101" is not a date'],
    ["two slashes", "2026-01-01/2026-01-02/2026-01-03", 'more than one "/"'],
  ])("is refused for %s among its dates, with what would be right", (_, entry, message) => {
    const [problem = ""] = problemsOf([{ dates: ["2026-01-01", entry] }]);
    expect(problem).toMatch(/^\/rules\/0\/dates\/1: /);
    expect(problem).toContain(message);
  });

  it.each([
    [[{ weekdays: ["SA"] }], '/rules/0/weekdays/0: "SA" is not a weekday: use SUN, MON, TUE, WED, THU, FRI, SAT'],
    [[{ weekdays: [] }], "/rules/0/weekdays: weekdays is a list"],
    [[{ dates: [] }], "/rules/0/dates: dates is a list of 1 to 10000 dates"],
    [[{ weekday: ["SAT"] }], "/rules/0: a rule is an object with exactly one of weekdays, dates, holidays, icalendar"],
    [[{ weekdays: ["SAT"], dates: ["01-01"] }], "/rules/0: a rule is an object with exactly one of"],
    [["SAT"], "/rules/0: a rule is an object"],
    [[], "/rules: rules is a list of 1 to 100 rules"],
    [[{ holidays: { country: "Germany" } }], "/rules/0/holidays/country: the country is its two-letter ISO 3166 code"],
    [[{ holidays: { country: "DE", region: "Bayern!" } }], "/rules/0/holidays/region: the region is the code"],
    [
      [{ holidays: { country: "DE", state: "BY" } }],
      '/rules/0/holidays/state: "state" does not exist here: use country, region, types',
    ],
    [
      [{ holidays: { country: "DE", types: ["national"] } }],
      "/rules/0/holidays/types: types is a list of some of public",
    ],
    [[{ icalendar: { dates: ["12-24"] } }], "/rules/0/icalendar/dates: imported dates carry their year"],
  ])("is refused for %j", (rules, message) => {
    expect(problemsOf(rules).join("\n")).toContain(message);
  });

  it("reports every problem at once, unknown members and the name included", () => {
    const { problems } = parseCalendar({ name: "no blanks", rules: [{ weekdays: ["XXX"] }, 5], colour: "red" });
    expect(problems.map((problem) => problem.pointer)).toEqual(["/colour", "/name", "/rules/0/weekdays/0", "/rules/1"]);
    expect(parseCalendar("weekends").problems).toHaveLength(1);
  });

  it("becomes one error with all problems as its items where a calendar is needed", () => {
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
