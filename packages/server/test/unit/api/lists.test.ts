import type { Job, JobList, RunList } from "@carillon/contract";
import { formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";
import { uuid } from "./fake-state.js";

async function withJobs(count: number) {
  const api = apiUnderTest();
  for (let at = 0; at < count; at++) {
    await api.post("/v1/jobs", {
      task: at % 2 === 0 ? "echo" : "sleep",
      owner: `u${at % 3}`,
      queue: at === 0 ? "mail" : "default",
    });
  }
  return api;
}

describe("lists of jobs", () => {
  it("pages of a list contain every job once, newest first", async () => {
    const api = await withJobs(7);
    const seen: string[] = [];
    let token: string | null = "";
    while (token !== null) {
      const page: JobList = (await api.get(`/v1/jobs?page_size=3${token && `&page_token=${token}`}`)).json();
      expect(page.jobs.length).toBeLessThanOrEqual(3);
      seen.push(...page.jobs.map((job: Job) => job.id));
      token = page.next_page_token;
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1].map((number) => formatId("job", uuid(number))));
  });

  it.each([
    ["", 50],
    ["?page_size=1", 1],
    ["?page_size=1000000", 60],
    [`?page_size=${"9".repeat(300)}`, 60],
  ])("a list with %s has %i rows at most: a large page size is not an error", async (query, rows) => {
    const api = await withJobs(60);
    expect((await api.get(`/v1/jobs${query}`)).json<JobList>().jobs.length).toBe(rows);
  });

  it.each(["0", "-1", "1.5", "ten", "1e2", "%201", "+5"])("refuses page_size=%s", async (size) => {
    expect(refusalOf(await apiUnderTest().get(`/v1/jobs?page_size=${size}`))).toEqual({
      status: 400,
      code: "field_invalid",
      faults: ["?page_size field_invalid"],
    });
  });

  it("finds many jobs by their keys in one call, without other parameters", async () => {
    const api = apiUnderTest();
    for (const key of ["a", "b", "c"]) await api.post("/v1/jobs", { task: "echo", key, schedule: { manual: true } });
    const { jobs } = (await api.get("/v1/jobs?key=c,a,unused,a")).json<JobList>();
    expect(new Set(jobs.map(({ key }) => key))).toEqual(new Set(["a", "c"]));
    const refused = async (query: string) => refusalOf(await api.get(`/v1/jobs?${query}`)).faults;
    expect(await refused("key=a&task=echo")).toEqual(["?task field_invalid"]);
    expect(await refused("key=a,,b")).toEqual(["?key field_invalid"]);
    expect(await refused(`key=${Array.from({ length: 51 }, (_, at) => `k${at}`).join(",")}`)).toEqual([
      "?key field_invalid",
    ]);
  });

  it("filters jobs by task, queue, owner and user_id", async () => {
    const api = await withJobs(6);
    const count = async (query: string) => (await api.get(`/jobs?${query}`)).json<JobList>().jobs.length;
    expect(await count("task=echo")).toBe(3);
    expect(await count("queue=mail")).toBe(1);
    expect(await count("owner=u1")).toBe(2);
    expect(await count("user_id=u1&status=pending")).toBe(2);
    expect(await count("status=QUEUED")).toBe(6);
    expect(await count("status=completed,FAILED")).toBe(0);
  });

  it.each([
    ["an unknown parameter, with a guess", "pagesize=5", "unknown_field", "Did you mean page_size?"],
    ["a parameter given twice", "task=a&task=b", "field_invalid", "commas"],
    ["a status that does not exist", "status=sleeping", "status_unknown", "queued"],
    ["two different owners", "owner=a&user_id=b", "field_invalid", "?owner"],
    ["NUL", "task=%00", "field_invalid", "NUL"],
    ["a token that is none", "page_token=abc", "page_token_invalid", "next_page_token"],
    ["an empty filter", "task=", "field_invalid", "empty"],
  ])("refuses %s in a list of jobs", async (_what, query, code, words) => {
    const response = await apiUnderTest().get(`/v1/jobs?${query}`);
    expect(refusalOf(response)).toMatchObject({ status: 400, code });
    expect(response.json<{ detail: string }>().detail).toContain(words);
  });

  it("accepts a time with an unescaped plus in its offset", async () => {
    const api = await withJobs(1);
    for (const offset of ["+01:00", "%2B01:00", "Z"]) {
      const { statusCode } = await api.get(`/v1/jobs?created_after=2020-01-01T00:00:00${offset}`);
      expect([offset, statusCode]).toEqual([offset, 200]);
    }
    expect((await api.get("/v1/jobs?created_after=2020-01-01 00:00")).statusCode).toBe(422);
  });

  it("names the parameter of an invalid page token", async () => {
    const said = refusalOf(await apiUnderTest().get("/v1/jobs?page_token=abc"));
    expect(said.faults).toEqual(["?page_token page_token_invalid"]);
  });

  it("lists the oldest jobs first on request, with page tokens of this order", async () => {
    const api = await withJobs(3);
    const ask = async (query: string) => (await api.get(`/v1/jobs?order_by=created_at%20asc${query}`)).json<JobList>();
    const { jobs, next_page_token: token } = await ask("&page_size=2");
    expect(jobs.map((job) => job.id)).toEqual([1, 2].map((number) => formatId("job", uuid(number))));
    expect((await ask(`&page_token=${token}`)).jobs.map((job) => job.id)).toEqual([formatId("job", uuid(3))]);
    expect((await api.get(`/v1/jobs?page_token=${token}`)).statusCode).toBe(400);
    expect((await api.get("/v1/jobs?order_by=priority")).statusCode).toBe(400);
  });

  it("returns the total on request, estimated or counted", async () => {
    const api = await withJobs(6);
    const total = async (query: string) => (await api.get(query)).json<JobList>().total;
    expect(await total("/v1/jobs?task=echo&total=estimate&page_size=1")).toEqual({ count: 3, accuracy: "estimate" });
    expect(await total("/v1/runs?total=exact")).toEqual({ count: 6, accuracy: "exact" });
    expect(await total("/v1/runs?total=exact&worker_id=w001")).toEqual({ count: 0, accuracy: "exact" });
    expect(await total("/v1/jobs")).toBeUndefined();
    expect(refusalOf(await api.get("/v1/jobs?total=exact&status=failed")).faults).toEqual(["?total field_invalid"]);
  });

  it.each([
    ["payload.=1", "?payload. field_invalid"],
    ["payload.a..b=1", "?payload.a..b field_invalid"],
    ["payload=1", "?payload field_invalid"],
    [`payload.a=${"x".repeat(300)}`, "?payload.a field_invalid"],
    ["payload.a=1&payload.a=2", "?payload.a field_invalid"],
  ])("refuses the payload path in %s by its name", async (query, fault) => {
    const refused = refusalOf(await apiUnderTest().get(`/v1/runs?${query}`));
    expect([refused.status, refused.faults]).toEqual([400, [fault]]);
  });

  it("refuses the page token of a list with another filter", async () => {
    const api = await withJobs(3);
    const { next_page_token: token } = (await api.get("/v1/jobs?page_size=1&task=echo")).json<JobList>();
    expect((await api.get(`/v1/jobs?page_size=2&task=echo&page_token=${token}`)).statusCode).toBe(200);
    for (const other of ["/v1/jobs?", "/v1/jobs?task=sleep&", "/v1/runs?task=echo&"]) {
      expect(refusalOf(await api.get(`${other}page_token=${token}`))).toMatchObject({
        status: 400,
        code: "page_token_invalid",
      });
    }
  });
});

