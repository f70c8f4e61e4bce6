import type { Job, JobResumed, JobVersionList, OccurrenceList, Run, Upcoming } from "@carillon/contract";
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
const yearly = { cron: "0 0 1 1 *", time_zone: "Europe/Paris" };

async function made(over: object = {}): Promise<Job & { readonly url: string }> {
  const key = `job-${++keys}`;
  const response = await api.post("/v1/jobs", { task: "echo", key, schedule: yearly, ...over });
  expect([response.statusCode, response.body]).toEqual([201, response.body]);
  return { ...response.json<Job>(), url: `/v1/jobs/@${key}` };
}

const jobAt = async (url: string): Promise<Job> => (await api.get(url)).json<Job>();

describe("creating jobs over HTTP", () => {
  it("stores the policies of a new job, with and without a key", async () => {
    const policies = { overlap: "queue_one", misfire: "run_all", misfire_threshold: "5m", catchup_limit: 7 };
    expect(await jobAt((await made(policies)).url)).toMatchObject(policies);
    const { id } = (await api.post("/v1/jobs", { task: "echo", schedule: { delay: "1d" }, ...policies })).json<Job>();
    expect(await jobAt(`/v1/jobs/${id}`)).toMatchObject(policies);
  });

  it("accepts an instant in the far past with run_once, and runs the job", async () => {
    const schedule = { at: "2020-01-01T00:00:00Z" };
    expect(refusalOf(await api.post("/v1/jobs", { task: "echo", schedule })).code).toBe("schedule_in_past");
    const response = await api.post("/v1/jobs", { task: "echo", schedule, misfire: "run_once" });
    expect(response.json<Job>()).toMatchObject({ run: { status: "queued" } });
    const { url } = await made({ schedule, misfire: "run_once" });
    // It fires by itself; polling until it has fired is waiting for an event.
    let job: Job;
    do job = await jobAt(url);
    while (job.state === "active");
    expect(job).toMatchObject({
      state: "completed",
      last_run: { trigger: { scheduled_for: "2020-01-01T00:00:00.000Z" } },
    });
  });

  it("a batch has a result for each job", async () => {
    const { key } = await made();
    const jobs = [{ task: "echo", schedule: yearly }, { task: "" }, { task: "echo", key }, { task: "echo" }];
    const response = await api.post("/v1/jobs:batchCreate", { jobs });
    expect(response.json()).toMatchObject({
      created: 2,
      refused: 2,
      results: [
        { id: expect.stringMatching(/^job_/) },
        { problem: { code: "field_invalid" } },
        { problem: { code: "key_taken" } },
        { id: expect.stringMatching(/^job_/) },
      ],
    });
  });
});

