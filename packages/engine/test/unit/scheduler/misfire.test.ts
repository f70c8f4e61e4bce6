import { compileSchedule } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { settleMisfire } from "../../../src/scheduler/misfire.js";

const minutely = compileSchedule(
  { kind: "cron", cron: "* * * * *", timeZone: "UTC" },
  { jobId: "00000000-0000-7000-8000-000000000000" },
);
const at = (text: string): number => Date.parse(text);

describe("what happens to occurrences that are late", () => {
  it("fires each of them, in order, up to the threshold", () => {
    expect(settleMisfire(minutely, at("2026-01-01T10:00:00Z"), at("2026-01-01T10:01:00Z"))).toEqual({ kind: "fire" });
  });

  it("passes over all but the latest beyond the threshold", () => {
    expect(settleMisfire(minutely, at("2026-01-01T10:00:00Z"), at("2026-01-01T10:30:10Z"))).toEqual({
      kind: "skip",
      through: at("2026-01-01T10:29:00Z"),
      count: 30,
      next: at("2026-01-01T10:30:00Z"),
    });
  });

  it("fires the only one that is late, however late, inside the catch-up window", () => {
    const daily = compileSchedule(
      { kind: "cron", cron: "0 3 * * *", timeZone: "UTC" },
      { jobId: "00000000-0000-7000-8000-000000000000" },
    );
    expect(settleMisfire(daily, at("2026-01-01T03:00:00Z"), at("2026-01-02T02:00:00Z"))).toEqual({ kind: "fire" });
  });

  it("fires nothing that is older than the catch-up window", () => {
    const yearly = compileSchedule(
      { kind: "cron", cron: "0 0 1 1 *", timeZone: "UTC" },
      { jobId: "00000000-0000-7000-8000-000000000000" },
    );
    expect(settleMisfire(yearly, at("2026-01-01T00:00:00Z"), at("2026-03-01T00:00:00Z"))).toEqual({
      kind: "skip",
      through: at("2026-01-01T00:00:00Z"),
      count: 1,
      next: at("2027-01-01T00:00:00Z"),
    });
  });
});
