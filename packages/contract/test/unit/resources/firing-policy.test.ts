import { CarillonError, type JobSpec } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { normaliseJobRequest } from "../../../src/resources/job-create.js";

const now = Date.UTC(2026, 10, 12, 8, 30);
const cron = { cron: "0 9 * * *" };

function specOf(body: object): JobSpec {
  return normaliseJobRequest({ task: "echo", schedule: cron, ...body }, { now }).spec;
}

function faultsOf(body: object): string[] {
  try {
    specOf(body);
    return [];
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    return error.items.map((item) => `${item.pointer} ${item.code}`);
  }
}

describe("policies of lateness and overlap", () => {
  it("leaves out policies that equal the defaults", () => {
    expect(specOf({})).not.toHaveProperty("firing");
    const defaults = { overlap: "skip", misfire: "run_once", misfire_threshold: "1m", catchup_window: "PT24H" };
    expect(specOf({ ...defaults, catchup_limit: 1_000, catchup_rate: 10 })).not.toHaveProperty("firing");
  });

  it("keeps policies that differ from the defaults", () => {
    const given = { overlap: "queue_one", misfire: "run_all", misfire_threshold: "5m", catchup_window: "7d" };
    expect(specOf({ ...given, catchup_limit: 50, catchup_rate: 0.5 }).firing).toEqual({
      overlap: "queue_one",
      misfire: "run_all",
      misfireThresholdMs: 300_000,
      catchupWindowMs: 7 * 86_400_000,
      maxCatchupRuns: 50,
      catchupPerSecond: 0.5,
    });
  });

  it.each([
    [{ overlap: "queue" }, "/overlap field_invalid"],
    [{ overlap: null }, "/overlap field_invalid"],
    [{ misfire: { policy: "run_all" } }, "/misfire field_invalid"],
    [{ misfire_threshold: "0s" }, "/misfire_threshold duration_invalid"],
    [{ misfire_threshold: 60 }, "/misfire_threshold field_invalid"],
    [{ catchup_window: "400d" }, "/catchup_window duration_invalid"],
    [{ catchup_limit: 0 }, "/catchup_limit field_invalid"],
    [{ catchup_limit: 1.5 }, "/catchup_limit field_invalid"],
    [{ catchup_rate: 0 }, "/catchup_rate field_invalid"],
  ])("refuses the fields %j", (body, fault) => {
    expect(faultsOf(body)).toEqual([fault]);
  });
});

describe("an instant of long ago", () => {
  const at = { schedule: { at: "2026-11-10T08:30:00Z" } };

  it("refuses an instant before the catch-up window and names what is accepted", () => {
    expect(() => specOf(at)).toThrow(/more than 1d in the past.*run_once/);
    expect(faultsOf({ ...at, misfire: "skip" })).toEqual(["/schedule/at schedule_in_past"]);
  });

  it("accepts an instant of any age with an explicit run_once, which stays in the definition", () => {
    expect(specOf({ ...at, misfire: "run_once" }).firing).toEqual({ misfire: "run_once" });
  });

  it("measures an old instant against the catch-up window of the job", () => {
    expect(faultsOf({ ...at, catchup_window: "3d" })).toEqual([]);
    expect(faultsOf({ schedule: { at: "2026-11-12T08:00:00Z" }, catchup_window: "10m" })).toEqual([
      "/schedule/at schedule_in_past",
    ]);
  });
});

describe("calendars of a schedule", () => {
  it("keeps the calendars of a schedule as they were sent", () => {
    const calendars = { exclude: ["de-holidays"], only: ["workdays"], roll: "next" } as const;
    expect(specOf({ schedule: { ...cron, calendars } }).schedule).toMatchObject({ calendars });
    expect(specOf({ schedule: { every: "1h", calendars } }).schedule).toMatchObject({ calendars });
  });

  it.each([
    [{ ...cron, calendars: {} }, "/schedule/calendars schedule_invalid"],
    [{ ...cron, calendars: { roll: "next" } }, "/schedule/calendars schedule_invalid"],
    [{ ...cron, calendars: { exclude: "de" } }, "/schedule/calendars/exclude field_invalid"],
    [{ ...cron, calendars: { exclude: ["a:b"] } }, "/schedule/calendars/exclude/0 field_invalid"],
    [{ ...cron, calendars: { exclude: ["a"], only: ["a"] } }, "/schedule/calendars schedule_invalid"],
    [{ ...cron, calendars: { only: ["a"], rol: "next" } }, "/schedule/calendars/rol unknown_field"],
    [{ at: "2026-12-12T08:30:00Z", calendars: { only: ["a"] } }, "/schedule/calendars schedule_invalid"],
  ])("refuses the fields %j", (schedule, fault) => {
    expect(faultsOf({ schedule })).toEqual([fault]);
  });
});
