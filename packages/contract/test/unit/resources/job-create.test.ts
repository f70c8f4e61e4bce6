import { type JobSpec, CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { normaliseJobRequest } from "../../../src/resources/job-create.js";

const now = Date.UTC(2026, 10, 12, 8, 30);
const hour = 3_600_000;

const specOf = (body: object): JobSpec => normaliseJobRequest({ task: "echo", ...body }, { now }).spec;

function faultsOf(body: unknown, catchupWindowMs?: number): string[] {
  try {
    normaliseJobRequest(body, { now, ...(catchupWindowMs !== undefined && { catchupWindowMs }) });
    return [];
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    return error.items.map((item) => `${item.pointer} ${item.code}`);
  }
}

const faultsWith = (body: object) => faultsOf({ task: "echo", ...body });

describe("a job's schedule", () => {
  it.each<[object, JobSpec["schedule"]]>([
    [{}, { kind: "at", at: now }],
    [{ schedule: {} }, { kind: "at", at: now }],
    [{ schedule: { now: true } }, { kind: "at", at: now }],
    [{ schedule: { manual: true } }, { kind: "manual" }],
    [
      { schedule: { after: [{ job: "@extract" }, { job: "load", on: "finish" }] } },
      {
        kind: "after",
        after: [
          { job: "extract", on: "success" },
          { job: "load", on: "finish" },
        ],
      },
    ],
    [{ schedule: { delay: "PT1H" } }, { kind: "at", at: now + hour }],
    [{ schedule: { at: "2026-11-12T10:30:00+01:00" } }, { kind: "at", at: now + hour }],
    [{ schedule: { at: "2026-11-12T10:30:00", time_zone: "Europe/Paris" } }, { kind: "at", at: now + hour }],
    [
      { schedule_time: "2026-11-12T10:30:00", timezone: "Europe/Paris" },
      { kind: "at", at: now + hour },
    ],
    [{ schedule: { every: "15m" } }, { kind: "every", everyMs: 900_000, anchor: now }],
    [
      { schedule: { every: "1d", starts_at: "2026-11-12T09:30:00Z" } },
      { kind: "every", everyMs: 24 * hour, anchor: now + hour, startsAt: now + hour },
    ],
    [{ schedule: { cron: "0 9 * * *" } }, { kind: "cron", cron: "0 9 * * *", timeZone: "UTC" }],
    [
      { cron: "0 9 * * *", timezone: "Asia/Tokyo" },
      { kind: "cron", cron: "0 9 * * *", timeZone: "Asia/Tokyo" },
    ],
    [
      {
        schedule: {
          cron: "0 9 1 * MON",
          day_match: "and",
          dst: { gap: "skip" },
          jitter: "30s",
          max_runs: 5,
          ends_at: "2026-12-12T08:30:00Z",
        },
      },
      {
        kind: "cron",
        cron: "0 9 1 * MON",
        timeZone: "UTC",
        dayMatch: "and",
        dst: { gap: "skip" },
        jitterMs: 30_000,
        maxRuns: 5,
        endsAt: now + 720 * hour,
      },
    ],
  ])("reads the schedule of %j as %j", (body, schedule) => {
    expect(specOf(body).schedule).toEqual(schedule);
  });

  it.each<[string, object, string[]]>([
    ["two rules", { schedule: { cron: "0 9 * * *", every: "1h" } }, ["/schedule/every schedule_invalid"]],
    [
      "two rules in two spellings",
      { cron: "0 9 * * *", schedule_time: "2026-12-12T00:00:00Z" },
      ["/schedule_time schedule_invalid"],
    ],
    [
      "one rule in two spellings",
      { cron: "0 9 * * *", cron_expression: "0 8 * * *" },
      ["/cron_expression field_invalid"],
    ],
    ["a zone without a rule", { timezone: "Europe/Paris" }, ["/timezone schedule_invalid"]],
    [
      "what has no meaning with its rule",
      { schedule: { delay: "1h", jitter: "5s" } },
      ["/schedule/jitter schedule_invalid"],
    ],
    ["clock-change rules on an interval", { schedule: { every: "1h", dst: {} } }, ["/schedule/dst schedule_invalid"]],
    [
      "a time without an offset or a zone",
      { schedule: { at: "2026-12-12T00:00:00" } },
      ["/schedule/at instant_invalid"],
    ],
    [
      "a zone that does not exist, once",
      { schedule: { at: "2026-12-12T00:00:00", time_zone: "Mars/X" } },
      ["/schedule/time_zone time_zone_unknown"],
    ],
    [
      "a zone and an expression that are wrong",
      { cron_expression: "x", timezone: "Mars/X" },
      ["/cron_expression cron_invalid", "/timezone time_zone_unknown"],
    ],
    ["an expression that never fires", { cron: "0 0 30 2 *" }, ["/cron cron_never_fires"]],
    ["an interval below a second", { schedule: { every: "500ms" } }, ["/schedule/every schedule_invalid"]],
    [
      "a jitter as long as the interval",
      { schedule: { every: "1m", jitter: "1m" } },
      ["/schedule/jitter schedule_invalid"],
    ],
    [
      "an end before the start",
      { schedule: { every: "1m", starts_at: "2027-01-01T00:00:00Z", ends_at: "2026-12-01T00:00:00Z" } },
      ["/schedule/ends_at schedule_invalid"],
    ],
    ["a duration that is none", { schedule: { delay: "soon" } }, ["/schedule/delay duration_invalid"]],
    ["a schedule that is a word", { schedule: "sometimes" }, ["/schedule field_invalid"]],
    ["manual: false", { schedule: { manual: false } }, ["/schedule/manual field_invalid"]],
  ])("refuses a schedule with %s", (_what, body, faults) => {
    expect(faultsWith(body)).toEqual(faults);
  });

  it("accepts an instant in the past only within the catch-up window", () => {
    expect(faultsWith({ schedule: { at: "2026-11-11T08:30:00Z" } })).toEqual([]);
    expect(faultsWith({ schedule_time: "2026-11-11T08:29:59Z" })).toEqual(["/schedule_time schedule_in_past"]);
    expect(faultsOf({ task: "echo", schedule: { at: "2026-11-12T08:00:00Z" } }, 60_000)).toEqual([
      "/schedule/at schedule_in_past",
    ]);
  });
});

describe("a job's policies", () => {
  it("stores only the policies in the request, so that the others follow the defaults", () => {
    expect(specOf({}).policy).toEqual({});
    expect(specOf({ retry: { initial: "10s" }, timeout: "90s" }).policy).toEqual({
      retry: { initialMs: 10_000 },
      timeoutMs: 90_000,
    });
  });

  it.each<[object, number]>([
    [{ retry: { max_attempts: 4 } }, 4],
    [{ retries: 3 }, 4],
    [{ retries: 0 }, 1],
    [{ retry_policy: { max_attempts: 4 } }, 4],
    [{ retry_policy: { max_retries: 3 } }, 4],
  ])("reads the retry fields of %j as %i attempts", (body, maxAttempts) => {
    expect(specOf(body).policy.retry).toEqual({ maxAttempts });
  });

  it.each<[string, object, string[]]>([
    ["two counts", { retries: 3, retry: { max_attempts: 3 } }, ["/retries field_invalid"]],
    ["two policies", { retry: {}, retry_policy: { max: "1m" } }, ["/retry_policy field_invalid"]],
    [
      "a longest wait below the first",
      { retry_policy: { initial: "1m", max: "1s" } },
      ["/retry_policy/max retry_invalid"],
    ],
    ["no time at all", { timeout: "0s" }, ["/timeout duration_invalid"]],
    ["a number for a duration", { timeout: 30 }, ["/timeout field_invalid"]],
    ["an unknown word", { retry: { backoff: "exponentail" } }, ["/retry/backoff field_invalid"]],
  ])("refuses policies with %s", (_what, body, faults) => {
    expect(faultsWith(body)).toEqual(faults);
  });
});

describe("the guarantee", () => {
  it("stores a guarantee only if it is not the default", () => {
    expect(specOf({ guarantee: "at_most_once" }).policy).toEqual({ guarantee: "at_most_once" });
    expect(specOf({ guarantee: "at_least_once" }).policy).toEqual({});
  });

  it("refuses more than one attempt with at_most_once, in any spelling", () => {
    const guarantee = "at_most_once";
    expect(faultsWith({ guarantee, retry: { max_attempts: 3 } })).toEqual(["/retry/max_attempts retry_invalid"]);
    expect(faultsWith({ guarantee, retries: 2 })).toEqual(["/retries retry_invalid"]);
    expect(faultsWith({ guarantee, retry: { max_attempts: 1 } })).toEqual([]);
    expect(faultsWith({ guarantee: "exactly_once" })).toEqual(["/guarantee field_invalid"]);
  });
});

describe("the deadline", () => {
  it("accepts a deadline of at most a year", () => {
    expect(specOf({ deadline: "30m" }).policy).toEqual({ deadlineMs: 1_800_000 });
    expect(faultsWith({ deadline: "0s" })).toEqual(["/deadline duration_invalid"]);
    expect(faultsWith({ deadline: "400d" })).toEqual(["/deadline duration_invalid"]);
    expect(faultsWith({ deadline: "tomorrow" })).toEqual(["/deadline duration_invalid"]);
  });
});

describe("a job's other fields", () => {
  it("fills in the defaults of the other fields", () => {
    expect(specOf({})).toEqual({
      task: "echo",
      queue: "default",
      priority: 4,
      payload: null,
      schedule: { kind: "at", at: now },
      policy: {},
      labels: {},
    });
  });

  it("keeps the payload as it is, null and false included", () => {
    for (const payload of [null, false, 0, "", [], { a: { b: [1] } }])
      expect(specOf({ payload }).payload).toEqual(payload);
  });

  it("keeps the SLA of runs, and drops an empty one", () => {
    const policy = { sla: { startWithinMs: 60_000, finishWithinMs: 600_000 } };
    expect(specOf({ sla: { start_within: "1m", finish_within: "PT10M" } }).policy).toEqual(policy);
    expect(specOf({ sla: {} }).policy).toEqual({});
  });

  it("reports whether the request uses names of another system", () => {
    expect(normaliseJobRequest({ task: "echo" }, { now }).hasLegacySpelling).toBe(false);
    expect(normaliseJobRequest({ job_type: "echo" }, { now }).hasLegacySpelling).toBe(true);
    expect(normaliseJobRequest({ task: "echo", user_id: "u" }, { now }).hasLegacySpelling).toBe(true);
  });

  it.each<[string, object, string[]]>([
    ["no task", {}, ["/task field_missing"]],
    ["a wrong task", { task: 5 }, ["/task field_invalid"]],
    ["a task with blanks", { task: "a b" }, ["/task field_invalid"]],
    ["a key with a colon", { task: "echo", key: "a:b" }, ["/key field_invalid"]],
    ["an empty key", { task: "echo", key: "" }, ["/key field_invalid"]],
    [
      "too many labels",
      { task: "echo", labels: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`l${at}`, ""])) },
      ["/labels field_invalid"],
    ],
    ["a long label", { task: "echo", labels: { a: "x".repeat(257) } }, ["/labels/a field_invalid"]],
    ["a line break in the owner", { task: "echo", owner: "a\nb" }, ["/owner field_invalid"]],
    ["what this version lacks", { task: "echo", dedupe: {} }, ["/dedupe not_supported_yet"]],
    [
      "a promise without a time",
      { task: "echo", sla: { start_within: "soon", finish_within: "0s" } },
      ["/sla/finish_within duration_invalid", "/sla/start_within duration_invalid"],
    ],
    [
      "a promise to end before the start",
      { task: "echo", sla: { start_within: "2m", finish_within: "1m" } },
      ["/sla/start_within field_invalid"],
    ],
    ["nothing to wait for", { task: "echo", schedule: { after: [] } }, ["/schedule/after field_invalid"]],
    [
      "an end that there is not",
      { task: "echo", schedule: { after: [{ job: "a", on: "done" }] } },
      ["/schedule/after/0/on field_invalid"],
    ],
    [
      "the same wait twice",
      { task: "echo", schedule: { after: [{ job: "a" }, { job: "a", on: "success" }] } },
      ["/schedule/after schedule_invalid"],
    ],
    [
      "a mode of what is no wait",
      { task: "echo", schedule: { cron: "@daily", mode: "any" } },
      ["/schedule/mode schedule_invalid"],
    ],
    [
      "what the server sets",
      { task: "echo", id: "job_1", next_run_at: null },
      ["/id unknown_field", "/next_run_at unknown_field"],
    ],
  ])("refuses %s", (_what, body, faults) => {
    expect(faultsOf(body).sort()).toEqual(faults);
  });

  it.each([[null], [[]], ["echo"], [5], [undefined]])("refuses the body %j", (body) => {
    expect(faultsOf(body)).toEqual([" field_invalid"]);
  });
});
