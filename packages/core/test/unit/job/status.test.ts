import {
  CarillonError,
  type JobInList,
  jobStates,
  jobStatuses,
  parseJobStatusFilter,
  runStatuses,
  runStatusGroups,
  statusOfJob,
} from "@carillon/core";
import { describe, expect, it } from "vitest";

describe("statusOfJob", () => {
  it.each(runStatusGroups.live)("is %s while the job has such a run, whatever the job's state", (run) => {
    for (const state of jobStates) {
      for (const oneOff of [true, false]) expect(statusOfJob({ state, oneOff, run })).toBe(run);
    }
  });

  const cases: [JobInList, string][] = [
    [{ state: "active", oneOff: true, run: null }, "scheduled"],
    [{ state: "completed", oneOff: true, run: "succeeded" }, "completed"],
    [{ state: "completed", oneOff: true, run: "failed" }, "failed"],
    [{ state: "completed", oneOff: true, run: "cancelled" }, "cancelled"],
    [{ state: "completed", oneOff: true, run: "skipped" }, "skipped"],
    [{ state: "cancelled", oneOff: true, run: "succeeded" }, "cancelled"],
    [{ state: "paused", oneOff: true, run: null }, "paused"],
    [{ state: "active", oneOff: false, run: null }, "scheduled"],
    [{ state: "active", oneOff: false, run: "failed" }, "scheduled"],
    [{ state: "paused", oneOff: false, run: "failed" }, "paused"],
    [{ state: "completed", oneOff: false, run: "failed" }, "completed"],
    [{ state: "cancelled", oneOff: false, run: null }, "cancelled"],
  ];
  it.each(cases)("of %j is %s", (job, status) => {
    expect(statusOfJob(job)).toBe(status);
  });

  it("is always one that the filter knows", () => {
    for (const state of jobStates) {
      for (const oneOff of [true, false]) {
        for (const run of [null, ...runStatuses]) {
          const status = statusOfJob({ state, oneOff, run });
          expect(parseJobStatusFilter(status)).toEqual([status]);
        }
      }
    }
  });
});

describe("parseJobStatusFilter", () => {
  it.each([
    ["COMPLETED", ["completed"]],
    ["success", ["completed"]],
    ["succeeded", ["completed"]],
    ["failure", ["failed"]],
    ["active", ["scheduled"]],
    ["pending", ["scheduled", "queued", "blocked", "retrying"]],
    ["finished", ["completed", "failed", "cancelled", "skipped"]],
    ["paused,RUNNING", ["running", "paused"]],
  ])("reads %s", (text, expected) => {
    expect(parseJobStatusFilter(text)).toEqual(expected);
  });

  it("refuses what no job can be", () => {
    expect(() => parseJobStatusFilter("asleep")).toThrow(CarillonError);
    expect(jobStatuses).not.toContain("asleep");
  });
});
