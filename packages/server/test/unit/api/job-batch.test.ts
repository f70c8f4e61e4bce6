import type { JobBatchCreated, JobPreview } from "@carillon/contract";
import { CarillonError, formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";
import { uuid } from "./fake-state.js";

describe("batches of jobs", () => {
  it.each(["/v1/jobs:batchCreate", "/jobs:batchCreate"])(
    "%s returns a result for each job of a batch, in order",
    async (url) => {
      const api = apiUnderTest();
      const jobs = [
        { task: "echo" },
        { task: "echo", priority: 12 },
        null,
        { task: "sleep", key: "a" },
        { task: "b", key: "a" },
      ];
      const response = await api.post(url, { jobs });
      const { results, created, refused } = response.json<JobBatchCreated>();
      expect([response.statusCode, created, refused]).toEqual([200, 2, 3]);
      expect(
        results.map(({ id, problem }) => id ?? `${problem?.status} ${problem?.code} ${problem?.errors[0]?.pointer}`),
      ).toEqual([
        formatId("job", uuid(1)),
        "400 field_invalid /priority",
        "400 field_invalid ",
        formatId("job", uuid(2)),
        "409 key_taken undefined",
      ]);
    },
  );

  it("refuses a batch of jobs that is not one", async () => {
    for (const body of [{}, { jobs: [] }, { jobs: "all" }, []]) {
      expect(refusalOf(await apiUnderTest().post("/v1/jobs:batchCreate", body)).status).toBe(400);
    }
  });

  it("a batch of jobs fails as a whole when the server stored none of them", async () => {
    const api = apiUnderTest();
    api.engine.failNextCall(new CarillonError("database_unavailable", "gone"));
    const response = await api.post("/v1/jobs:batchCreate", { jobs: [{ task: "echo" }] });
    expect(refusalOf(response)).toMatchObject({ status: 503, code: "database_unavailable" });
  });

  it("reports each failure of a batch of jobs that was stored in part", async () => {
    const api = apiUnderTest();
    api.engine.failNextCall(new CarillonError("database_unavailable", "host 10.0.0.1 is gone"));
    const { results } = (
      await api.post("/v1/jobs:batchCreate", { jobs: [{ task: "a" }, { task: "b" }] })
    ).json<JobBatchCreated>();
    expect(results).toMatchObject([
      { problem: { code: "database_unavailable", retryable: true } },
      { id: formatId("job", uuid(1)) },
    ]);
    expect(JSON.stringify(results)).not.toContain("10.0.0.1");
  });
});

describe("previews", () => {
  it("a preview shows fires and warnings and stores nothing", async () => {
    const api = apiUnderTest();
    const schedule = { cron: "30 2 * * *", time_zone: "America/New_York", jitter: "30s", max_runs: 2 };
    const preview = (await api.post("/v1/jobs:preview?count=5", { schedule })).json<JobPreview>();
    expect(preview.fires.map((fire) => [fire.scheduled_for, fire.run_at, fire.local_time])).toEqual([
      ["2026-11-13T07:30:00.000Z", "2026-11-13T07:30:00.000Z", "2026-11-13T02:30:00-05:00"],
      ["2026-11-14T07:30:00.000Z", "2026-11-14T07:30:00.000Z", "2026-11-14T02:30:00-05:00"],
    ]);
    expect(preview.warnings).toMatchObject([{ code: "clock_change", at: expect.any(String) }]);
    expect(api.engine.jobs.stored).toEqual([]);
  });

  it.each([
    ["never_fires", { cron: "0 9 * * *", starts_at: "2027-01-01T10:00:00Z", ends_at: "2027-01-02T08:00:00Z" }],
    ["first_fire_far", { cron: "30 4 * * *", starts_at: "2031-01-01T00:00:00Z" }],
    ["ends_in_past", { every: "1h", ends_at: "2020-01-01T00:00:00Z" }],
    ["clock_change", { cron: "30 2 * * *", time_zone: "Europe/Paris" }],
    ["both_day_fields", { cron: "30 4 13 * FRI" }],
    ["on_the_hour", { cron: "0 * * * *" }],
    ["jitter_near_interval", { every: "1m", jitter: "40s" }],
  ])("a preview warns of %s", async (code, schedule) => {
    const { warnings } = (await apiUnderTest().post("/v1/jobs:preview", { schedule })).json<JobPreview>();
    expect(warnings.map((warning) => warning.code)).toContain(code);
  });

  it("a preview names the dates of clock changes, and marks their fires", async () => {
    const schedule = { cron: "30 2 28 3 *", time_zone: "Europe/Paris" };
    const preview = (await apiUnderTest().post("/v1/jobs:preview?count=1", { schedule })).json<JobPreview>();
    expect(preview.warnings).toMatchObject([{ code: "clock_change", at: "2027-03-28T01:00:00.000Z" }]);
    expect(preview.fires).toMatchObject([{ scheduled_for: "2027-03-28T01:00:00.000Z", notes: [{}] }]);
  });

  it("a preview does not warn of day fields if one is free, or both are requested", async () => {
    const api = apiUnderTest();
    for (const schedule of [{ cron: "30 4 * * FRI" }, { cron: "30 4 13 * FRI", day_match: "and" }]) {
      const { warnings } = (await api.post("/v1/jobs:preview", { schedule })).json<JobPreview>();
      expect(warnings).toEqual([]);
    }
  });

  it.each([
    ["* * * * * *", "100 other jobs fire in the same second"],
    ["*/10 * * * * *", '100 other jobs fire in the same second; jitter, such as "5s", spreads them'],
    ["30 4 * * *", '100 other jobs fire in the same second; jitter, such as "2m", spreads them'],
  ])("a preview of %s in a crowded second proposes a jitter that fits the schedule", async (cron, detail) => {
    const api = apiUnderTest();
    const jobs = Array.from({ length: 100 }, () => ({ task: "echo", schedule: { manual: true } }));
    await api.post("/v1/jobs:batchCreate", { jobs });
    const { warnings } = (await api.post("/v1/jobs:preview", { schedule: { cron } })).json<JobPreview>();
    expect(warnings).toContainEqual(expect.objectContaining({ code: "crowded_second", detail }));
  });

  it("a preview shows the fires that a calendar removes, and which calendar", async () => {
    const api = apiUnderTest();
    await api.send("PUT", "/v1/calendars/weekend", { rules: [{ weekdays: ["SAT", "SUN"] }] });
    const schedule = { cron: "0 9 * * *", calendars: { exclude: ["weekend"] } };
    const { fires } = (await api.post("/v1/jobs:preview?count=2", { schedule })).json<JobPreview>();
    expect(fires.map((fire) => [fire.outcome, fire.scheduled_for.slice(0, 10)])).toEqual([
      ["fires", "2026-11-12"],
      ["fires", "2026-11-13"],
    ]);
    const later = (await api.post("/v1/jobs:preview?count=3", { schedule })).json<JobPreview>();
    expect(later.fires[2]).toMatchObject({
      outcome: "excluded",
      notes: [{ kind: "excluded", detail: expect.stringContaining("weekend") }],
    });
  });

  it("a preview with an unknown calendar names the most similar one", async () => {
    const api = apiUnderTest();
    await api.send("PUT", "/v1/calendars/de-holidays", { rules: [{ weekdays: ["SAT", "SUN"] }] });
    const schedule = { cron: "0 9 * * *", calendars: { exclude: ["de-holydays"] } };
    const response = await api.post("/v1/jobs:preview", { schedule });
    expect(refusalOf(response)).toMatchObject({
      status: 422,
      code: "calendar_unknown",
      faults: ["/schedule/calendars/exclude/0 calendar_unknown"],
    });
    expect(response.body).toContain("did you mean de-holidays?");
  });

  it("a preview refuses a job that could not be created", async () => {
    expect(
      refusalOf(await apiUnderTest().post("/v1/jobs:preview", { schedule: { cron: "0 0 30 2 *" } })),
    ).toMatchObject({
      status: 422,
      code: "cron_never_fires",
    });
  });
});
