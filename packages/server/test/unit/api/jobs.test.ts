import type { Job } from "@carillon/contract";
import { formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf, testNow } from "./api-under-test.js";
import { uuid } from "./fake-state.js";

async function created(body: unknown): Promise<Job> {
  const response = await apiUnderTest().post("/v1/jobs", body);
  const job = response.json<Job>();
  expect({ status: response.statusCode, job }).toEqual({ status: 201, job });
  return job;
}

describe("creating jobs", () => {
  it("a job without a schedule runs once, at once, and embeds its run", async () => {
    const job = await created({ task: "echo", payload: { hello: "world" } });
    expect(job).toMatchObject({
      task: "echo",
      payload: { hello: "world" },
      queue: "default",
      priority: 4,
      key: null,
      owner: null,
      state: "active",
      status: "queued",
      version: 1,
      schedule: { at: "2026-11-12T08:30:00.000Z" },
      retry: { max_attempts: 5, backoff: "exponential", initial: "1s", max: "1h", jitter: "full" },
      run: { status: "queued", attempt: 0, trigger: { kind: "once", scheduled_for: "2026-11-12T08:30:00.000Z" } },
    });
    expect(job.run?.job_id).toBe(job.id);
    expect(job.run?.id).toBe(job.id.replace("job_", "run_"));
  });

  it("returns 201 with the location of the job and its version", async () => {
    const { headers } = await apiUnderTest().post("/v1/jobs", { task: "echo" });
    expect(headers).toMatchObject({ location: `/v1/jobs/${formatId("job", uuid(1))}`, etag: '"v1"' });
  });

  it("accepts a cron schedule with a time zone and shows the next fire in that zone", async () => {
    const job = await created({ task: "echo", schedule: { cron: "30 9 * * MON-FRI", time_zone: "Europe/Paris" } });
    expect(job).toMatchObject({
      status: "scheduled",
      schedule: { cron: "30 9 * * MON-FRI", time_zone: "Europe/Paris" },
      next_run_at: "2026-11-13T08:30:00.000Z",
      next_run_local: "2026-11-13T09:30:00.000+01:00",
      last_run: null,
    });
    expect(job.description).toContain("09:30");
    expect(job).not.toHaveProperty("run");
  });

  it("accepts an interval that starts at its anchor", async () => {
    const job = await created({
      task: "echo",
      schedule: { every: "15m", starts_at: "2026-11-12T10:00:00+01:00", max_runs: 3, jitter: "30s" },
    });
    expect(job.schedule).toEqual({
      every: "15m",
      anchor: "2026-11-12T09:00:00.000Z",
      starts_at: "2026-11-12T09:00:00.000Z",
      max_runs: 3,
      jitter: "30s",
    });
  });

  it("stores a delay as an instant", async () => {
    expect((await created({ task: "echo", schedule: { delay: "1h30m" } })).schedule).toEqual({
      at: "2026-11-12T10:00:00.000Z",
    });
  });

  it("reads an instant without an offset in its time zone", async () => {
    const { schedule } = await created({
      task: "echo",
      schedule: { at: "2026-12-24T18:00:00", time_zone: "America/New_York" },
    });
    expect(schedule).toEqual({ at: "2026-12-24T23:00:00.000Z" });
  });

  it("accepts a job that runs only on request", async () => {
    expect(await created({ task: "echo", schedule: { manual: true } })).toMatchObject({
      schedule: { manual: true },
      next_run_at: null,
    });
  });

  it("stores policies, labels, owner and key", async () => {
    const retry = {
      max_attempts: 3,
      backoff: "linear",
      initial: "10s",
      max: "5m",
      jitter: "none",
      non_retryable: ["Teapot"],
    };
    const body = {
      task: "echo",
      retry,
      timeout: "2m",
      priority: 9,
      queue: "mail",
      labels: { team: "a" },
      owner: "u1",
      key: "nightly.1",
    };
    expect(await created(body)).toMatchObject({ ...body, retry: { ...retry, factor: 2 } });
  });

  it("refuses a key of another job", async () => {
    const api = apiUnderTest();
    await api.post("/v1/jobs", { task: "echo", key: "one" });
    expect(refusalOf(await api.post("/v1/jobs", { task: "echo", key: "one" }))).toMatchObject({
      status: 409,
      code: "key_taken",
    });
  });
});

