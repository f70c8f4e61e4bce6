import { occurrenceRunId, timeOfUuid } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const jobIds = fc.uuid();
const instants = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const triggers = fc.string({ maxLength: 40, unit: "binary" });

/** The 74 bits of a UUIDv7 that are not time, version or variant. */
function hashOf(uuid: string): bigint {
  const a = BigInt(`0x${uuid.slice(15, 18)}`);
  const rest = BigInt(`0x${uuid.slice(19, 23)}${uuid.slice(24)}`) & ((1n << 62n) - 1n);
  return (a << 62n) | rest;
}

function bitsOf(value: bigint): number {
  let count = 0;
  for (let rest = value; rest > 0n; rest &= rest - 1n) count++;
  return count;
}

const jobNumber = (n: number) => `0190b6f4-7f3e-7cc0-8000-${n.toString(16).padStart(12, "0")}`;

describe("occurrenceRunId", () => {
  it("the id of an occurrence's run is a UUIDv7 of the nominal instant, and the same every time [INV-1]", () => {
    fc.assert(
      fc.property(jobIds, instants, triggers, (job, nominal, trigger) => {
        const id = occurrenceRunId(job, nominal, trigger);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(timeOfUuid(id)).toBe(nominal);
        expect(occurrenceRunId(job, nominal, trigger)).toBe(id);
      }),
    );
  });

  it("the id of an occurrence's run never changes between versions, since stored runs have it", () => {
    expect(occurrenceRunId(jobNumber(1), 1_700_000_000_000, "schedule")).toBe("018bcfe5-6800-7e38-a449-e3d71c3465a7");
    expect(occurrenceRunId(jobNumber(1), 1_700_000_000_000, jobNumber(2))).toBe("018bcfe5-6800-7056-9dac-306b29443df1");
  });

  it("distinguishes triggers that differ only in length or in trailing zeros", () => {
    const of = (trigger: string) => occurrenceRunId(jobNumber(1), 0, trigger);
    const triggerTexts = ["", "\0", "\0\0", "\0".repeat(8), "\0".repeat(9), "a", "a\0", "\0a"];
    expect(new Set(triggerTexts.map(of)).size).toBe(triggerTexts.length);
  });

  it("the hash alone has no collision among a million neighbours", () => {
    const seen = new Set<string>();
    for (let job = 0; job < 1_000; job++) {
      for (let minute = 0; minute < 1_000; minute++) {
        seen.add(occurrenceRunId(jobNumber(job), 1_800_000_000_000 + minute * 60_000, "schedule").slice(14));
      }
    }
    expect(seen.size).toBe(1_000_000);
  });

  it("one changed bit of job, instant or trigger changes about half of the hash", () => {
    const samples: number[] = [];
    const base = hashOf(occurrenceRunId(jobNumber(0), 0, "@@@@"));
    const against = (other: string) => samples.push(bitsOf(base ^ hashOf(other)));
    for (let bit = 0; bit < 48; bit++) against(occurrenceRunId(jobNumber(2 ** bit), 0, "@@@@"));
    for (let bit = 0; bit < 48; bit++) against(occurrenceRunId(jobNumber(0), 2 ** bit, "@@@@"));
    for (let at = 0; at < 4; at++) {
      for (let bit = 0; bit < 16; bit++) {
        const text = `${"@".repeat(at)}${String.fromCharCode(64 ^ (1 << bit))}${"@".repeat(3 - at)}`;
        against(occurrenceRunId(jobNumber(0), 0, text));
      }
    }
    const mean = samples.reduce((sum, n) => sum + n, 0) / samples.length;
    expect(mean).toBeGreaterThan(35);
    expect(mean).toBeLessThan(39);
    expect(Math.min(...samples)).toBeGreaterThan(15);
  });
});