describe("changing jobs over HTTP", () => {
  it("PATCH creates a version, and none when nothing changes", async () => {
    const { url, id } = await made({ labels: { a: "1" } });
    const changed = await api.send("PATCH", url, {
      schedule: { cron: "0 0 1 2 *" },
      labels: { b: "2" },
      overlap: "allow",
    });
    expect([changed.statusCode, changed.headers["etag"], changed.json()]).toMatchObject([
      200,
      '"v2"',
      { id, version: 2, labels: { a: "1", b: "2" }, overlap: "allow", schedule: { cron: "0 0 1 2 *" } },
    ]);
    expect((await api.send("PATCH", url, { overlap: "allow" })).headers["etag"]).toBe('"v2"');
    expect((await api.send("PATCH", url, {})).headers["etag"]).toBe('"v2"');
  });

  it("PUT creates a job, replaces it, and creates no version for the same definition", async () => {
    const url = `/v1/jobs/@put-${++keys}`;
    const body = { task: "echo", schedule: { every: "12h" }, payload: { a: [1, null] }, retry: { max_attempts: 2 } };
    const first = await api.send("PUT", url, body);
    const again = await api.send("PUT", url, body);
    expect([first.statusCode, again.statusCode]).toEqual([201, 200]);
    expect(again.json<Job>()).toMatchObject({ id: first.json<Job>().id, version: 1 });
    const other = await api.send("PUT", url, { ...body, payload: 5 });
    expect(other.json()).toMatchObject({ version: 2, payload: 5, schedule: first.json<Job>().schedule });
  });

  it("concurrent PUTs create one job", async () => {
    const url = `/v1/jobs/@put-${++keys}`;
    const sent = Array.from({ length: 5 }, (_, at) =>
      api.send("PUT", url, { task: "echo", schedule: yearly, payload: at }),
    );
    const answers = await Promise.all(sent);
    expect(answers.filter((answer) => answer.statusCode === 201).length).toBe(1);
    expect(new Set(answers.map((answer) => answer.json<Job>().id)).size).toBe(1);
  });

  it("a change with If-Match applies to that version only", async () => {
    const { url } = await made();
    expect((await api.send("PATCH", url, { priority: 5 }, { "if-match": '"v1"' })).statusCode).toBe(200);
    const before = await api.state();
    for (const refused of [
      await api.send("PATCH", url, { priority: 6 }, { "if-match": '"v1"' }),
      await api.send("PUT", url, { task: "echo", schedule: yearly }, { "if-match": '"v1"' }),
      await api.send("DELETE", url, undefined, { "if-match": '"v9"' }),
      await api.send("PUT", "/v1/jobs/@unused", { task: "echo" }, { "if-match": '"v1"' }),
    ]) {
      expect(refusalOf(refused)).toMatchObject({ status: 412, code: "precondition_failed" });
    }
    expect(await api.state()).toEqual(before);
  });

  it("stores earlier definitions, and a rollback makes one of them a new version", async () => {
    const { url } = await made({ payload: "one" });
    await api.send("PATCH", url, { payload: "two" });
    await api.send("PATCH", url, { payload: "three" });
    const { versions } = (await api.get(`${url}/versions`)).json<JobVersionList>();
    expect(versions.map((row) => [row.version, row.definition.payload, row.valid_to === null])).toEqual([
      [3, "three", true],
      [2, "two", false],
      [1, "one", false],
    ]);
    const back = await api.post(`${url}:rollback`, { version: 1 });
    expect(back.json()).toMatchObject({ version: 4, payload: "one" });
    const paged = (await api.get(`${url}/versions?page_size=1`)).json<JobVersionList>();
    const second = await api.get(`${url}/versions?page_size=1&page_token=${paged.next_page_token}`);
    expect(second.json<JobVersionList>().versions[0]?.version).toBe(3);
  });

  it("a one-off job without a key can be changed by its id", async () => {
    const { id } = (await api.post("/v1/jobs", { task: "echo", schedule: { delay: "1d" } })).json<Job>();
    const url = `/v1/jobs/${id}`;
    expect((await api.send("PATCH", url, { priority: 9, schedule: { delay: "2d" } })).json()).toMatchObject({
      id,
      priority: 9,
      state: "active",
    });
    expect((await api.post(`${url}:pause`, {})).json()).toMatchObject({ state: "paused" });
    expect((await api.send("DELETE", url)).statusCode).toBe(204);
    expect(await jobAt(url)).toMatchObject({ state: "cancelled" });
  });
});

describe("pausing and resuming jobs over HTTP", () => {
  it("a paused job shows the pause, counts the skipped occurrences, and has them in the ledger after the resume", async () => {
    const { url } = await made({ schedule: { every: "1s" } });
    const paused = await api.post(`${url}:pause`, { reason: "because", for: "1h" });
    expect(paused.json()).toMatchObject({ state: "paused", pause: { reason: "because", actor: null, missed: "none" } });
    // Occurrences pass by themselves; polling until two have passed is waiting for an event.
    let dry: JobResumed;
    do dry = (await api.post(`${url}:resume`, { dry_run: true })).json<JobResumed>();
    while (dry.missed < 2);
    expect(dry).toMatchObject({ dry_run: true, job: { state: "paused" } });
    const resumed = (await api.post(`${url}:resume`, { missed: "none" })).json<JobResumed>();
    expect(resumed).toMatchObject({ dry_run: false, job: { state: "active", pause: null } });
    const { occurrences } = (await api.get(`${url}/occurrences`)).json<OccurrenceList>();
    const left = occurrences.filter((row) => row.reason === "paused");
    expect(left.reduce((sum, row) => sum + row.count, 0)).toBe(resumed.missed);
    await api.send("DELETE", url);
  });

  it("resuming a job that is not paused changes nothing", async () => {
    const { url } = await made();
    const before = await api.state();
    expect((await api.post(`${url}:resume`, {})).json()).toMatchObject({ missed: 0, job: { state: "active" } });
    expect(await api.state()).toEqual(before);
  });
});

describe("running jobs now over HTTP", () => {
  it("run-now creates a run with its overrides, and is refused while that run is live", async () => {
    const { url, id } = await made({ payload: 1, labels: { a: "1" } });
    const body = { payload: null, priority: 9, queue: "other", labels: { b: "2" }, timeout: "5s" };
    const response = await api.post(`${url}:runNow`, body);
    const run = response.json<Run>();
    expect(run).toMatchObject({
      job_id: id,
      status: "queued",
      payload: null,
      priority: 9,
      queue: "other",
      labels: { a: "1", b: "2" },
      trigger: { kind: "run_now" },
    });
    expect((await api.get(String(response.headers["location"]))).json()).toMatchObject({ id: run.id });
    const refused = await api.post(`${url}:runNow`, {});
    expect(refusalOf(refused)).toMatchObject({ status: 409, code: "overlap_refused" });
    expect(refused.body).toContain(run.id);
    expect((await api.post(`${url}:runNow`, { force: true })).statusCode).toBe(201);
    expect(await jobAt(url)).toMatchObject({ version: 1, state: "active" });
  });

  it("run-now queues the run under queue_one", async () => {
    const { url } = await made({ overlap: "queue_one" });
    await api.post(`${url}:runNow`, {});
    expect((await api.post(`${url}:runNow`, {})).json()).toMatchObject({ status: "blocked" });
  });
});

