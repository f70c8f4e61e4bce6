import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../../../src/openapi/document.js";
import { operations } from "../../../src/operations.js";
import type { Operation } from "../../../src/operation.js";
import { normaliseJobRequest } from "../../../src/resources/job-create.js";
import { readJobPatch } from "../../../src/resources/job-patch.js";
import { readRunCreate } from "../../../src/resources/run-create.js";
import {
  bodyHints,
  bodySpellings,
  type BodySpelling,
  pathSpellings,
  type SpelledBody,
} from "../../../src/spellings/table.js";

const now = Date.UTC(2026, 10, 12, 8, 30);
const task = { task: "echo" };

function read(kind: SpelledBody, body: object): unknown {
  return kind === "job" ? normaliseJobRequest(body, { now }).spec : readRunCreate(body, { now });
}

function faultsOf(work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    return error.items.map(({ pointer, detail }) => `${pointer}: ${detail}`);
  }
}

/** A body with the example of a row, nested where its name has a dot, and without another task. */
function bodyOf({ theirs, example }: Pick<BodySpelling, "theirs" | "example">): Record<string, unknown> {
  const [name = "", member] = theirs.split(".");
  const own = member === undefined ? { [name]: example } : { [name]: { [member]: example } };
  const zoned = theirs === "timezone" ? { cron: "@daily" } : {};
  return { ...(theirs === "job_type" || theirs === "task_name" ? {} : task), ...zoned, ...own };
}

const rows = bodySpellings.flatMap((row) => row.of.map((kind) => [row.theirs, kind, row] as const));

describe("the table of spellings", () => {
  it.each(rows)("%s of a %s is read, and changes the request", (_theirs, kind, row) => {
    const spec = read(kind, bodyOf(row));
    expect(spec).not.toEqual(read(kind, task));
  });

  it.each(rows.filter(([, kind, { ours }]) => kind === "job" && ours !== "key"))(
    "a patch of a job takes %s as POST does",
    (_theirs, _kind, row) => {
      const current = normaliseJobRequest({ ...task, cron: "30 4 * * *" }, { now }).spec;
      const { task: _task, ...patch } = bodyOf(row);
      const patched = readJobPatch(patch)(current, now);
      const isSchedule = row.ours.startsWith("schedule");
      const base = { ...(row.ours === "task" ? {} : task), ...(isSchedule ? {} : { cron: "30 4 * * *" }) };
      const created = normaliseJobRequest({ ...base, ...patch }, { now }).spec;
      expect(isSchedule ? patched.schedule : patched).toMatchObject(isSchedule ? created.schedule : created);
      expect(patched).not.toEqual(current);
    },
  );

  it.each(bodyHints.flatMap(({ theirs, of, hint }) => of.map((kind) => [theirs, kind, hint] as const)))(
    "%s of a %s is refused with a hint",
    (theirs, kind, hint) => {
      expect(faultsOf(() => read(kind, { ...task, [theirs]: "x" }))).toEqual([
        `/${theirs}: ${theirs} is not a field. ${hint}`,
      ]);
    },
  );

  it("every address belongs to an operation", () => {
    const declared = new Set(Object.values<Operation>(operations).map(({ method, path }) => `${method} ${path}`));
    for (const { method, ours } of pathSpellings) expect(declared).toContain(`${method} ${ours}`);
  });

  it("leaves the OpenAPI document to our names", () => {
    const text = JSON.stringify(openApiDocument("0"));
    for (const name of [
      "cron_expression",
      "job_type",
      "user_id",
      "callback_url",
      "schedule_time",
      "task_id",
      "log_url",
    ])
      expect(text).not.toContain(`"${name}"`);
  });
});

describe("two spellings of one field", () => {
  it("are accepted with the same value", () => {
    const spec = normaliseJobRequest({ ...task, cron: "@daily", schedule: { cron: "@daily" } }, { now }).spec;
    expect(spec.schedule).toMatchObject({ cron: "@daily" });
    expect(faultsOf(() => read("job", { ...task, retries: 3, retry: { max_attempts: 4 } }))).toEqual([]);
  });

  it("are refused by both names with different values", () => {
    expect(faultsOf(() => read("job", { ...task, cron: "@daily", schedule: { cron: "@hourly" } }))).toEqual([
      "/cron: Means the same as /schedule/cron, which has another value. Send only one of /cron and /schedule/cron.",
    ]);
    expect(faultsOf(() => read("job", { ...task, cron: "@daily", cron_expression: "@hourly" }))).toEqual([
      "/cron_expression: Means the same as /cron, which has another value. Send only one of /cron_expression and /cron.",
    ]);
    expect(faultsOf(() => read("run", { job_type: "a", ...task }))).toEqual([
      "/job_type: Means the same as /task, which has another value. Send only one of /job_type and /task.",
    ]);
  });
});

describe("values in another spelling", () => {
  it.each<[unknown, object]>([
    ["0 9 * * *", { kind: "cron", cron: "0 9 * * *" }],
    ["@daily", { kind: "cron", cron: "@daily" }],
    ["daily", { kind: "cron", cron: "@daily" }],
    ["15m", { kind: "every", everyMs: 900_000 }],
    ["every 15m", { kind: "every", everyMs: 900_000 }],
    ["@every 1h30m", { kind: "every", everyMs: 5_400_000 }],
    ["2026-11-12T09:30:00Z", { kind: "at", at: now + 3_600_000 }],
  ])("reads the schedule %j as %j", (schedule, expected) => {
    expect(normaliseJobRequest({ ...task, schedule }, { now }).spec.schedule).toMatchObject(expected);
  });

  it.each<[object, string]>([
    [{ interval: 300 }, "/interval: Must be a duration with its unit"],
    [{ frequency: "sometimes" }, "/frequency: Must be one of hourly, daily"],
    [{ schedule: "soon" }, "/schedule: Is no cron expression, duration or instant."],
    [{ priority: "hihg" }, "/priority: Must be a whole number from 0 to 9, or one of lowest"],
    [{ retry: -1 }, "/retry: Must be a whole number from 0 to 9999"],
    [{ depends_on: [{ id: 1 }] }, "/depends_on: Must be a list of keys or ids of jobs."],
    [{ job_id: "job_01k9zq3v5e0r8t2b7n4m6x1c9d" }, "/job_id: The server sets the id of a job."],
    [{ interval: "5 minutes" }, "/interval: "],
    [{ callback_url: "no url" }, "/callback_url: "],
    [{ retry_policy: { tries: 3 } }, '/retry_policy/tries: "tries" is not a field.'],
    [{ cron: null }, "/cron: Must be a string. Leave it out instead of sending null."],
  ])("refuses %j where the caller wrote it", (body, fault) => {
    const faults = faultsOf(() => read("job", { ...task, ...body }));
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });
});

describe("an unknown field", () => {
  it("is answered with at most three names, the nearest first", () => {
    const [fault = ""] = faultsOf(() => read("job", { ...task, catchup_everything_that_was_missed: 3 }));
    expect(fault).toMatch(
      /^\/catchup_everything_that_was_missed: "catchup_everything_that_was_missed" is not a field\. The nearest of the \d+ fields here are catchup_\w+, catchup_\w+, catchup_\w+\.$/,
    );
  });
});
