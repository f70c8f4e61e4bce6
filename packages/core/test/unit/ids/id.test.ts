import { CarillonError, formatId, parseId } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const uuids = fc.uuid();

function refusalOf(act: () => unknown): CarillonError {
  try {
    act();
  } catch (error) {
    if (error instanceof CarillonError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("ids on the wire", () => {
  it("writes an id as its prefix and 26 characters that are safe in a URL", () => {
    expect(formatId("job", "00000000-0000-0000-0000-000000000000")).toBe("job_00000000000000000000000000");
    expect(formatId("run", "ffffffff-ffff-ffff-ffff-ffffffffffff")).toBe("run_7zzzzzzzzzzzzzzzzzzzzzzzzz");
    expect(formatId("wrk", "0190b6f4-7f3e-7cc0-8000-00000000002a")).toBe("wrk_01j2vf8zsyfk0800000000001a");
  });

  it("reads back the id of any UUID, in any case", () => {
    fc.assert(
      fc.property(uuids, (uuid) => {
        const text = formatId("job", uuid);
        expect(text).toMatch(/^job_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
        expect(parseId("job", text)).toBe(uuid);
        expect(parseId("job", text.toUpperCase())).toBe(uuid);
      }),
    );
  });

  it("reads a bare UUID, in any case", () => {
    fc.assert(
      fc.property(uuids, (uuid) => {
        expect(parseId("run", uuid)).toBe(uuid);
        expect(parseId("run", uuid.toUpperCase())).toBe(uuid);
      }),
    );
  });

  it("ids sort like their UUIDs", () => {
    fc.assert(
      fc.property(uuids, uuids, (a, b) => {
        expect(formatId("run", a) < formatId("run", b)).toBe(a < b);
      }),
    );
  });

  it("reads I, L and O as the digits that they resemble", () => {
    expect(parseId("job", "job_oOOOOOOOOOOOOOOOOOOOOOOOIl")).toBe("00000000-0000-0000-0000-000000000021");
  });

  it.each([
    "",
    "job_",
    "job_0000000000000000000000000",
    "job_000000000000000000000000000",
    "job_80000000000000000000000000",
    "job_0000000000000000000000000u",
    "job_0000000000000000000000000é",
    "job_00000000-0000-0000-0000-000000000000",
    "00000000000000000000000000",
    "00000000-0000-0000-0000-00000000000",
    "00000000-0000-0000-0000-00000000000g",
    "{00000000-0000-0000-0000-000000000000}",
    "x".repeat(100_000),
  ])("refuses the id %j with a remedy", (text) => {
    const error = refusalOf(() => parseId("job", text));
    expect(error.code).toBe("id_invalid");
    expect(error.message).toContain("the id of a job is job_ and 26 letters and digits, or a UUID");
    expect(error.message.length).toBeLessThan(200);
  });

  it("names the kind of an id that was given for another kind", () => {
    const run = formatId("run", "0190b6f4-7f3e-7cc0-8000-00000000002a");
    expect(refusalOf(() => parseId("job", run)).message).toBe(
      `"${run}" is the id of a run; the id of a job is job_ and 26 letters and digits, or a UUID.`,
    );
  });
});
