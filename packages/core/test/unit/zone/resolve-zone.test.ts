import { describe, expect, it } from "vitest";
import { CarillonError, resolveZone } from "../../../src/index.js";

function refusalOf(name: string): string {
  try {
    resolveZone(name);
  } catch (error) {
    if (error instanceof CarillonError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

describe("zone names", () => {
  it.each([
    "UTC",
    "Etc/UTC",
    "GMT",
    "Europe/Berlin",
    "America/Argentina/Buenos_Aires",
    "EST5EDT",
    "Etc/GMT+5",
    "GMT+0",
  ])("accepts the zone name %s", (name) => {
    expect(resolveZone(name).name).toBe(name);
  });

  it.each([
    ["Asia/Kolkata", "Asia/Calcutta"],
    ["Europe/Kyiv", "Europe/Kiev"],
    ["US/Eastern", "America/New_York"],
    ["america/new_york", "America/New_York"],
    ["Zulu", "UTC"],
  ])("keeps the name %s as written and resolves it to the same zone as %s", (name, other) => {
    const zone = resolveZone(name);
    expect(zone.name).toBe(name);
    expect(zone.canonicalName).toBe(resolveZone(other).canonicalName);
    expect(zone.spanAt(1_790_000_000)).toBe(resolveZone(other).spanAt(1_790_000_000));
  });

  it.each([
    [
      "+05:30",
      'Time zone "+05:30" is an offset, not a zone; write an IANA name such as "Asia/Kolkata" or "Etc/GMT-5".',
    ],
    ["-08", 'Time zone "-08" is an offset, not a zone; write an IANA name such as "Asia/Kolkata" or "Etc/GMT-5".'],
    ["UTC+1", 'Time zone "UTC+1" is an offset, not a zone; write an IANA name such as "Asia/Kolkata" or "Etc/GMT-5".'],
    ["", 'Time zone "" is not an IANA time zone name; write one such as "Europe/Berlin" or "UTC".'],
    [
      "Mars/Olympus_Mons",
      'Time zone "Mars/Olympus_Mons" is not an IANA time zone name; write one such as "Europe/Berlin" or "UTC".',
    ],
    ["Europe/Berln", 'Time zone "Europe/Berln" is not an IANA time zone name; did you mean "Europe/Berlin"?'],
    ["Asia/Berlin", 'Time zone "Asia/Berlin" is not an IANA time zone name; did you mean "Europe/Berlin"?'],
    ["new york", 'Time zone "new york" is not an IANA time zone name; did you mean "America/New_York"?'],
    ["Kolkata", 'Time zone "Kolkata" is not an IANA time zone name; did you mean "Asia/Kolkata"?'],
    [" UTC", 'Time zone " UTC" is not an IANA time zone name; did you mean "UTC"?'],
    ["PST", 'Time zone "PST" is an abbreviation, not an IANA time zone name; did you mean "America/Los_Angeles"?'],
    ["ist", 'Time zone "ist" is an abbreviation, not an IANA time zone name; did you mean "Asia/Calcutta"?'],
    ["a\u0000b", 'Time zone "a\\u0000b" is not an IANA time zone name; write one such as "Europe/Berlin" or "UTC".'],
    [
      "x".repeat(1000),
      `Time zone "${"x".repeat(64)}…" is not an IANA time zone name; write one such as "Europe/Berlin" or "UTC".`,
    ],
  ])("refuses the zone name %j with a remedy", (name, message) => {
    expect(refusalOf(name)).toBe(`time_zone_unknown: ${message}`);
  });
});
