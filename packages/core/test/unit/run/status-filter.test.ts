import { CarillonError, parseStatusFilter, runStatuses } from "@carillon/core";
import { describe, expect, it } from "vitest";

describe("parseStatusFilter", () => {
  it.each(runStatuses)("parses the status %s in any case", (status) => {
    expect(parseStatusFilter(status)).toEqual([status]);
    expect(parseStatusFilter(status.toUpperCase())).toEqual([status]);
  });

  it.each([
    ["SCHEDULED", ["scheduled"]],
    ["RUNNING", ["running"]],
    ["COMPLETED", ["succeeded"]],
    ["FAILED", ["failed"]],
    ["success", ["succeeded"]],
    ["Failure", ["failed"]],
    ["canceled", ["cancelled"]],
  ])("parses the legacy spelling %s", (text, expected) => {
    expect(parseStatusFilter(text)).toEqual(expected);
  });

  it("parses groups and lists of statuses, each status once", () => {
    expect(parseStatusFilter("pending")).toEqual(["scheduled", "blocked", "queued", "retrying"]);
    expect(parseStatusFilter("live")).toEqual(["scheduled", "blocked", "queued", "running", "retrying"]);
    expect(parseStatusFilter("finished")).toEqual(["succeeded", "failed", "cancelled", "skipped"]);
    expect(parseStatusFilter(" failed , pending,queued,FAILURE")).toEqual([
      "scheduled",
      "blocked",
      "queued",
      "retrying",
      "failed",
    ]);
  });

  it.each(["", "done", "failed,", ",", "constructor", "failed;running", `${"failed,".repeat(9)}done`])(
    "refuses the status filter %j and lists the statuses",
    (text) => {
      let refused: unknown;
      try {
        parseStatusFilter(text);
      } catch (error) {
        refused = error;
      }
      expect(refused).toBeInstanceOf(CarillonError);
      expect(refused).toMatchObject({ code: "status_unknown" });
      expect(String(refused)).toContain("scheduled, blocked, queued, running");
      expect(String(refused).length).toBeLessThan(300);
    },
  );
});
