import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NEVER, resolveZone, type WallMs } from "../../../src/index.js";
import { wallReading } from "../../oracle/wall-clock.js";
import { zonedInstants, zones } from "../cron/arbitraries.js";

const DAY_MS = 86_400_000;
const wall = (text: string): WallMs => Date.parse(`${text}Z`);
const at = (text: string): number => Date.parse(text);

describe("a zone's wall clock equals Intl's", () => {
  /** The instants at which the two differ. */
  function differences(name: string, instants: Iterable<number>): string[] {
    const zone = resolveZone(name);
    return [...instants]
      .filter((instant) => zone.toWall(instant) !== wallReading(name, instant))
      .map((instant) => `${name} ${new Date(instant).toISOString()}`);
  }

  it.each(zones)(
    "equals Intl in %s, every five days from 2000 to 2060 and on both sides of every clock change",
    (name) => {
      const zone = resolveZone(name);
      const instants = new Set<number>();
      for (let instant = at("2000-01-01T00:00:00Z"); instant < at("2060-01-01T00:00:00Z"); instant += 5 * DAY_MS) {
        const end = Math.min(zone.spanAt(instant / 1000).end * 1000, instant + 5 * DAY_MS);
        for (const looked of [instant, end - 1000, end]) instants.add(looked);
      }
      expect(differences(name, instants)).toEqual([]);
    },
  );

  it("equals Intl in every zone, in the past, the present and the far future", () => {
    const names = Intl.supportedValuesOf("timeZone");
    const wrong = names.flatMap((name, index) => {
      const years = [1890, 1945, 1995, 2011, 2047, 2150, 2600];
      const instants = years.map((year) => Date.UTC(year, index % 12, 1 + (index % 28), index % 24));
      return differences(name, instants);
    });
    expect(wrong).toEqual([]);
    expect(names.length).toBeGreaterThan(400);
  });

  it("finds a summer time of a single week", () => {
    const recife = resolveZone("America/Recife");
    expect(recife.offsetAt(at("2000-10-08T02:59:59Z"))).toBe(-3 * 3_600_000);
    expect(recife.offsetAt(at("2000-10-08T03:00:00Z"))).toBe(-2 * 3_600_000);
    expect(recife.offsetAt(at("2000-10-15T01:59:59Z"))).toBe(-2 * 3_600_000);
    expect(recife.offsetAt(at("2000-10-15T02:00:00Z"))).toBe(-3 * 3_600_000);
  });

  it("reads local mean time with seconds", () => {
    expect(resolveZone("America/New_York").offsetAt(at("1850-01-01T00:00:00Z"))).toBe(-17_762_000);
    expect(resolveZone("Africa/Monrovia").offsetAt(at("1960-01-01T00:00:00Z"))).toBe(-2_670_000);
  });
});

describe("a reading of the wall clock", () => {
  it("converts a wall-clock reading to one instant, none or two", () => {
    const newYork = resolveZone("America/New_York");
    expect(newYork.read(wall("2026-03-08T01:59:59.999"))).toEqual({
      kind: "unique",
      instant: at("2026-03-08T06:59:59.999Z"),
    });
    expect(newYork.read(wall("2026-03-08T02:00"))).toEqual({ kind: "gap", instant: at("2026-03-08T07:00:00Z") });
    expect(newYork.read(wall("2026-03-08T02:59:59.999"))).toEqual({ kind: "gap", instant: at("2026-03-08T07:00:00Z") });
    expect(newYork.read(wall("2026-03-08T03:00"))).toEqual({ kind: "unique", instant: at("2026-03-08T07:00:00Z") });
    expect(newYork.read(wall("2026-11-01T00:59:59.999"))).toEqual({
      kind: "unique",
      instant: at("2026-11-01T04:59:59.999Z"),
    });
    const [first, second] = [at("2026-11-01T05:00:00Z"), at("2026-11-01T06:00:00Z")];
    expect(newYork.read(wall("2026-11-01T01:00"))).toEqual({ kind: "overlap", first, second });
    expect(newYork.read(wall("2026-11-01T02:00"))).toEqual({ kind: "unique", instant: at("2026-11-01T07:00:00Z") });
  });

  it("converts any instant to a reading and back", () => {
    const property = fc.property(zonedInstants, ({ timeZone, instant }) => {
      const zone = resolveZone(timeZone);
      const reading = zone.read(zone.toWall(instant));
      const found = reading.kind === "overlap" ? [reading.first, reading.second] : [reading.instant];
      expect(reading.kind).not.toBe("gap");
      expect(found).toContain(instant);
      expect(found).toEqual([...found].sort((a, b) => a - b));
      expect(new Set(found.map((pass) => zone.toWall(pass)))).toEqual(new Set([zone.toWall(instant)]));
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it("never shows a reading in a gap", () => {
    const property = fc.property(
      zonedInstants,
      fc.double({ min: 0, max: 1, noNaN: true }),
      ({ timeZone, instant }, part) => {
        const zone = resolveZone(timeZone);
        const span = zone.spanAt(Math.floor(instant / 1000));
        if (span.shiftOut <= 0) return;
        const swallowed = (span.end + span.offset) * 1000 + Math.floor(part * (span.shiftOut * 1000 - 1));
        expect(zone.read(swallowed)).toEqual({ kind: "gap", instant: span.end * 1000 });
      },
    );
    fc.assert(property, { numRuns: 1000 });
  });

  it("chooses one instant for a reading by the policy for gaps and overlaps", () => {
    const apia = resolveZone("Pacific/Apia");
    expect(apia.toInstant(wall("2011-12-30T12:00"))).toBe(at("2011-12-30T10:00:00Z"));
    expect(apia.toInstant(wall("2011-12-30T12:00"), { gap: "skip" })).toBe(NEVER);
    const newYork = resolveZone("America/New_York");
    expect(newYork.toInstant(wall("2026-11-01T01:30"))).toBe(at("2026-11-01T05:30:00Z"));
    expect(newYork.toInstant(wall("2026-11-01T01:30"), { overlap: "second" })).toBe(at("2026-11-01T06:30:00Z"));
    expect(newYork.toInstant(wall("2026-11-01T03:30"), { overlap: "second" })).toBe(at("2026-11-01T08:30:00Z"));
  });
});

describe("local dates", () => {
  it("computes local dates in the zone", () => {
    const kiritimati = resolveZone("Pacific/Kiritimati");
    expect(kiritimati.localDate(at("2026-12-31T10:00:00Z"))).toEqual({ year: 2027, month: 1, day: 1 });
    expect(kiritimati.localDate(at("2026-12-31T09:59:59.999Z"))).toEqual({ year: 2026, month: 12, day: 31 });
    expect(resolveZone("UTC").localDay(-1)).toBe(-1);
  });
});
