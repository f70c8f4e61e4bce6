import type { Job, JobList, RunList, RunRetried } from "@carillon/contract";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

type ForeignJob = Job & { readonly job_id?: string; readonly task_id?: string };

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