describe("spellings of other systems", () => {
  const theirs = { job_type: "echo", schedule_time: "2026-11-13T00:00:00Z", payload: 1, retries: 3, user_id: "u003" };

  it.each(["/v1/jobs", "/jobs", "/task"])(
    "accepts the spellings of other systems at %s and uses them in the response",
    async (url) => {
      const job = (await apiUnderTest().post(url, theirs)).json<Job>();
      expect(job).toMatchObject({
        task: "echo",
        owner: "u003",
        schedule: { at: "2026-11-13T00:00:00.000Z" },
        retry: { max_attempts: 4 },
        job_id: job.id,
        task_id: job.id,
      });
    },
  );

  it("does not use the spellings of other systems in other responses", async () => {
    expect(await created({ task: "echo" })).not.toHaveProperty("job_id");
  });

  it("accepts a cron job of another system with its fields at the top level", async () => {
    const body = {
      job_type: "echo",
      cron_expression: "0 9 * * *",
      timezone: "Asia/Tokyo",
      retry_policy: { max_retries: 1 },
    };
    expect(await created(body)).toMatchObject({
      schedule: { cron: "0 9 * * *", time_zone: "Asia/Tokyo" },
      retry: { max_attempts: 2 },
    });
  });

  it("finds a job at /task/{id}", async () => {
    const api = apiUnderTest();
    const job = (await api.post("/task", theirs)).json<Job>();
    expect((await api.get(`/task/${job.id}`)).json()).toMatchObject({ id: job.id, job_id: job.id, task_id: job.id });
  });
});

describe("reading jobs", () => {
  it("finds a job by id, by bare UUID and by key, with its version as ETag", async () => {
    const api = apiUnderTest();
    const { id } = (await api.post("/v1/jobs", { task: "echo", key: "k-1" })).json<Job>();
    for (const name of [id, id.toUpperCase(), uuid(1), "@k-1", "%40k-1"]) {
      const response = await api.get(`/v1/jobs/${name}`);
      expect([response.statusCode, response.headers["etag"], response.json<Job>().id]).toEqual([200, '"v1"', id]);
    }
  });

  it("warns why a completed job never ran, and of nothing else", async () => {
    const api = apiUnderTest();
    const schedule = { cron: "0 9 * * *", ends_at: "2020-01-01T00:00:00Z" };
    const { id } = (await api.post("/v1/jobs", { task: "echo", schedule })).json<Job>();
    const [job] = api.engine.jobs.stored;
    if (job === undefined) throw new Error("no job");
    api.engine.jobs.stored[0] = { ...job, state: "completed", nextRunAt: null, lastRun: null };
    const { warnings } = (await api.get(`/v1/jobs/${id}`)).json<Job>();
    expect(warnings?.map(({ code }) => code)).toEqual(["ends_in_past"]);
  });

  it("shows the result of the run of a one-off job", async () => {
    const api = apiUnderTest();
    const { id } = (await api.post("/v1/jobs", { task: "fail" })).json<Job>();
    const [job] = api.engine.jobs.stored;
    const error = { type: "Boom", message: "it broke", retryable: false };
    const workerId = uuid(77);
    if (!job?.lastRun) throw new Error("no run");
    api.engine.jobs.stored[0] = {
      ...job,
      state: "completed",
      nextRunAt: null,
      lastRun: {
        ...job.lastRun,
        status: "failed",
        statusReason: "handler_error",
        attempt: 1,
        workerId,
        startedAt: testNow + 12,
        finishedAt: testNow + 1_012,
        error,
        attempts: [
          {
            attempt: 1,
            fence: 7,
            sessionId: workerId,
            startedAt: testNow + 12,
            endedAt: testNow + 1_012,
            outcome: "failed",
            error,
          },
        ],
      },
    };
    expect((await api.get(`/v1/jobs/${id}`)).json<Job>()).toMatchObject({
      state: "completed",
      status: "failed",
      next_run_at: null,
      last_run: { status: "failed", lag_ms: 12, duration_ms: 1_000 },
      run: {
        status_reason: "handler_error",
        worker_id: formatId("wrk", workerId),
        error,
        attempts: [{ attempt: 1, fence: 7, worker_id: formatId("wrk", workerId), outcome: "failed", error }],
      },
    });
  });

  it.each([
    ["an id that nothing has", formatId("job", uuid(99))],
    ["the id of something else", formatId("run", uuid(1))],
    ["a word", "nightly"],
    ["a key that nothing has", "@nope"],
    ["what cannot be a key", "@a%20b"],
    ["NUL", "%00"],
    ["a very long name", "x".repeat(5_000)],
  ])("answers 404 to the job %s", async (_what, name) => {
    expect(refusalOf(await apiUnderTest().get(`/v1/jobs/${name}`))).toMatchObject({ status: 404, code: "not_found" });
  });

  it("reminds a caller that forgets the @ of a key", async () => {
    expect((await apiUnderTest().get("/v1/jobs/nightly")).json<{ detail: string }>().detail).toContain("@nightly");
  });
});
