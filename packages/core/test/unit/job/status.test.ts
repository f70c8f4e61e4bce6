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
  it.each(runStatusGroups.live)("the status of a job is %s while it has such a run, in any state of the job", (run) => {
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
  it.each(cases)("the status of the job %j is %s", (job, status) => {
    expect(statusOfJob(job)).toBe(status);
  });

  it("every status of a job is accepted by the filter", () => {
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
  ])("parses the status filter %s", (text, expected) => {
    expect(parseJobStatusFilter(text)).toEqual(expected);
  });

  it("refuses a status that no job can have", () => {
    expect(() => parseJobStatusFilter("asleep")).toThrow(CarillonError);
    expect(jobStatuses).not.toContain("asleep");
  });
});
