import type { Backfill, BackfillList } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, json, refusalOf, testNow } from "./api-under-test.js";

const range = { from: "2026-11-01T00:00:00Z", to: "2026-11-05T01:00:00+01:00" };

async function withJob() {
  const api = apiUnderTest();
  await api.post("/v1/jobs", { task: "echo", key: "nightly", schedule: { cron: "0 2 * * *" } });
  return { ...api, backfill: (body: unknown) => api.post("/v1/jobs/@nightly:backfill", body) };
}

describe("backfills", () => {
  it("starts a backfill with 202 and its location, and shows its progress", async () => {
    const api = await withJob();
    const response = await api.backfill(range);
    const started = response.json<Backfill>();
    expect([response.statusCode, response.headers["location"]]).toEqual([202, `/v1/backfills/${started.id}`]);
    expect(started).toMatchObject({
      id: expect.stringMatching(/^bkf_/),
      job_id: expect.stringMatching(/^job_/),
      state: "running",
      from: "2026-11-01T00:00:00.000Z",
      to: "2026-11-05T00:00:00.000Z",
      total: 7,
      through: null,
      per_second: 10,
      concurrency: 10,
      repeat: false,
      force: false,
    });
    expect((await api.get(`/v1/backfills/${started.id}`)).json()).toEqual(started);
  });

  it("a backfill uses its bounds, and ends now without an upper bound", async () => {
    const api = await withJob();
    await api.backfill({ from: range.from, per_second: 0.5, concurrency: 1, repeat: true, force: true });
    const from = Date.UTC(2026, 10, 1);
    const request = { from, to: testNow, perSecond: 0.5, concurrency: 1, repeats: true, force: true };
    expect(api.engine.backfills.lastStart).toEqual([request, { actor: null }]);
  });

  it("a dry run only counts a backfill", async () => {
    const api = await withJob();
    const response = await api.backfill({ ...range, dry_run: true });
    expect([response.statusCode, response.json()]).toEqual([200, { total: 7, dry_run: true }]);
    expect(api.engine.backfills.stored).toEqual([]);
  });

  it.each([{}, { dry_run: true }])("refuses a backfill with %j when the job has another version", async (over) => {
    const api = await withJob();
    const headers = { ...json, "if-match": '"v5"' };
    const payload = JSON.stringify({ ...range, ...over });
    const response = await api.call({ method: "POST", url: "/v1/jobs/@nightly:backfill", headers, payload });
    expect(refusalOf(response)).toMatchObject({ status: 412, code: "precondition_failed" });
    expect(api.engine.backfills.stored).toEqual([]);
  });

  it.each([
    [{}, 400, ["/from field_missing"]],
    [{ ...range, from: "yesterday" }, 422, ["/from instant_invalid"]],
    [{ ...range, to: 5 }, 400, ["/to field_invalid"]],
    [{ ...range, per_second: 0 }, 400, ["/per_second field_invalid"]],
    [{ ...range, per_second: 1_001 }, 400, ["/per_second field_invalid"]],
    [{ ...range, concurrency: 0 }, 400, ["/concurrency field_invalid"]],
    [{ ...range, concurrency: 1.5 }, 400, ["/concurrency field_invalid"]],
    [{ ...range, dry_run: "true" }, 400, ["/dry_run field_invalid"]],
    [{ ...range, repeats: true }, 400, ["/repeats unknown_field"]],
    [{ ...range, to: "2030-01-01T00:00:00Z" }, 422, []],
  ])("refuses the backfill %j", async (body, status, faults) => {
    const api = await withJob();
    expect(refusalOf(await api.backfill(body))).toMatchObject({ status, faults });
    expect(api.engine.backfills.stored).toEqual([]);
  });

  it("returns the engine's reason when a backfill is impossible", async () => {
    const api = await withJob();
    api.engine.failNextCall(new CarillonError("backfill_invalid", "the range has more than 1000000 occurrences"));
    const response = await api.backfill(range);
    expect(refusalOf(response)).toMatchObject({ status: 422, code: "backfill_invalid" });
    expect(response.body).toContain("more than 1000000");
  });

  it("aborts a backfill, and a second abort returns it unchanged", async () => {
    const api = await withJob();
    const { id } = (await api.backfill(range)).json<Backfill>();
    const first = await api.call({ method: "POST", url: `/v1/backfills/${id}:abort` });
    expect(first.json()).toMatchObject({ id, state: "aborted", reason: "asked" });
    const again = await api.call({ method: "POST", url: `/v1/backfills/${id}/abort` });
    expect([again.statusCode, again.json()]).toEqual([200, first.json()]);
    expect(refusalOf(await api.post(`/v1/backfills/${id}:abort`, { now: true })).status).toBe(400);
  });

  it("lists the backfills of a job, newest first, in pages", async () => {
    const api = await withJob();
    const made: string[] = [];
    for (let count = 0; count < 3; count += 1) made.unshift((await api.backfill(range)).json<Backfill>().id);
    const seen: string[] = [];
    for (let token: string | null = ""; token !== null;) {
      const url: string = `/v1/jobs/@nightly/backfills?page_size=2${token && `&page_token=${token}`}`;
      const page = (await api.get(url)).json<BackfillList>();
      seen.push(...page.backfills.map((one) => one.id));
      token = page.next_page_token;
    }
    expect(seen).toEqual(made);
  });

  it.each([
    ["POST", "/v1/jobs/@nope:backfill"],
    ["GET", "/v1/jobs/@nope/backfills"],
    ["GET", "/v1/backfills/bkf_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    ["POST", "/v1/backfills/bkf_01k9zq3v5e0r8t2b7n4m6x1c9d:abort"],
    ["GET", "/v1/backfills/job_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    ["POST", "/v1/backfills/x:abort"],
  ] as const)("%s %s gets 404 for an unknown backfill or job", async (method, url) => {
    const body = url.endsWith(":backfill") ? { headers: json, payload: JSON.stringify(range) } : {};
    const response = await apiUnderTest().call({ method, url, ...body });
    expect(refusalOf(response)).toMatchObject({ status: 404, code: "not_found" });
  });
});
