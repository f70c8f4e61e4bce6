import { CarillonError, type EnqueueSpec, type JobSpec } from "@carillon/core";
import { describe, expect, it } from "vitest";
import {
  normaliseJobRequest,
  plainRequest,
  readRegistration,
  readRunCreate,
  type RefuseTarget,
} from "../../../src/index.js";
import { type TaskDefaults } from "../../../src/resources/task-defaults.js";
const now = Date.UTC(2026, 10, 12, 8, 30);
const usual: TaskDefaults = { queue: "mail", priority: 7, timeout: "2m", retry: { max_attempts: 6, initial: "10s" } };

const moment = (defaults: TaskDefaults, refuseTarget: RefuseTarget = () => null) => {
  return { now, defaultsOf: (task: string) => (task === "mail.send" ? defaults : null), refuseTarget };
};
const jobOf = (body: object, defaults = usual, refuse?: RefuseTarget): JobSpec =>
  normaliseJobRequest({ task: "mail.send", ...body }, moment(defaults, refuse)).spec;
const runOf = (body: object, defaults = usual, refuse?: RefuseTarget): EnqueueSpec =>
  readRunCreate({ task: "mail.send", ...body }, moment(defaults, refuse));

function faultsOf(read: () => unknown): [pointer: string, detail: string][] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    return error.items.map(({ pointer, detail }) => [pointer, detail]);
  }
}

describe.each([
  ["a job", jobOf],
  ["a run", runOf],
])("a request for %s", (_what, specOf) => {
  it("has what its task says where it says nothing", () => {
    expect(specOf({})).toMatchObject({
      queue: "mail",
      priority: 7,
      policy: { timeoutMs: 120_000, retry: { maxAttempts: 6, initialMs: 10_000 } },
    });
  });

  it("wins, field by field, each taken whole", () => {
    const { queue, priority, policy } = specOf({ priority: 4, retry: { backoff: "fixed" } });
    expect({ queue, priority, policy }).toEqual({
      queue: "mail",
      priority: 4,
      policy: { timeoutMs: 120_000, retry: { backoff: "fixed" } },
    });
  });

  it("of another task has none of it", () => {
    expect(specOf({ task: "echo" })).toMatchObject({ queue: "default", priority: 4, policy: {} });
  });

  it("says no by what is empty", () => {
    const { policy } = specOf(
      { requires: {}, callbacks: [] },
      { requires: { gpu: "a" }, callbacks: [{ task: "told" }] },
    );
    expect(policy).toEqual({});
  });

  it("that is begun at most once is not refused for the retries of its task", () => {
    expect(specOf({ guarantee: "at_most_once" }).policy).toEqual({ timeoutMs: 120_000, guarantee: "at_most_once" });
  });

  it("has an order by a key of its own and the task's word on failures, and else none", () => {
    const defaults: TaskDefaults = { ordering_on_failure: "skip" };
    expect(specOf({ ordering_key: "a" }, defaults).policy.ordering).toEqual({ key: "a", onFailure: "skip" });
    expect(specOf({}, defaults).policy.ordering).toBeUndefined();
  });

  it("is told where a fault comes from that is not its own", () => {
    const defaults: TaskDefaults = { concurrency: { key: "customer:{payload.customer}", limit: 2 } };
    const [[pointer, detail] = []] = faultsOf(() => specOf({ payload: {} }, defaults));
    expect(pointer).toBe("/concurrency/key");
    expect(detail).toContain("a default of the task");
    const [[, own] = []] = faultsOf(() => specOf({ payload: {}, timeout: "0s" }, { ...defaults, timeout: "2m" }));
    expect(own).not.toContain("a default of the task");
  });

  it("is told that the guarantee is its task's where its own attempts go against it", () => {
    const body = { retry: { max_attempts: 3 } };
    const [[pointer, detail] = []] = faultsOf(() => specOf(body, { guarantee: "at_most_once" }));
    expect(pointer).toBe("/retry/max_attempts");
    expect(detail).toContain("(guarantee is a default of the task");
    const [[, own] = []] = faultsOf(() => specOf({ ...body, guarantee: "at_most_once" }, {}));
    expect(own).not.toContain("a default of the task");
    expect(specOf({ ...body, guarantee: "at_least_once" }, { guarantee: "at_most_once" }).policy).toEqual({
      retry: { maxAttempts: 3 },
    });
  });

  it("is told that an address which may not be reached is its task's", () => {
    const defaults: TaskDefaults = { callbacks: [{ url: "http://10.0.0.1/told" }] };
    const [[pointer, detail] = []] = faultsOf(() => specOf({}, defaults, () => "is closed"));
    expect(pointer).toBe("/callbacks/0/url");
    expect(detail).toContain("is closed (this is a default of the task");
  });
});

describe("a job in another system's words", () => {
  it.each([{ retries: 1 }, { retry_policy: { max_retries: 1 } }])("says its retries by %j", (body) => {
    expect(jobOf(body).policy.retry).toEqual({ maxAttempts: 2 });
    const [[, detail] = []] = faultsOf(() => jobOf(body, { guarantee: "at_most_once" }));
    expect(detail).toContain("(guarantee is a default of the task");
  });

  it("names its task and whom to tell", () => {
    const body = { job_type: "mail.send", callback_url: "https://example.com/told" };
    const { spec } = normaliseJobRequest(body, moment({ ...usual, callbacks: [{ task: "told" }] }));
    expect(spec).toMatchObject({ queue: "mail", policy: { callbacks: [{ url: "https://example.com/told" }] } });
  });
});

it("what a file asks for means the same as the job that is made of it", () => {
  const body = { task: "mail.send", schedule: { cron: "0 9 * * *" } };
  const expected = { queue: "mail", priority: 7, timeout: "2m", retry: { max_attempts: 6, initial: "10s" } };
  expect(plainRequest(body, moment(usual))).toMatchObject(expected);
});

describe("a worker that registers", () => {
  const worker = { name: "w", queues: ["default"], tasks: ["mail.send", "a/b"], slots: 1 };

  it("says what it said of its tasks, {} included", () => {
    const defaults = { "mail.send": usual, "a/b": {} };
    expect(readRegistration({ ...worker, defaults }).defaults).toEqual(defaults);
    expect(readRegistration(worker)).not.toHaveProperty("defaults");
  });

  it("is refused with every fault and its place", () => {
    const defaults = {
      "a/b": { timeout: "soon", guarantee: "at_most_once", retry: { max_attempts: 3 } },
      "mail.send": { delay: "1h", concurrency: { key: "{nothing", limit: 1 }, ordering_on_failure: "skip" },
      other: {},
    };
    expect(faultsOf(() => readRegistration({ ...worker, defaults })).map(([pointer]) => pointer)).toEqual([
      "/defaults/mail.send/delay",
      "/defaults/other",
      "/defaults/a~1b/timeout",
      "/defaults/a~1b/retry/max_attempts",
      "/defaults/mail.send/concurrency/key",
    ]);
  });
});