describe("lists of runs", () => {
  it.each(["/v1/runs", "/runs", "/job/executions"])("serves the list of runs at %s", async (url) => {
    const api = await withJobs(2);
    expect((await api.get(url)).json<RunList>().runs.map((run) => run.task)).toEqual(["sleep", "echo"]);
  });

  it("the list of runs of an unknown worker is empty, for any name", async () => {
    const api = await withJobs(2);
    expect((await api.get("/job/executions?worker_id=w001")).json()).toEqual({ runs: [], next_page_token: null });
  });

  it("lists the runs of one job by id or key, at the job or with a filter", async () => {
    const api = await withJobs(2);
    const { id } = (await api.post("/v1/jobs", { task: "http", key: "web" })).json<Job>();
    for (const url of [
      `/v1/jobs/${id}/runs`,
      "/jobs/@web/runs?status=queued",
      `/v1/runs?job_id=${id}`,
      "/v1/runs?job_id=@web",
    ]) {
      expect((await api.get(url)).json<RunList>().runs.map((run) => run.job_id)).toEqual([id]);
    }
    for (const url of ["/v1/jobs/@nope/runs", "/v1/runs?job_id=@nope", "/v1/runs?job_id=@a:b"]) {
      expect(refusalOf(await api.get(url))).toMatchObject({ status: 404, code: "not_found" });
    }
    expect(refusalOf(await api.get("/v1/runs?job_id=x"))).toMatchObject({
      status: 400,
      code: "id_invalid",
      faults: ["?job_id id_invalid"],
    });
  });
});

describe("single runs", () => {
  it("finds a run by its id", async () => {
    const api = await withJobs(1);
    const id = formatId("run", uuid(1));
    expect((await api.get(`/v1/runs/${id}`)).json()).toMatchObject({
      id,
      status: "queued",
      lag_ms: null,
      duration_ms: null,
    });
  });

  it("a run that waits for its next attempt has no lag", async () => {
    const api = await withJobs(1);
    const [run] = api.engine.runs.stored;
    if (run === undefined) throw new Error("no run");
    api.engine.runs.stored[0] = {
      ...run,
      status: "retrying",
      attempt: 1,
      startedAt: run.runAt,
      runAt: run.runAt + 10_000,
    };
    expect((await api.get(`/v1/runs/${formatId("run", uuid(1))}`)).json()).toMatchObject({
      status: "retrying",
      lag_ms: null,
    });
  });

  it.each([formatId("run", uuid(9)), formatId("job", uuid(1)), "x", "%00", "@key"])(
    "answers 404 to the run %s",
    async (id) => {
      const api = await withJobs(1);
      expect(refusalOf(await api.get(`/v1/runs/${id}`))).toMatchObject({ status: 404, code: "not_found" });
    },
  );
});
