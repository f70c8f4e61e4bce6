import { describe, expect, it } from "vitest";
import { readCalendar } from "../../../src/calendar/calendar-json.js";
import { compileCalendar } from "../../../src/calendar/calendar.js";
import { compileOpenDays, rollDay } from "../../../src/calendar/open-days.js";
import type { CalendarRule, Roll } from "../../../src/schedule/spec.js";
import { formatCivilDay, parseCivilDay } from "../../../src/zone/civil.js";

const day = (text: string) => parseCivilDay(text) ?? Number.NaN;
const calendarOf = (name: string, rules: unknown) => [name, compileCalendar(readCalendar({ name, rules }))] as const;
const calendars = new Map([
  calendarOf("weekends", [{ weekdays: ["SAT", "SUN"] }]),
  calendarOf("may", [{ dates: ["2026-05-01/2026-05-31"] }]),
  calendarOf("bridge", [{ dates: ["2026-05-01", "2026-05-29"] }]),
  calendarOf("june", [{ dates: ["2026-06-01/2026-06-30"] }]),
  calendarOf("years", [{ dates: ["2026-01-01/2028-12-31"] }]),
]);

describe("open days", () => {
  it("open days are all days except those of an excluded calendar", () => {
    const open = compileOpenDays({ exclude: ["weekends", "bridge"] }, calendars);
    const dates = ["2026-04-30", "2026-05-01", "2026-05-02", "2026-05-04"];
    expect(dates.filter((date) => open.isOpen(day(date)))).toEqual(["2026-04-30", "2026-05-04"]);
    expect(dates.map((date) => open.closedBy(day(date))?.name)).toEqual([undefined, "bridge", "weekends", undefined]);
  });

  it("open days are the days of a calendar of `only`, without the excluded ones", () => {
    const open = compileOpenDays({ only: ["may", "june"], exclude: ["weekends"] }, calendars);
    const dates = ["2026-04-30", "2026-05-01", "2026-05-02", "2026-06-30", "2026-07-01"];
    expect(dates.filter((date) => open.isOpen(day(date)))).toEqual(["2026-05-01", "2026-06-30"]);
    expect(open.closedBy(day("2026-07-01"))?.name).toBe("may");
  });

  it("refuses a calendar that the namespace does not have, with a pointer", () => {
    expect(() => compileOpenDays({ exclude: ["weekends", "holidays"] }, calendars)).toThrow(
      expect.objectContaining({
        code: "schedule_invalid",
        items: [
          expect.objectContaining({
            pointer: "/calendars/exclude/1",
            detail: 'Calendar "holidays" does not exist in this namespace.',
          }),
        ],
      }),
    );
  });
});

describe("a roll", () => {
  const roll = (date: string, kind: Roll, rule: CalendarRule) => {
    const target = rollDay(day(date), kind, compileOpenDays(rule, calendars));
    return target === null ? null : formatCivilDay(target);
  };
  const office: CalendarRule = { exclude: ["weekends", "bridge"] };

  it("a roll keeps an open day", () => {
    expect(roll("2026-05-04", "next", office)).toBe("2026-05-04");
  });

  it("a roll moves to the next or the previous open day over several closed ones", () => {
    expect(roll("2026-05-01", "next", office)).toBe("2026-05-04");
    expect(roll("2026-05-03", "previous", office)).toBe("2026-04-30");
    expect(roll("2026-05-03", "skip", office)).toBeNull();
  });

  it("modified following stays in the month, else it moves back", () => {
    expect(roll("2026-05-09", "modified_following", office)).toBe("2026-05-11");
    // Friday 29 May to Sunday 31 May are closed: the next open day is in June.
    expect(roll("2026-05-30", "modified_following", office)).toBe("2026-05-28");
    expect(roll("2026-05-02", "modified_following", office)).toBe("2026-05-04");
  });

  it("modified following moves to the month before if the whole month is closed", () => {
    expect(roll("2026-06-15", "modified_following", { exclude: ["june"] })).toBe("2026-05-31");
  });

  it("a roll loses the fire without an open day within 366 days", () => {
    expect(roll("2027-12-31", "next", { exclude: ["years"] })).toBeNull();
    expect(roll("2028-01-01", "next", { exclude: ["years"] })).toBe("2029-01-01");
    expect(roll("2027-01-01", "previous", { exclude: ["years"] })).toBe("2025-12-31");
    expect(roll("2027-01-02", "previous", { exclude: ["years"] })).toBeNull();
  });
});
