import { formatCalendarRules, readCalendar } from "@carillon/core";
import { expect, it } from "vitest";

it("writes a calendar's rules in the form that is read", () => {
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
