import { compileCalendar, parseCivilDay, readCalendar } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { IMPORT_LIMITS, importICalendar } from "../../../src/calendars/icalendar.js";

const day = (text: string) => parseCivilDay(text) ?? Number.NaN;
const event = (...lines: string[]) => ["BEGIN:VEVENT", ...lines, "END:VEVENT"];
const file = (...lines: string[]) =>
  ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", ...lines, "END:VCALENDAR", ""].join("\r\n");
const options = { from: day("2026-01-01"), to: day("2027-12-31"), timeZone: "Europe/Berlin" };
const dates = (...events: string[][]) => importICalendar(file(...events.flat()), options).dates;

describe("an iCalendar import", () => {
  it("imports the days of all-day events; DTEND is the day after the last", () => {
    expect(
      dates(event("UID:a", "SUMMARY:Winterferien", "DTSTART;VALUE=DATE:20260202", "DTEND;VALUE=DATE:20260207")),
    ).toEqual(["2026-02-02/2026-02-06"]);
    expect(dates(event("UID:a", "DTSTART;VALUE=DATE:20260202"))).toEqual(["2026-02-02"]);
    expect(dates(event("UID:a", "DTSTART;VALUE=DATE:20260202", "DURATION:P2D"))).toEqual(["2026-02-02/2026-02-03"]);
  });

  it("imports every day that a timed event touches, but not the day at whose midnight it ends", () => {
    expect(dates(event("UID:a", "DTSTART:20260202T220000", "DTEND:20260204T000000"))).toEqual([
      "2026-02-02/2026-02-03",
    ]);
    expect(dates(event("UID:a", "DTSTART;TZID=America/New_York:20260202T233000", "DURATION:PT1H"))).toEqual([
      "2026-02-02/2026-02-03",
    ]);
    expect(dates(event("UID:a", "DTSTART:20260202T120000"))).toEqual(["2026-02-02"]);
  });

  it("converts events in UTC to the given zone, and keeps the written date of others", () => {
    expect(dates(event("UID:a", "DTSTART:20260202T233000Z", "DTEND:20260202T234500Z"))).toEqual(["2026-02-03"]);
    expect(
      dates(event("UID:a", "DTSTART;TZID=Asia/Tokyo:20260202T233000", "DTEND;TZID=Asia/Tokyo:20260202T234500")),
    ).toEqual(["2026-02-02"]);
  });

  it("expands recurring events within the range, without their exceptions", () => {
    const christmas = event("UID:x", "DTSTART;VALUE=DATE:19991225", "RRULE:FREQ=YEARLY");
    expect(dates(christmas)).toEqual(["2026-12-25", "2027-12-25"]);
    const fridays = event(
      "UID:f",
      "DTSTART;VALUE=DATE:20260206",
      "RRULE:FREQ=WEEKLY;COUNT=4",
      "EXDATE;VALUE=DATE:20260213",
      "RDATE;VALUE=DATE:20260302",
    );
    expect(dates(fridays)).toEqual(["2026-02-06", "2026-02-20", "2026-02-27", "2026-03-02"]);
  });

  it("reads UNTIL as an instant on the event's own clock", () => {
    // 22:00Z on the 3rd is 23:00 in Berlin, before the event's 23:30: the 2nd is the last.
    const late = (until: string) =>
      event("UID:u", "DTSTART;TZID=Europe/Berlin:20260201T233000", "DURATION:PT10M", `RRULE:FREQ=DAILY;UNTIL=${until}`);
    expect(dates(late("20260203T220000Z"))).toEqual(["2026-02-01/2026-02-02"]);
    expect(dates(late("20260203T223000Z"))).toEqual(["2026-02-01/2026-02-03"]);
  });

  it("moves an occurrence that another event of the file replaces, and drops cancelled ones", () => {
    const series = event("UID:s", "DTSTART;VALUE=DATE:20260302", "RRULE:FREQ=WEEKLY;COUNT=3");
    const moved = event("UID:s", "RECURRENCE-ID;VALUE=DATE:20260309", "DTSTART;VALUE=DATE:20260311");
    const cancelled = event(
      "UID:s",
      "RECURRENCE-ID;VALUE=DATE:20260316",
      "DTSTART;VALUE=DATE:20260316",
      "STATUS:CANCELLED",
    );
    expect(dates(series, moved, cancelled)).toEqual(["2026-03-02", "2026-03-11"]);
    expect(
      dates(
        event("UID:c", "DTSTART;VALUE=DATE:20260302", "STATUS:CANCELLED"),
        event("UID:d", "DTSTART;VALUE=DATE:20260401"),
      ),
    ).toEqual(["2026-04-01"]);
  });

  it("clips imported days to the range and merges adjacent ones", () => {
    const events = [
      event("UID:a", "DTSTART;VALUE=DATE:20251230", "DTEND;VALUE=DATE:20260103"),
      event("UID:b", "DTSTART;VALUE=DATE:20260103"),
      event("UID:c", "DTSTART;VALUE=DATE:20280101"),
    ];
    expect(importICalendar(file(...events.flat()), options)).toEqual({
      dates: ["2026-01-01/2026-01-03"],
      ranges: [{ from: day("2026-01-01"), to: day("2026-01-03") }],
      events: 3,
    });
  });

  it("reads folded lines, a byte order mark and several calendars in one file", () => {
    const one = file(...event("UID:a", "SUMMARY:A very long line that", "  goes on", "DTSTART;VALUE=DATE:20260501"));
    const other = file(...event("UID:b", "DTSTART;VALUE=DATE:20260601"));
    expect(importICalendar(`\uFEFF${one}${other}`, options).dates).toEqual(["2026-05-01", "2026-06-01"]);
  });

  it("returns dates that a calendar accepts", () => {
    const imported = dates(event("UID:a", "DTSTART;VALUE=DATE:20260202", "DTEND;VALUE=DATE:20260207"));
    const calendar = compileCalendar(
      readCalendar({ name: "school", rules: [{ icalendar: { source: "ferien.ics", dates: imported } }] }),
    );
    expect(calendar.includes(day("2026-02-06"))).toBe(true);
    expect(calendar.reason(day("2026-02-06"))).toBe("ferien.ics");
    expect(calendar.includes(day("2026-02-07"))).toBe(false);
  });
});

