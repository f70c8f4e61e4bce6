import { CarillonError, type JobSpec } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normaliseJobRequest } from "../../../src/resources/job-create.js";
import { requestOfJob } from "../../../src/resources/job-definition.js";
import { readJobPatch } from "../../../src/resources/job-patch.js";

const created = Date.UTC(2026, 10, 12, 8, 30);
const now = created + 3 * 86_400_000 + 12_345;

const specOf = (body: object): JobSpec => normaliseJobRequest({ task: "echo", ...body }, { now: created }).spec;
const patched = (body: object, patch: unknown): JobSpec => readJobPatch(patch)(specOf(body), now);

function faultsOf(body: object, patch: unknown): string[] {
  try {
    patched(body, patch);
    return [];
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    return error.items.map((item) => `${item.pointer} ${item.code}`);
  }
}

const nightly = { schedule: { cron: "0 2 * * *", time_zone: "Europe/Paris", ends_at: "2027-01-01T00:00:00Z" } };

const anyJob = fc.record(
  {
    key: fc.constantFrom("a", "b.c"),
    queue: fc.constantFrom("mail", "default"),
    priority: fc.integer({ min: 0, max: 9 }),
    payload: fc.constantFrom<unknown>(null, 0, "text", [1, { a: null }], { a: { b: [] } }),
    owner: fc.constant("u1"),
    timeout: fc.constantFrom("2m", "90s"),
    overlap: fc.constantFrom("skip", "allow", "queue_all"),
    misfire: fc.constantFrom("skip", "run_all"),
    catchup_window: fc.constantFrom("1d", "36h"),
    catchup_rate: fc.constantFrom(0.1, 10),
    labels: fc.constantFrom({}, { team: "a", "x/y": "" }),
    retry: fc.constantFrom({}, { max_attempts: 2 }, { initial: "1s", max: "1m", jitter: "none", non_retryable: ["T"] }),
    schedule: fc.constantFrom(
      { cron: "0 9 * * MON", day_match: "and", dst: { gap: "skip" }, jitter: "30s" },
      { cron: "@daily", calendars: { exclude: ["h"], roll: "previous" }, max_runs: 3 },
      { every: "90m" },
      { every: "1h", starts_at: "2026-12-01T00:00:00+01:00", time_zone: "Asia/Tokyo" },
      { at: "2026-12-24T18:00:00Z" },
      { delay: "1ms" },
      { manual: true },
    ),
  },
  { requiredKeys: [] },
);

