import { describe, expect, it } from "vitest";
import { checkCalendar } from "../../../src/calendar/check-calendar.js";

describe("the check of a calendar's text", () => {
  it("lists the days of the requested year with their reasons", () => {
    const text = JSON.stringify({ name: "shop", rules: [{ dates: ["12-25", "2026-05-01", "2027-05-01"] }] });
    expect(checkCalendar(text, { year: 2026 })).toEqual({
      problems: [],
      days: [
        { date: "2026-05-01", weekday: "Fri", reason: "listed date" },
        { date: "2026-12-25", weekday: "Fri", reason: "listed date" },
      ],
    });
  });

  it("reports text that is not JSON, problems of the definition, and a missing source of holidays", () => {
    expect(checkCalendar("{", { year: 2026 }).problems).toEqual([
      expect.objectContaining({
        pointer: "",
        code: "calendar_invalid",
        detail: expect.stringContaining("The calendar is not valid JSON"),
      }),
    ]);
    expect(checkCalendar('{"name":"a","rules":[{"dates":["x"]}]}', { year: 2026 }).problems).toEqual([
      expect.objectContaining({ pointer: "/rules/0/dates/0" }),
    ]);
    expect(checkCalendar('{"name":"a","rules":[{"holidays":{"country":"DE"}}]}', { year: 2026 }).problems).toEqual([
      expect.objectContaining({ code: "calendar_holidays_unavailable" }),
    ]);
  });
});