describe("an invalid iCalendar file", () => {
  const attempt = (text: string) => () => importICalendar(text, options);
  const code = (message: RegExp) =>
    expect.objectContaining({ code: "icalendar_invalid", message: expect.stringMatching(message) });

  it.each<[string, string, RegExp]>([
    ["is empty", "", /has no events/],
    ["is something else", "hello", /is not iCalendar/],
    ["is cut off", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n", /is not iCalendar: .*did not end/],
    ["has no events", file(), /has no events/],
    ["is a card", "BEGIN:VCARD\r\nVERSION:4.0\r\nEND:VCARD", /has no events/],
    ["has an event without a start", file(...event("UID:a", "SUMMARY:Picnic")), /event 1 \(Picnic\) has no DTSTART/],
    [
      "has a date that is none",
      file(...event("UID:a", "DTSTART;VALUE=DATE:20260230")),
      /event 1 \(a\) has a date that does not exist/,
    ],
    ["has nonsense for a date", file(...event("UID:a", "DTSTART:soon")), /does not exist|is not iCalendar/],
    [
      "has an event that ends early",
      file(...event("UID:a", "DTSTART:20260202T120000", "DTEND:20260202T110000")),
      /ends before it begins/,
    ],
    [
      "recurs by the hour",
      file(...event("UID:a", "DTSTART:20260202T120000", "RRULE:FREQ=HOURLY")),
      /recurs HOURLY: a calendar of days takes DAILY/,
    ],
    [
      "has a wrong rule",
      file(...event("UID:a", "DTSTART:20260202T120000", "RRULE:FREQ=WEEKLY;BYDAY=XX")),
      /is not iCalendar: invalid BYDAY/,
    ],
    [
      "has an interval beyond all years",
      file(...event("UID:a", "DTSTART:20260202T120000", "RRULE:FREQ=YEARLY;INTERVAL=99999999999")),
      /INTERVAL above 10000/,
    ],
    [
      "recurs several times a day",
      file(...event("UID:a", "DTSTART:20260202T120000", "RRULE:FREQ=DAILY;BYHOUR=9,17")),
      /several times a day/,
    ],
  ])("is refused with the reason that it %s", (_, text, message) => {
    expect(attempt(text)).toThrow(code(message));
  });

  it("refuses a file that is larger than the limits", () => {
    expect(attempt("x".repeat(IMPORT_LIMITS.characters + 1))).toThrow(code(/the most is 2000000/));
    const many = Array.from({ length: IMPORT_LIMITS.events + 1 }, () => event("DTSTART;VALUE=DATE:20260202")).flat();
    expect(attempt(file(...many))).toThrow(code(/10001 events; the most is 10000/));
    expect(() => importICalendar(file(), { ...options, to: options.from + 40_000 })).toThrow(code(/at most 100 years/));
  });

  it("refuses a file that recurs more often than an import may expand", () => {
    const daily = Array.from({ length: 50 }, (_, index) =>
      event(`UID:${index}`, "DTSTART;VALUE=DATE:19300101", "RRULE:FREQ=DAILY"),
    );
    expect(() => importICalendar(file(...daily.flat()), options)).toThrow(
      code(/recur too often: import a shorter range/),
    );
  });
});
