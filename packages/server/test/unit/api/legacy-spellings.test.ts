import type { Job, JobList, Problem, RunList, RunRetried } from "@carillon/contract";
import { formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

type ForeignJob = Job & { readonly job_id?: string; readonly task_id?: string; readonly log_url?: string };

describe("spellings of other systems", () => {
  it("accepts a job with job_type, schedule_time and retries", async () => {
    const body = { job_type: "echo", schedule_time: "2026-11-12T12:00:00Z", payload: { a: 1 }, retries: 3 };
    const job = (await apiUnderTest().post("/v1/jobs", body)).json<ForeignJob>();
    expect(job).toMatchObject({ task: "echo", payload: { a: 1 }, retry: { max_attempts: 4 } });
    expect(job.schedule).toMatchObject({ at: "2026-11-12T12:00:00.000Z" });
    expect([job.job_id, job.task_id]).toEqual([job.id, job.id]);
  });

  it.each(["cron", "cron_expression"])("accepts a schedule with %s and timezone at the top level", async (name) => {
    const body = { task: "echo", [name]: "0 9 * * MON", timezone: "Asia/Tokyo", user_id: "u003" };
    const job = (await apiUnderTest().post("/jobs", body)).json<Job>();
    expect(job.schedule).toMatchObject({ cron: "0 9 * * MON", time_zone: "Asia/Tokyo" });
    expect(job.owner).toBe("u003");
  });

  it("accepts a retry policy as retry_policy", async () => {
    const body = { task: "echo", retry_policy: { max_attempts: 7 } };
    expect((await apiUnderTest().post("/v1/jobs", body)).json<Job>().retry).toMatchObject({ max_attempts: 7 });
  });

  it("accepts a callback as callback_url, for every end, with the output", async () => {
    const api = apiUnderTest();
    const url = "https://example.com/done";
    const job = (await api.post("/v1/jobs", { job_type: "echo", callback_url: url })).json<Job>();
    expect(job.callbacks).toEqual([{ url, on: ["succeeded", "failed", "cancelled"], include: ["output", "error"] }]);
    const both = await api.post("/v1/jobs", { task: "echo", callback_url: url, callbacks: [{ url }] });
    expect(refusalOf(both)).toMatchObject({ status: 400, faults: ["/callback_url field_invalid"] });
    const wrong = await api.post("/v1/jobs", { task: "echo", callback_url: "https://u:p@example.com/" });
    expect(refusalOf(wrong)).toMatchObject({ status: 400, faults: ["/callback_url field_invalid"] });
  });

  it("changes a job by the same names as POST, and answers in them", async () => {
    const api = apiUnderTest();
    const { id } = (await api.post("/v1/jobs", { task: "echo", schedule: { cron: "@daily" } })).json<Job>();
    const change = {
      cron_expression: "0 6 * * *",
      timezone: "Asia/Tokyo",
      retries: 2,
      priority: "high",
      user_id: "u9",
    };
    const changed = (await api.send("PATCH", `/v1/jobs/${id}`, change)).json<ForeignJob>();
    expect(changed).toMatchObject({
      schedule: { cron: "0 6 * * *", time_zone: "Asia/Tokyo" },
      retry: { max_attempts: 3 },
      priority: 7,
      owner: "u9",
      cron_expression: "0 6 * * *",
      timezone: "Asia/Tokyo",
    });
    const removed = (await api.send("PATCH", `/v1/jobs/${id}`, { user_id: null, retries: null })).json<Job>();
    expect([removed.owner, removed.retry.max_attempts]).toEqual([null, 5]);
    const wrong = await api.send("PATCH", `/v1/jobs/${id}`, { cron_expression: "x", retries: -1 });
    expect(refusalOf(wrong).faults).toEqual(["/retries field_invalid"]);
    expect(refusalOf(await api.send("PATCH", `/v1/jobs/${id}`, { cron: "x" })).faults).toEqual(["/cron cron_invalid"]);
  });

  it.each(["/jobs", "/task"])("answers GET %s/{id} in the names of other systems too", async (address) => {
    const api = apiUnderTest();
    const body = {
      job_type: "echo",
      cron: "0 9 * * *",
      timezone: "Asia/Tokyo",
      retries: 3,
      callback_url: "https://a.example/x",
    };
    const { id } = (await api.post(address, body)).json<Job>();
    const job = (await api.get(`${address}/${id}`)).json<ForeignJob>();
    expect(job).toMatchObject({
      cron_expression: "0 9 * * *",
      timezone: "Asia/Tokyo",
      retry_policy: { max_attempts: 4, max_retries: 3 },
      callback_url: "https://a.example/x",
      next_run: job.next_run_at,
      next_run_time: job.next_run_at,
      retry_count: 0,
      history: [],
      log_url: null,
    });
    expect(job.next_run_at).not.toBeNull();
    const ours = (await api.get(`/v1/jobs/${id}`)).json<object>();
    for (const name of ["cron_expression", "timezone", "retry_policy", "next_run", "history", "retry_count", "log_url"])
      expect(ours).not.toHaveProperty(name);
  });

  it("lists the runs of a job as its history, and the retries of the last one", async () => {
    const api = apiUnderTest();
    const { id, run } = (await api.post("/task", { job_type: "echo" })).json<Job>();
    const [[job], [stored]] = [api.engine.jobs.stored, api.engine.runs.stored];
    if (job === undefined || stored === undefined) throw new Error("the job has no run");
    api.engine.runs.stored[0] = { ...stored, attempt: 3 };
    api.engine.jobs.stored[0] = { ...job, lastRun: { ...stored, attempt: 3 } };
    const shown = (await api.get(`/task/${id}`)).json<ForeignJob & { history: object[] }>();
    expect(shown).toMatchObject({ retry_count: 2, history: [{ id: run?.id, log_url: `/v1/runs/${run?.id}/logs` }] });
  });

  it("accepts /tasks, run-now, /health and /api before an address", async () => {
    const api = apiUnderTest();
    const { id } = (await api.post("/api/v1/jobs", { task: "echo", schedule: "0 9 * * *" })).json<Job>();
    const made = (await api.post("/tasks", { job_type: "echo" })).json<ForeignJob>();
    expect((await api.get(`/tasks/${made.id}`)).json<ForeignJob>().task_id).toBe(made.id);
    expect((await api.get("/tasks")).statusCode).toBe(200);
    for (const verb of ["run-now", "run", "trigger"])
      expect((await api.post(`/v1/jobs/${id}/${verb}`, { force: true })).statusCode).toBe(201);
    expect((await api.get("/health")).statusCode).toBe(200);
    expect((await api.get("/api/jobs?limit=1")).json<JobList>().jobs).toHaveLength(1);
  });

  it("takes idempotency_key in the body of a job for the header, and refuses two different keys", async () => {
    const api = apiUnderTest();
    const body = { task: "echo", idempotency_key: "order-1" };
    const first = await api.post("/v1/jobs", body);
    const again = await api.post("/v1/jobs", body);
    expect([again.headers["idempotent-replayed"], again.json<Job>().id]).toEqual(["true", first.json<Job>().id]);
    const headers = { "content-type": "application/json", "idempotency-key": "other" };
    const both = await api.call({ method: "POST", url: "/v1/jobs", headers, payload: JSON.stringify(body) });
    expect(refusalOf(both).faults).toEqual(["/idempotency_key field_invalid"]);
    const inBatch = (await api.post("/v1/jobs:batchCreate", { jobs: [body] })).json<{
      results: { problem: Problem }[];
    }>();
    expect(inBatch.results[0]?.problem.detail).toContain("the header Idempotency-Key");
  });

  it("names the pages of lists for parameters that count them", async () => {
    const response = await apiUnderTest().get("/v1/jobs?offset=20");
    expect([response.statusCode, response.json<Problem>().detail]).toEqual([
      400,
      "?offset: offset is not a parameter. Pages follow each other: send the next_page_token of the last page as page_token.",
    ]);
  });

  it("shows the location of the log as log_url", async () => {
    const api = apiUnderTest();
    const job = (await api.post("/task", { job_type: "echo" })).json<ForeignJob>();
    expect(job.log_url).toBe(`/v1/runs/${job.run?.id}/logs`);
    expect((await api.get(job.log_url ?? "")).statusCode).toBe(200);
    expect((await api.post("/v1/jobs", { task: "echo" })).json<Job>()).not.toHaveProperty("log_url");
  });

  it.each(["/task", "/v1/task"])("serves jobs at %s, with cancel and retry", async (address) => {
    const api = apiUnderTest();
    const made = (await api.post(address, { job_type: "echo" })).json<ForeignJob>();
    const shown = (await api.get(`${address}/${made.id}`)).json<ForeignJob>();
    expect([made.task_id, shown.job_id]).toEqual([made.id, made.id]);
    const [[job], [run]] = [api.engine.jobs.stored, api.engine.runs.stored];
    if (job === undefined || run === undefined) throw new Error("the job has no run");
    const failed = { ...run, status: "failed" as const, startedAt: run.createdAt, finishedAt: run.createdAt };
    api.engine.runs.stored[0] = failed;
    api.engine.jobs.stored[0] = { ...job, lastRun: failed };
    const retried = await api.post(`${address}/${made.id}/retry`, {});
    expect([retried.statusCode, retried.json<RunRetried>().is_new]).toEqual([201, true]);
    expect((await api.post(`${address}/${made.id}/cancel`, {})).json<Job>().state).toBe("cancelled");
  });

  it("DELETE of a job cancels it, without a body", async () => {
    const api = apiUnderTest();
    const { id } = (await api.post("/jobs", { task: "echo", cron: "@daily" })).json<Job>();
    const gone = await api.send("DELETE", `/jobs/${id}`);
    expect([gone.statusCode, gone.body]).toEqual([204, ""]);
    expect((await api.get(`/jobs/${id}`)).json<Job>().state).toBe("cancelled");
  });

  it("filters lists by a group of statuses and by user_id", async () => {
    const api = apiUnderTest();
    await api.post("/jobs", { task: "echo", schedule: { delay: "1h" }, user_id: "u003" });
    await api.post("/jobs", { task: "echo", schedule: { delay: "1h" }, user_id: "u004" });
    const { jobs } = (await api.get("/jobs?status=pending&user_id=u003")).json<JobList>();
    expect(jobs.map((job) => job.owner)).toEqual(["u003"]);
  });

  it("filters executions by worker, also by a name that is not a worker id", async () => {
    const response = await apiUnderTest().get("/job/executions?worker_id=w001");
    expect([response.statusCode, response.json<RunList>().runs]).toEqual([200, []]);
  });

  it("lists only the running executions of a worker, unless a status is given", async () => {
    const api = apiUnderTest();
    await api.post("/v1/runs", { task: "echo" });
    await api.post("/v1/runs", { task: "echo" });
    const [one, two] = api.engine.runs.stored;
    if (one === undefined || two === undefined) throw new Error("there are no runs");
    const workerId = "0190aaaa-0000-7000-8000-000000000001";
    const startedAt = one.createdAt;
    api.engine.runs.stored.splice(
      0,
      2,
      { ...one, status: "running", workerId, startedAt },
      {
        ...two,
        status: "succeeded",
        workerId,
        startedAt,
        finishedAt: startedAt,
      },
    );
    const worker = `worker_id=${formatId("wrk", workerId)}`;
    const statuses = async (url: string) =>
      (await api.get(url))
        .json<RunList>()
        .runs.map(({ status }) => status)
        .sort();
    expect(await statuses(`/job/executions?${worker}`)).toEqual(["running"]);
    expect(await statuses(`/v1/job/executions?${worker}&status=COMPLETED`)).toEqual(["succeeded"]);
    expect(await statuses(`/v1/runs?${worker}`)).toEqual(["running", "succeeded"]);
  });

  it.each(["SCHEDULED", "RUNNING", "COMPLETED", "FAILED", "success", "failure", "Canceled"])(
    "accepts the status %s in filters",
    async (status) => {
      expect((await apiUnderTest().get(`/v1/runs?status=${status}`)).statusCode).toBe(200);
    },
  );

  it.each(["pause", "resume", "runNow", "cancel"])(
    "accepts the verb %s after a slash, at both addresses",
    async (verb) => {
      const api = apiUnderTest();
      const { id } = (await api.post("/jobs", { task: "echo", cron: "@daily" })).json<Job>();
      expect((await api.post(`/v1/jobs/${id}/${verb}`, {})).statusCode).toBeLessThan(300);
      expect((await api.post(`/jobs/${id}/${verb === "runNow" ? "resume" : verb}`, {})).statusCode).toBeLessThan(300);
    },
  );
});
