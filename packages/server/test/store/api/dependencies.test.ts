import type { Forecast, Job, JobExplanation, JobPreview, Run, RunExplanation } from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;
beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

const put = (key: string, schedule: unknown) => api.send("PUT", `/v1/jobs/@${key}`, { task: "echo", schedule });

describe("dependent jobs over HTTP", () => {
  it("a job shows its upstream and downstream jobs", async () => {
    await put("a", { manual: true });
    const b = (await put("b", { after: [{ job: "a", when: "output.rows > 0" }] })).json<Job>();
    expect(b).toMatchObject({
      schedule: { after: [{ job: "a", on: "success", when: "output.rows > 0" }] },
      upstream: [{ key: "a", on: "success", state: "active", met_by: null }],
      next_run_at: null,
    });
    expect((await api.get("/v1/jobs/@a")).json<Job>().downstream).toMatchObject([{ key: "b", job_id: b.id }]);
    const explained = (await api.get("/v1/jobs/@b/explain")).json<JobExplanation>();
    expect(explained).toMatchObject({ code: "after", detail: "waits for a to succeed", upstream: [{ key: "a" }] });
  });

  it("refuses invalid dependencies with a code and a pointer", async () => {
    await put("c", { manual: true });
    await put("d", { after: [{ job: "c" }] });
    const cases = [
      [await put("e", { after: [{ job: "unserved" }] }), 422, "upstream_unknown", "/schedule/after/0/job"],
      [await put("e", { after: [{ job: "c", when: "rows >" }] }), 422, "condition_invalid", "/schedule/after/0/when"],
      [await put("c", { after: [{ job: "d" }] }), 422, "dependency_cycle", "/schedule/after"],
    ] as const;
    for (const [response, status, code, pointer] of cases) {
      expect(refusalOf(response)).toMatchObject({ status, code, faults: [`${pointer} ${code}`] });
    }
    expect(refusalOf(await api.send("DELETE", "/v1/jobs/@c"))).toMatchObject({
      status: 409,
      code: "job_has_dependants",
    });
    expect((await api.send("DELETE", "/v1/jobs/@c?dependants=detach")).statusCode).toBe(204);
  });

  it("jobs do not find dependencies in another namespace [INV-7]", async () => {
    await put("mine", { manual: true });
    const theirs = await api.other.send("PUT", "/v1/jobs/@x", { task: "echo", schedule: { after: [{ job: "mine" }] } });
    expect(refusalOf(theirs).code).toBe("upstream_unknown");
    expect(refusalOf(await api.other.get("/v1/jobs/@mine/explain")).status).toBe(404);
  });
});

describe("explanations over HTTP", () => {
  it("a run shows why it waits, and so does its explain call", async () => {
    const { id } = (await api.post("/v1/runs", { task: "pdf" })).json<Run>();
    const explained = (await api.get(`/v1/runs/${id}/explain`)).json<RunExplanation>();
    expect(explained).toMatchObject({ run_id: id, status: "queued", code: "no_worker_for_task" });
    const { waiting_on: waitingOn } = (await api.get(`/v1/runs/${id}`)).json<Run>();
    expect(waitingOn).toEqual({ code: explained.code, detail: explained.detail });
    expect(refusalOf(await api.get("/v1/runs/run_01j2nam000e008000000000009/explain")).status).toBe(404);
  });
});

describe("crowded seconds over HTTP", () => {
  const schedule = { cron: "23 17 3 * * *" };
  const warnings = async (over: object = {}) =>
    (await api.post("/v1/jobs:preview", { schedule: { ...schedule, ...over } })).json<JobPreview>().warnings;
  const jobs = (count: number) => Array.from({ length: count }, () => ({ task: "echo", schedule }));

  it("a preview warns of a crowded second, with the number of jobs and a jitter that spreads them", async () => {
    await api.post("/v1/jobs:batchCreate", { jobs: jobs(99) });
    expect((await warnings()).map(({ code }) => code)).not.toContain("crowded_second");
    await api.post("/v1/jobs:batchCreate", { jobs: jobs(1) });
    const found = (await warnings()).find(({ code }) => code === "crowded_second");
    expect(found).toMatchObject({
      detail: '100 other jobs fire in the same second; jitter, such as "2m", spreads them',
      at: expect.stringMatching(/T03:17:23\.000Z$/) as string,
    });
    expect((await warnings({ jitter: "2m" })).map(({ code }) => code)).not.toContain("crowded_second");
    expect((await warnings({ cron: "24 17 3 * * *" })).map(({ code }) => code)).not.toContain("crowded_second");
  });

  it("the forecast contains a crowded second, with the jitter that it proposes for its jobs", async () => {
    const { crowded, busiest, proposals } = (await api.get("/v1/forecast?hours=24")).json<Forecast>();
    expect(busiest?.fires).toBe(100);
    expect(crowded).toContainEqual(busiest);
    expect(proposals).toMatchObject([{ jobs: 100, peak_before: 100, jitter: "20s", peak_after: 5 }]);
    expect(proposals[0]?.examples).toHaveLength(3);
  });
});

describe("forecasts over HTTP", () => {
  it("the forecast counts fires, and refuses a range beyond its limit", async () => {
    await api.post("/v1/jobs", { task: "echo", schedule: { cron: "* * * * *" } });
    const forecast = (await api.get("/v1/forecast?hours=2")).json<Forecast>();
    expect(forecast).toMatchObject({ exact: true });
    expect(forecast.per_minute.every((fires) => fires >= 1)).toBe(true);
    for (const hours of ["0", "25", "x"])
      expect(refusalOf(await api.get(`/v1/forecast?hours=${hours}`)).status).toBe(400);
  });
});

describe("previews over HTTP", () => {
  it("a preview with a task warns if no worker serves it", async () => {
    const codes = async (body: object): Promise<string[]> =>
      (await api.post("/v1/jobs:preview", body)).json<JobPreview>().warnings.map(({ code }) => code);
    expect(await codes({ task: "pdf", schedule: { cron: "17 3 * * *" } })).toContain("no_worker_for_task");
    expect(await codes({ schedule: { cron: "17 3 * * *" } })).not.toContain("no_worker_for_task");
  });

  it("a preview refuses an invalid condition", async () => {
    const body = { schedule: { after: [{ job: "a", when: "rows >" }] } };
    expect(refusalOf(await api.post("/v1/jobs:preview", body)).code).toBe("condition_invalid");
  });
});
