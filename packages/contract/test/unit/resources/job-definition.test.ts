import { describe, expect, it } from "vitest";
import { plainRequest } from "../../../src/index.js";

const now = Date.parse("2030-01-01T00:00:00Z");
const plain = (body: object) => plainRequest(body, { now });
const job = { key: "k", task: "echo", schedule: { cron: "0 2 * * *" } };

describe("a definition reduced to what differs from the defaults", () => {
  it.each<[object, object]>([
    [
      { priority: 4, queue: "default", payload: null, labels: {}, retry: {}, overlap: "skip", catchup_window: "24h" },
      {},
    ],
    [{ retry: { max_attempts: 5, initial: "1000ms" } }, {}],
    [
      { retries: 2, timezone: "UTC", user_id: "me" },
      { retry: { max_attempts: 3 }, owner: "me" },
    ],
    [
      { timeout: "90s", payload: {} },
      { timeout: "1m30s", payload: {} },
    ],
    [{ guarantee: "at_most_once" }, { guarantee: "at_most_once" }],
    [{ guarantee: "at_most_once", retry: { max_attempts: 1 } }, { guarantee: "at_most_once" }],
    [
      { breaker: { name: "echo", min_calls: 3 } },
      { breaker: { min_calls: 3, failure_ratio: 0.5, window: "1m", open_for: "30s" } },
    ],
    [
      { allow_spot: true, requires: { gpu: "a" } },
      { allow_spot: true, requires: { gpu: "a" } },
    ],
  ])("keeps of %j only the fields that differ from the defaults", (said, own) => {
    expect(plain({ ...job, ...said })).toEqual({ ...job, ...own });
  });

  it.each<object>([
    { ...job, schedule: { every: "1h30m", starts_at: "2030-01-01T00:00:00.000Z", jitter: "30s" } },
    { ...job, schedule: { at: "2020-01-01T00:00:00.000Z" } },
    { ...job, schedule: { after: [{ job: "a", on: "success" }], mode: "any" } },
    { ...job, payload: { a: { b: 1 } }, searchable: ["a.b"] },
    { ...job, schedule: { manual: true }, concurrency: { limit: 2 }, rate_limit: { limit: 3, per: "1m" } },
    {
      ...job,
      schedule: { cron: "0 2 * * *", time_zone: "Europe/Paris", day_match: "and", calendars: { exclude: ["x"] } },
    },
  ])("keeps %j as it is", (body) => {
    expect(plain(body)).toEqual(body);
  });

  it("refuses a definition that the server would refuse", () => {
    expect(() => plain({ ...job, tsk: 1 })).toThrow(/tsk/);
  });
});
