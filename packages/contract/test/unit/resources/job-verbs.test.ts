import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { readJobBatch } from "../../../src/resources/job-create.js";
import { readCancel, readPause, readResume, readRollback, readRunNow } from "../../../src/resources/job-verbs.js";

const now = Date.UTC(2026, 10, 12, 8, 30);

function faultsOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    return error.items.map((item) => `${item.pointer} ${item.code}`);
  }
}

describe("a verb without a body", () => {
  it("reads a missing body as the defaults of the verb", () => {
    expect(readPause(undefined, now)).toEqual({ reason: null, until: null, missed: "none" });
    expect(readResume(undefined)).toEqual({ dryRun: false });
    expect(readCancel(undefined)).toEqual({ running: "signal", dependants: "refuse" });
    expect(readRunNow(undefined)).toEqual({});
    expect(faultsOf(() => readRollback(undefined))).toEqual(["/version field_missing"]);
  });
});

describe("a pause", () => {
  it("reads the end of a pause from an instant or a duration", () => {
    expect(readPause({ until: "2026-11-12T10:30:00+01:00", reason: "x", missed: "all" }, now)).toEqual({
      reason: "x",
      until: now + 3_600_000,
      missed: "all",
    });
    expect(readPause({ for: "2h" }, now).until).toBe(now + 7_200_000);
  });

  it.each<[unknown, string]>([
    [{ until: "2026-11-12T08:30:00Z" }, "/until field_invalid"],
    [{ until: "tomorrow" }, "/until instant_invalid"],
    [{ until: "2026-12-12T08:30:00Z", for: "1h" }, "/for field_invalid"],
    [{ for: "0s" }, "/for duration_invalid"],
    [{ for: "1 hour" }, "/for duration_invalid"],
    [{ reason: "" }, "/reason field_invalid"],
    [{ reason: "a\nb" }, "/reason field_invalid"],
    [{ missed: "some" }, "/missed field_invalid"],
    [{ resaon: "x" }, "/resaon unknown_field"],
    [null, " field_invalid"],
    ["now", " field_invalid"],
  ])("refuses a pause with %j", (body, fault) => {
    expect(faultsOf(() => readPause(body, now))).toEqual([fault]);
  });
});

describe("a run now", () => {
  it("reads the fields of a run that differ from its job, a null payload included", () => {
    const body = { payload: null, priority: 9, queue: "mail", labels: { a: "b" }, timeout: "1m", force: true };
    expect(readRunNow({ ...body, retry: { max_attempts: 1 } })).toEqual({
      payload: { value: null },
      priority: 9,
      queue: "mail",
      labels: { a: "b" },
      policy: { retry: { maxAttempts: 1 }, timeoutMs: 60_000 },
      force: true,
    });
  });

  it.each<[unknown, string]>([
    [{ task: "other" }, "/task unknown_field"],
    [{ priority: 10 }, "/priority field_invalid"],
    [{ timeout: "0s" }, "/timeout duration_invalid"],
    [{ retry: { initial: "x" } }, "/retry/initial duration_invalid"],
    [{ force: "yes" }, "/force field_invalid"],
  ])("refuses a run with %j", (body, fault) => {
    expect(faultsOf(() => readRunNow(body))).toEqual([fault]);
  });
});

describe("a batch", () => {
  it("returns the items of a batch unread", () => {
    expect(readJobBatch({ jobs: [{ task: 5 }, null, "x"] })).toEqual([{ task: 5 }, null, "x"]);
  });

  it.each<[unknown, string]>([
    [undefined, " field_invalid"],
    [[], " field_invalid"],
    [{}, "/jobs field_missing"],
    [{ jobs: [] }, "/jobs field_invalid"],
    [{ jobs: {} }, "/jobs field_invalid"],
    [{ jobs: Array.from({ length: 1_001 }, () => ({})) }, "/jobs field_invalid"],
    [{ jobs: [{}], atomic: true }, "/atomic unknown_field"],
  ])("refuses the batch %j", (body, fault) => {
    expect(faultsOf(() => readJobBatch(body))).toEqual([fault]);
  });
});
