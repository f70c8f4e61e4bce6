import { CarillonError, type EnqueueSpec, type JobSpec } from "@carillon/core";
import { describe, expect, it } from "vitest";
import {
  normaliseJobRequest,
  plainRequest,
  readRegistration,
  readRunCreate,
  type RefuseTarget,
} from "../../../src/index.js";
import { type TaskDefaults } from "../../../src/resources/request-context.js";

const now = Date.UTC(2026, 10, 12, 8, 30);
const usual: TaskDefaults = { queue: "mail", priority: 7, timeout: "2m", retry: { max_attempts: 6, initial: "10s" } };

const contextWith = (defaults: TaskDefaults, refuseTarget: RefuseTarget = () => null) => {
  return { now, defaultsOf: (task: string) => (task === "mail.send" ? defaults : null), refuseTarget };
};
const jobOf = (body: object, defaults = usual, refuse?: RefuseTarget): JobSpec =>
  normaliseJobRequest({ task: "mail.send", ...body }, contextWith(defaults, refuse)).spec;
const runOf = (body: object, defaults = usual, refuse?: RefuseTarget): EnqueueSpec =>
  readRunCreate({ task: "mail.send", ...body }, contextWith(defaults, refuse));

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
  it("takes the defaults of its task for the fields that it leaves out", () => {
    expect(specOf({})).toMatchObject({
      queue: "mail",
      priority: 7,
      policy: { timeoutMs: 120_000, retry: { maxAttempts: 6, initialMs: 10_000 } },
    });
  });

  it("replaces a default of its task field by field, each as a whole", () => {
    const { queue, priority, policy } = specOf({ priority: 4, retry: { backoff: "fixed" } });
    expect({ queue, priority, policy }).toEqual({
      queue: "mail",
      priority: 4,
      policy: { timeoutMs: 120_000, retry: { backoff: "fixed" } },
    });
  });

  it("takes no defaults of another task", () => {
    expect(specOf({ task: "echo" })).toMatchObject({ queue: "default", priority: 4, policy: {} });
  });

  it("replaces a default of its task by an empty value", () => {
    const { policy } = specOf(
      { requires: {}, callbacks: [] },
      { requires: { gpu: "a" }, callbacks: [{ task: "notify" }] },
    );
    expect(policy).toEqual({});
  });

  it("ignores the retries of its task if it runs at most once", () => {
    expect(specOf({ guarantee: "at_most_once" }).policy).toEqual({ timeoutMs: 120_000, guarantee: "at_most_once" });
  });

  it("takes what its task does on failures only together with an ordering key", () => {
    const defaults: TaskDefaults = { ordering_on_failure: "skip" };
    expect(specOf({ ordering_key: "a" }, defaults).policy.ordering).toEqual({ key: "a", onFailure: "skip" });
    expect(specOf({}, defaults).policy.ordering).toBeUndefined();
  });

  it("says that a fault comes from a default of the task", () => {
    const defaults: TaskDefaults = { concurrency: { key: "customer:{payload.customer}", limit: 2 } };
    const [[pointer, detail] = []] = faultsOf(() => specOf({ payload: {} }, defaults));
    expect(pointer).toBe("/concurrency/key");
    expect(detail).toContain("a default of the task");
    const [[, own] = []] = faultsOf(() => specOf({ payload: {}, timeout: "0s" }, { ...defaults, timeout: "2m" }));
    expect(own).not.toContain("a default of the task");
  });

  it("says that the guarantee is a default of the task if its own attempts contradict it", () => {
    const body = { retry: { max_attempts: 3 } };
    const [[pointer, detail] = []] = faultsOf(() => specOf(body, { guarantee: "at_most_once" }));
    expect(pointer).toBe("/retry/max_attempts");
    expect(detail).toContain("The value of guarantee is a default of the task");
    const [[, own] = []] = faultsOf(() => specOf({ ...body, guarantee: "at_most_once" }, {}));
    expect(own).not.toContain("a default of the task");
    expect(specOf({ ...body, guarantee: "at_least_once" }, { guarantee: "at_most_once" }).policy).toEqual({
      retry: { maxAttempts: 3 },
    });
  });

  it("says that a refused address is a default of the task", () => {
    const defaults: TaskDefaults = { callbacks: [{ url: "http://10.0.0.1/hook" }] };
    const [[pointer, detail] = []] = faultsOf(() => specOf({}, defaults, () => "This address is closed."));
    expect(pointer).toBe("/callbacks/0/url");
    expect(detail).toContain("This address is closed. The value is a default of the task");
  });
});

describe("a job in the spelling of another system", () => {
  it.each([{ retries: 1 }, { retry_policy: { max_retries: 1 } }])("replaces the retries of its task by %j", (body) => {
    expect(jobOf(body).policy.retry).toEqual({ maxAttempts: 2 });
    const [[, detail] = []] = faultsOf(() => jobOf(body, { guarantee: "at_most_once" }));
    expect(detail).toContain("The value of guarantee is a default of the task");
  });

  it("replaces the callbacks of its task by callback_url", () => {
    const body = { job_type: "mail.send", callback_url: "https://example.com/hook" };
    const { spec } = normaliseJobRequest(body, contextWith({ ...usual, callbacks: [{ task: "notify" }] }));
    expect(spec).toMatchObject({ queue: "mail", policy: { callbacks: [{ url: "https://example.com/hook" }] } });
  });
});

it("fills in the defaults of the task when a file is compared with its job", () => {
  const body = { task: "mail.send", schedule: { cron: "0 9 * * *" } };
  const expected = { queue: "mail", priority: 7, timeout: "2m", retry: { max_attempts: 6, initial: "10s" } };
  expect(plainRequest(body, contextWith(usual))).toMatchObject(expected);
});

describe("a worker that registers", () => {
  const worker = { name: "w", queues: ["default"], tasks: ["mail.send", "a/b"], slots: 1 };

  it("registers the defaults of its tasks, {} included", () => {
    const defaults = { "mail.send": usual, "a/b": {} };
    expect(readRegistration({ ...worker, defaults }).defaults).toEqual(defaults);
    expect(readRegistration(worker)).not.toHaveProperty("defaults");
  });

  it("reports every fault in the registered defaults with its pointer", () => {
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