describe("upcoming fires over HTTP", () => {
  it("lists the upcoming fires of a job", async () => {
    const { url } = await made();
    const { fires } = (await api.get(`${url}/upcoming?count=3`)).json<Upcoming>();
    expect(fires.map((fire) => fire.local_time.slice(4))).toEqual(
      Array.from({ length: 3 }, () => "-01-01T00:00:00+01:00"),
    );
    await api.post(`${url}:pause`, {});
    expect((await api.get(`${url}/upcoming`)).json()).toEqual({ fires: [] });
  });

  it("a cancelled job releases its key, stays readable, and refuses every change with 409", async () => {
    const { url, id, key } = await made();
    await api.post(`${url}:runNow`, {});
    const cancelled = await api.post(`${url}:cancel`, {});
    expect(cancelled.json()).toMatchObject({
      state: "cancelled",
      next_run_at: null,
      last_run: { status: "cancelled" },
    });
    const before = await api.state();
    const byId = `/v1/jobs/${id}`;
    for (const refused of [
      await api.send("PATCH", byId, { priority: 1 }),
      await api.send("PUT", byId, { task: "echo", schedule: yearly }),
      await api.post(`${byId}:pause`, {}),
      await api.post(`${byId}:runNow`, {}),
      await api.post(`${byId}:rollback`, { version: 1 }),
    ]) {
      expect(refusalOf(refused)).toMatchObject({ status: 409, code: "job_ended" });
    }
    expect((await api.send("DELETE", byId)).statusCode).toBe(204);
    expect(await api.state()).toEqual(before);
    expect((await api.post("/v1/jobs", { task: "echo", key, schedule: yearly })).statusCode).toBe(201);
    expect((await jobAt(url)).id).not.toBe(id);
  });
});

describe("refused calls", () => {
  const wrong: [string, "GET" | "PUT" | "PATCH" | "POST" | "DELETE", string, unknown, number][] = [
    ["a priority beyond the bounds", "PATCH", "", { priority: 10 }, 400],
    ["a field that does not exist", "PATCH", "", { prio: 1 }, 400],
    ["a rule that never fires", "PATCH", "", { schedule: { cron: "0 0 31 2 *" } }, 422],
    ["another key", "PATCH", "", { key: "else" }, 400],
    ["no task", "PUT", "", { schedule: yearly }, 400],
    ["a calendar that does not exist", "PATCH", "", { schedule: { calendars: { only: ["nope"] } } }, 422],
    ["a pause into the past", "POST", ":pause", { until: "2020-01-01T00:00:00Z" }, 400],
    ["a word that is none", "POST", ":resume", { missed: "every" }, 400],
    ["a body that is a list", "POST", ":cancel", [], 400],
    ["a duration that is none", "POST", ":runNow", { timeout: "long" }, 422],
    ["a version that never was", "POST", ":rollback", { version: 99 }, 404],
    ["a version that is text", "POST", ":rollback", { version: "1" }, 400],
    ["a parameter that does not exist", "DELETE", "?force=1", undefined, 400],
    ["a count of nothing", "GET", "/upcoming?count=0", undefined, 400],
    ["a token of nowhere", "GET", "/occurrences?page_token=abc", undefined, 400],
  ];

  it.each(wrong)("the refused call %s changes no row", async (_what, method, rest, body, status) => {
    const { url } = await made();
    const before = await api.state();
    const payload =
      body === undefined ? {} : { payload: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await api.call({ method, url: `${url}${rest}`, ...payload });
    expect(refusalOf(response).status).toBe(status);
    expect(await api.state()).toEqual(before);
  });

  it.each([
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", ":pause"],
    ["POST", ":resume"],
    ["POST", ":cancel"],
    ["POST", ":runNow"],
    ["GET", "/versions"],
    ["GET", "/occurrences"],
    ["GET", "/upcoming"],
  ] as const)("the call %s {job}%s from another namespace gets 404 and changes no row", async (method, rest) => {
    const { id, key } = await made();
    const before = await api.state();
    const payload = method === "PATCH" ? { payload: "{}", headers: { "content-type": "application/json" } } : {};
    for (const name of [id, `@${key}`]) {
      const response = await api.other.call({ method, url: `/v1/jobs/${name}${rest}`, ...payload });
      expect(refusalOf(response)).toMatchObject({ status: 404, code: "not_found" });
    }
    expect(await api.state()).toEqual(before);
  });
});