describe("a patch of a job", () => {
  it("changes no definition by an empty patch, at any later time", () => {
    fc.assert(
      fc.property(anyJob, (body) => {
        const spec = specOf(body);
        expect(readJobPatch({})(spec, now)).toEqual(spec);
        expect(readJobPatch(JSON.parse(JSON.stringify(requestOfJob(spec))))(spec, now)).toEqual(spec);
      }),
    );
  });

  it("changes the members of the patch and keeps the others", () => {
    const before = { ...nightly, key: "k", labels: { a: "1", b: "2" }, retry: { max_attempts: 3, initial: "9s" } };
    const after = patched(before, { priority: 9, labels: { a: null, c: "3" }, retry: { max_attempts: 7 } });
    expect(after).toEqual({
      ...specOf(before),
      priority: 9,
      labels: { b: "2", c: "3" },
      policy: { retry: { maxAttempts: 7, initialMs: 9_000 } },
    });
  });

  it("restores a default when the patch sends null", () => {
    const before = {
      ...nightly,
      timeout: "1m",
      overlap: "allow",
      misfire: "skip",
      owner: "u1",
      queue: "mail",
      priority: 9,
    };
    const none = { timeout: null, overlap: null, misfire: null, owner: null, queue: null, priority: null };
    expect(patched(before, none)).toEqual(specOf(nightly));
  });

  it("refuses an address in the patch, but not one that was stored before", () => {
    const url = "http://10.0.0.1/hook";
    const before = specOf({ callbacks: [{ url }] });
    const patch = (body: object) => readJobPatch(body, { refuseTarget: () => "This address is closed." })(before, now);
    expect(patch({ priority: 9 }).policy).toEqual(before.policy);
    expect(patch({ callbacks: null }).policy).toEqual({});
    expect(() => patch({ callbacks: [{ url }] })).toThrow("/callbacks/0/url: This address is closed.");
  });

  it("replaces the payload as a whole, by null too", () => {
    const before = { ...nightly, payload: { a: { b: 1 }, c: 2 } };
    expect(patched(before, { payload: { a: { d: null } } }).payload).toEqual({ a: { d: null } });
    expect(patched(before, { payload: null }).payload).toBe(null);
    expect(patched(before, {}).payload).toEqual(before.payload);
  });

  it("keeps time zone and bounds when a patch changes the rule", () => {
    expect(patched(nightly, { schedule: { cron: "0 3 * * *" } }).schedule).toMatchObject({
      cron: "0 3 * * *",
      timeZone: "Europe/Paris",
      endsAt: Date.UTC(2027, 0, 1),
    });
    expect(patched(nightly, { schedule: { ends_at: null } }).schedule).not.toHaveProperty("endsAt");
  });

  it("replaces the present kind of schedule by the kind in the patch", () => {
    expect(patched(nightly, { schedule: { every: "1h" } }).schedule).toEqual({
      kind: "every",
      everyMs: 3_600_000,
      anchor: now,
      timeZone: "Europe/Paris",
      endsAt: Date.UTC(2027, 0, 1),
    });
    expect(patched(nightly, { schedule: { manual: true } }).schedule).toEqual({ kind: "manual" });
    expect(patched(nightly, { schedule: { delay: "1h" } }).schedule).toEqual({ kind: "at", at: now + 3_600_000 });
  });

  it("does not shift an interval that the patch leaves as it is", () => {
    const every = { schedule: { every: "1h" } };
    expect(patched(every, { schedule: { every: "60m", jitter: "1s" } }).schedule).toMatchObject({ anchor: created });
    expect(patched(every, { schedule: { every: "2h" } }).schedule).toMatchObject({ anchor: now });
  });

  it("leaves a one-off job of the past as it is, and checks a new instant like that of a new job", () => {
    const past = { schedule: { at: "2026-11-12T09:00:00Z" } };
    expect(patched(past, { priority: 1 })).toMatchObject({ priority: 1, schedule: { kind: "at" } });
    expect(patched(past, { schedule: { delay: "0s" } }).schedule).toEqual({ kind: "at", at: now });
    expect(faultsOf(past, { schedule: { at: "2026-11-13T00:00:00Z" } })).toEqual(["/schedule/at schedule_in_past"]);
    expect(patched(nightly, { schedule: { now: true } }).schedule).toEqual({ kind: "at", at: now });
  });

  it.each<[string, unknown, string]>([
    ["no object", [], " field_invalid"],
    ["an unknown field", { prioritty: 3 }, "/prioritty unknown_field"],
    ["a field of the server", { state: "paused" }, "/state unknown_field"],
    ["two values for one field", { timezone: "UTC", schedule: { time_zone: "Asia/Tokyo" } }, "/timezone field_invalid"],
    ["a wrong type", { priority: "9" }, "/priority field_invalid"],
    ["a wrong member", { schedule: { dst: { gap: "no" } } }, "/schedule/dst/gap field_invalid"],
    ["an unknown member", { retry: { tries: 3 } }, "/retry/tries unknown_field"],
    ["no task", { task: null }, "/task field_invalid"],
    ["no schedule", { schedule: null }, "/schedule field_invalid"],
    ["no rule", { schedule: { cron: null } }, "/schedule/time_zone schedule_invalid"],
    ["another key", { key: "other" }, "/key field_invalid"],
    ["a bad rule", { schedule: { cron: "61 * * * *" } }, "/schedule/cron cron_invalid"],
    ["two rules", { schedule: { every: "1h", manual: true } }, "/schedule/manual schedule_invalid"],
    [
      "what the new kind does not take",
      { schedule: { manual: true, jitter: "1s" } },
      "/schedule/jitter schedule_invalid",
    ],
    ["NUL", { owner: "a\0b" }, "/owner field_invalid"],
  ])("refuses a patch with %s", (_what, patch, fault) => {
    expect(faultsOf({ ...nightly, key: "k" }, patch)).toContain(fault);
  });

  it("accepts a patch with the present key of the job", () => {
    expect(patched({ ...nightly, key: "k" }, { key: "k" }).key).toBe("k");
  });

  it("refuses a patch that removes the rule of a recurring job", () => {
    expect(faultsOf({ schedule: { every: "1h" } }, { schedule: { every: null } })).toEqual([
      "/schedule schedule_invalid",
    ]);
  });
});

describe("a definition that replaces another", () => {
  const replaced = (before: object, body: object): JobSpec =>
    normaliseJobRequest({ task: "echo", ...body }, { now, current: specOf(before) }).spec;

  it("keeps a definition unchanged when the same request is sent again", () => {
    fc.assert(
      fc.property(anyJob, (body) => {
        const isRelative = "delay" in (body.schedule ?? {});
        fc.pre(!isRelative);
        expect(replaced(body, body)).toEqual(specOf(body));
      }),
    );
  });

  it("refuses a replacement without a schedule for a recurring job", () => {
    expect(() => replaced(nightly, {})).toThrow(expect.objectContaining({ code: "schedule_invalid" }));
  });
});
