import { makeUuidV7, timeOfUuid, uuidv7 } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const instants = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const filled = (byte: number) => (size: number) => new Uint8Array(size).fill(byte);

/** Deterministic bytes that differ from call to call. */
function sequence(): (size: number) => Uint8Array {
  let state = 1;
  return (size) =>
    Uint8Array.from({ length: size }, () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 24);
}

describe("uuidv7", () => {
  it("writes version 7, the variant and the instant, for any random bits", () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: 0, max: 255 }), (ms, byte) => {
        const uuid = uuidv7(ms, filled(byte));
        expect(uuid).toMatch(shape);
        expect(timeOfUuid(uuid)).toBe(ms);
      }),
    );
  });

  it("uses all 74 random bits", () => {
    expect(uuidv7(0, filled(0))).toBe("00000000-0000-7000-8000-000000000000");
    expect(uuidv7(2 ** 48 - 1, filled(255))).toBe("ffffffff-ffff-7fff-bfff-ffffffffffff");
  });

  it.each([-1, 2 ** 48, 0.5, Number.NaN])("refuses a UUIDv7 of the instant %d", (ms) => {
    expect(() => uuidv7(ms, filled(0))).toThrow(RangeError);
  });
});

describe("makeUuidV7", () => {
  it("UUIDs ascend within a millisecond, across milliseconds, and when the clock steps back a little", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -500, max: 1_000 }), { maxLength: 200, size: "max" }), (steps) => {
        let nowMs = 1_000_000;
        const next = makeUuidV7({ now: () => nowMs, randomBytes: sequence() });
        const ids = [0, 0, ...steps].map((step) => {
          nowMs = Math.max(1_000_000, nowMs + step);
          return next();
        });
        expect(ids.filter((id) => !shape.test(id))).toEqual([]);
        expect(ids).toEqual([...new Set(ids)].sort());
      }),
    );
  });

  it("the counter of a millisecond carries across the bits of the variant", () => {
    const next = makeUuidV7({ now: () => 5, randomBytes: filled(255) });
    expect(next()).toBe("00000000-0005-77ff-bfff-ffffffffffff");
    expect(next()).toBe("00000000-0005-7800-8000-03ffffffffff");
  });

  it("follows a clock that steps back far, so that one wrong reading does not date all later ids", () => {
    let nowMs = 10_000_000;
    const next = makeUuidV7({ now: () => nowMs, randomBytes: sequence() });
    next();
    nowMs -= 60_000;
    expect(timeOfUuid(next())).toBe(10_000_000);
    nowMs -= 1;
    expect(timeOfUuid(next())).toBe(nowMs);
  });

  it("never repeats a UUID, also of another generator in the same millisecond", () => {
    const bytes = sequence();
    const generators = [1, 2, 3, 4].map(() => makeUuidV7({ now: () => 7, randomBytes: bytes }));
    const seen = new Set<string>();
    for (let round = 0; round < 25_000; round++) for (const next of generators) seen.add(next());
    expect(seen.size).toBe(100_000);
  });
});
