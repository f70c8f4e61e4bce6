import type { Backfill, BackfillList, Job, OccurrenceList, RunList } from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;
let keys = 0;

beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

/** So far in the future that nothing fires during a test. */
const yearly = { cron: "0 0 1 1 *", time_zone: "UTC" };
const years = { from: "2020-01-01T00:00:00Z", to: "2024-06-01T00:00:00Z" };

async function made(over: object = {}): Promise<string> {
  const key = `job-${++keys}`;
  const response = await api.post("/v1/jobs", { task: "echo", key, schedule: yearly, overlap: "allow", ...over });
  expect(response.json<Job>().key).toBe(key);
  return `/v1/jobs/@${key}`;
}

/** A backfill runs in the background; polling until it has ended is waiting for an event. */
async function ended(id: string): Promise<Backfill> {
  for (;;) {
    const backfill = (await api.get(`/v1/backfills/${id}`)).json<Backfill>();
    if (backfill.state !== "running") return backfill;
  }
}

describe("backfills over HTTP", () => {
  it("counts a backfill, starts it, follows it to its end, and links its runs to it", async () => {
    const url = await made();
    const before = await api.state();
    const dry = await api.post(`${url}:backfill`, { ...years, dry_run: true });
    expect(dry.json()).toEqual({ total: 5, dry_run: true });
    expect(await api.state()).toEqual(before);
    const started = (await api.post(`${url}:backfill`, { ...years, per_second: 1_000 })).json<Backfill>();
    expect(await ended(started.id)).toMatchObject({ state: "done", total: 5, made: 5, passed: 0, reason: null });
    const { runs } = (await api.get(`${url}/runs`)).json<RunList>();
    expect(runs.map(({ trigger }) => trigger)).toEqual(
      [2024, 2023, 2022, 2021, 2020].map((year) => ({
        kind: "backfill",
        id: started.id,
        scheduled_for: `${year}-01-01T00:00:00.000Z`,
      })),
    );
  });

  it("a backfill leaves out occurrences that already ran, reports them as ledger entries, and repeats them on request", async () => {
    const url = await made();
    const fast = { ...years, per_second: 1_000 };
    for (const [over, counts] of [
      [{}, { made: 5, passed: 0 }],
      [{}, { made: 0, passed: 5 }],
      [{ repeat: true }, { made: 5, passed: 0 }],
    ]) {
      const { id } = (await api.post(`${url}:backfill`, { ...fast, ...over })).json<Backfill>();
      expect(await ended(id)).toMatchObject({ state: "done", ...counts });
    }
    const { occurrences } = (await api.get(`${url}/occurrences`)).json<OccurrenceList>();
    expect(occurrences).toMatchObject([{ reason: "already_ran", count: 5, detail: expect.stringContaining("bkf_") }]);
    expect((await api.get(`${url}/backfills`)).json<BackfillList>().backfills).toHaveLength(3);
  });

  it("aborts a backfill", async () => {
    const url = await made();
    const { id } = (await api.post(`${url}:backfill`, { ...years, per_second: 0.01 })).json<Backfill>();
    const aborted = await api.call({ method: "POST", url: `/v1/backfills/${id}:abort` });
    expect(aborted.json()).toMatchObject({ id, state: "aborted", reason: "asked" });
    expect((await ended(id)).made).toBeLessThanOrEqual(1);
  });

  it("a backfill ends when its job is cancelled", async () => {
    const url = await made();
    const { id } = (await api.post(`${url}:backfill`, { ...years, per_second: 0.01 })).json<Backfill>();
    await api.send("DELETE", url);
    expect(await ended(id)).toMatchObject({ state: "aborted", reason: "job_cancelled" });
    expect(refusalOf(await api.post(`${url}:backfill`, years)).code).toMatch(/not_found|job_ended/);
  });

  it.each([
    [{ from: "2020-01-01T00:00:00Z", to: "2999-01-01T00:00:00Z" }, "is in the future"],
    [{ from: "2024-01-01T00:00:00Z", to: "2020-01-01T00:00:00Z" }, "before it begins"],
    [{ from: "2020-01-02T00:00:00Z", to: "2020-12-31T00:00:00Z" }, "no occurrence"],
    [{ from: "1900-01-01T00:00:00Z" }, "before 1970"],
  ])("refuses a backfill for %j with the reason", async (range, words) => {
    const url = await made();
    const before = await api.state();
    const response = await api.post(`${url}:backfill`, range);
    expect(refusalOf(response)).toMatchObject({ status: 422, code: "backfill_invalid" });
    expect(response.body).toContain(words);
    expect(await api.state()).toEqual(before);
  });

  it("a backfill is visible in its own namespace only [INV-7]", async () => {
    const url = await made();
    const { id } = (await api.post(`${url}:backfill`, { ...years, per_second: 0.01 })).json<Backfill>();
    expect((await api.other.get(`/v1/backfills/${id}`)).statusCode).toBe(404);
    expect((await api.other.call({ method: "POST", url: `/v1/backfills/${id}:abort` })).statusCode).toBe(404);
    expect((await api.other.get(`${url}/backfills`)).statusCode).toBe(404);
    expect((await api.get(`/v1/backfills/${id}`)).json()).toMatchObject({ state: "running" });
  });
});
