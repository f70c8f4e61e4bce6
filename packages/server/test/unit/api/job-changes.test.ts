import type { Job, JobResumed } from "@carillon/contract";
import { CarillonError, formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf, testNow } from "./api-under-test.js";
import { uuid } from "./fake-state.js";

const nightly = { task: "echo", key: "nightly", schedule: { cron: "0 2 * * *", time_zone: "Europe/Paris" } };

async function withNightly() {
  const api = apiUnderTest();
  const job = (await api.post("/v1/jobs", nightly)).json<Job>();
  return { ...api, job };
}

describe("policies of jobs", () => {
  it("shows the policies of a job with their defaults", async () => {
    const { job } = await withNightly();
    expect(job).toMatchObject({
      overlap: "skip",
      misfire: "run_once",
      misfire_threshold: "1m",
      catchup_window: "1d",
      catchup_limit: 1_000,
      catchup_rate: 10,
      pause: null,
    });
  });

  it("shows the policies of a job as they were given, including calendars", async () => {
    const policies = {
      overlap: "queue_all",
      misfire: "run_all",
      misfire_threshold: "5m",
      catchup_window: "7d",
      catchup_limit: 5,
      catchup_rate: 0.5,
    };
    const { json } = await apiUnderTest().post("/v1/jobs", { ...nightly, ...policies });
    expect(json()).toMatchObject(policies);
  });
});

describe("PATCH of a job", () => {
  it.each(["/v1/jobs/@nightly", "/jobs/@nightly", `/v1/jobs/${formatId("job", uuid(1))}`])(
    "changes parts of the job at %s and returns its new version",
    async (url) => {
      const api = await withNightly();
      const response = await api.send("PATCH", url, { schedule: { cron: "0 3 * * *" }, overlap: "allow" });
      expect([response.statusCode, response.headers["etag"]]).toEqual([200, '"v2"']);
      expect(response.json()).toMatchObject({
        version: 2,
        overlap: "allow",
        schedule: { cron: "0 3 * * *", time_zone: "Europe/Paris" },
      });
    },
  );

  it.each([
    [{ priority: 77 }, 400, "/priority field_invalid"],
    [{ schedule: { cron: "nonsense" } }, 422, "/schedule/cron cron_invalid"],
    [{ key: "other" }, 400, "/key field_invalid"],
    [{ version: 3 }, 400, "/version unknown_field"],
    [[], 400, " field_invalid"],
  ])("refuses the change %j and changes nothing", async (body, status, fault) => {
    const api = await withNightly();
    expect(refusalOf(await api.send("PATCH", "/v1/jobs/@nightly", body))).toMatchObject({ status, faults: [fault] });
    expect(api.engine.jobs.stored[0]?.version).toBe(1);
  });
});

describe("types of PATCH", () => {
  it.each(["application/json", "application/merge-patch+json", "application/merge-patch+json; charset=utf-8"])(
    "accepts a merge patch as %s",
    async (type) => {
      const api = await withNightly();
      const headers = { "content-type": type };
      const payload = JSON.stringify({ priority: 5 });
      const response = await api.call({ method: "PATCH", url: "/v1/jobs/@nightly", headers, payload });
      expect([response.statusCode, response.json<{ priority: number }>().priority]).toEqual([200, 5]);
    },
  );
});

describe("If-Match", () => {
  const patch = { priority: 5 };

  it.each(['"v1"', 'W/"v1"', ' "v1" '])("accepts %s for the current version", async (etag) => {
    const api = await withNightly();
    const response = await api.send("PATCH", "/v1/jobs/@nightly", patch, { "if-match": etag });
    expect(response.statusCode).toBe(200);
  });

  it.each(['"v2"', '"v99999999999999999999"'])("answers 412 to %s of another version", async (etag) => {
    const api = await withNightly();
    const said = refusalOf(await api.send("PATCH", "/v1/jobs/@nightly", patch, { "if-match": etag }));
    expect(said).toMatchObject({ status: 412, code: "precondition_failed" });
    expect(api.engine.jobs.stored[0]?.version).toBe(1);
  });

  it.each(["v1", '"1"', "*", "", '"v1", "v2"', "x".repeat(500)])(
    "answers 400 to %s, which is not an ETag of the API",
    async (etag) => {
      const api = await withNightly();
      const said = refusalOf(await api.send("DELETE", "/v1/jobs/@nightly", undefined, { "if-match": etag }));
      expect(said).toEqual({ status: 400, code: "field_invalid", faults: ["If-Match field_invalid"] });
    },
  );

  it("checks If-Match in a dry run as well", async () => {
    const api = await withNightly();
    const response = await api.call({
      method: "POST",
      url: "/v1/jobs/@nightly:resume",
      headers: { "if-match": '"v7"', "content-type": "application/json" },
      payload: '{"dry_run": true}',
    });
    expect(refusalOf(response)).toMatchObject({ status: 412 });
  });
});

describe("PUT of a job", () => {
  it("creates the job of a key, then changes only what differs", async () => {
    const api = apiUnderTest();
    const { key: _, ...body } = nightly;
    const first = await api.send("PUT", "/v1/jobs/@nightly", body);
    const { id } = first.json<Job>();
    expect([first.statusCode, first.headers["location"]]).toEqual([201, `/v1/jobs/${id}`]);
    const second = await api.send("PUT", "/v1/jobs/@nightly", { ...body, priority: 7 });
    expect([second.statusCode, second.json<Job>()]).toMatchObject([200, { id, key: "nightly", priority: 7 }]);
  });

  it("PUT resets the fields that it leaves out", async () => {
    const api = await withNightly();
    await api.send("PATCH", "/v1/jobs/@nightly", { owner: "u1", overlap: "allow" });
    const job = (await api.send("PUT", "/v1/jobs/@nightly", nightly)).json<Job>();
    expect(job).toMatchObject({ owner: null, overlap: "skip" });
  });

  it("PUT by id replaces an existing job, and keeps its key", async () => {
    const api = await withNightly();
    const body = { task: "sleep", schedule: { manual: true } };
    expect((await api.send("PUT", `/v1/jobs/${api.job.id}`, body)).json()).toMatchObject({
      task: "sleep",
      key: "nightly",
    });
    expect((await api.send("PUT", `/v1/jobs/${formatId("job", uuid(99))}`, body)).statusCode).toBe(404);
  });

  it("answers a PUT with the spellings of other systems in these spellings", async () => {
    const response = await apiUnderTest().send("PUT", "/v1/jobs/@a", { job_type: "echo", cron: "@daily" });
    expect(response.json()).toHaveProperty("task_id");
  });

  it.each([
    ["another key than the address", { ...nightly, key: "daily" }, 400, "/key field_invalid"],
    ["no task", { schedule: { manual: true } }, 400, "/task field_missing"],
    ["no schedule for a job that recurs", { task: "echo" }, 422, "/schedule schedule_invalid"],
  ])("PUT refuses %s", async (_what, body, status, fault) => {
    const api = await withNightly();
    expect(refusalOf(await api.send("PUT", "/v1/jobs/@nightly", body))).toMatchObject({ status, faults: [fault] });
    expect(api.engine.jobs.stored[0]?.version).toBe(1);
  });

  it("PUT refuses If-Match for an unused key", async () => {
    const said = refusalOf(await apiUnderTest().send("PUT", "/v1/jobs/@a", nightly, { "if-match": '"v1"' }));
    expect(said).toMatchObject({ status: 412, code: "precondition_failed" });
  });
});

describe("cancelling jobs", () => {
  it("DELETE of a job returns 204 without a body, also a second time", async () => {
    const api = await withNightly();
    for (const url of ["/v1/jobs/@nightly", "/jobs/@nightly?running=keep"]) {
      const response = await api.send("DELETE", url);
      expect([response.statusCode, response.body, response.headers["content-type"]]).toEqual([204, "", undefined]);
    }
    expect(api.engine.jobs.lastChange).toEqual(["cancel", { running: "keep", dependants: "refuse" }, { actor: null }]);
    expect((await api.get("/v1/jobs/@nightly")).json()).toMatchObject({ state: "cancelled", next_run_at: null });
  });

  it.each(["/v1/jobs/@nightly:cancel", "/v1/jobs/@nightly/cancel", "/jobs/@nightly:cancel", "/task/@nightly/cancel"])(
    "POST %s cancels the job and returns it",
    async (url) => {
      const api = await withNightly();
      const response = await api.call({ method: "POST", url });
      expect([response.statusCode, response.json<Job>().state]).toEqual([200, "cancelled"]);
      expect("job_id" in response.json<Job>()).toBe(url.startsWith("/task"));
    },
  );

  it("refuses the options of POST :cancel in a DELETE, and invalid ones", async () => {
    const api = await withNightly();
    expect(refusalOf(await api.send("DELETE", "/v1/jobs/@nightly", { running: "keep" }))).toMatchObject({
      status: 400,
      code: "field_invalid",
    });
    expect(refusalOf(await api.send("DELETE", "/v1/jobs/@nightly?running=stop"))).toMatchObject({
      faults: ["?running field_invalid"],
    });
    expect(api.engine.jobs.stored[0]?.state).toBe("active");
  });

  it("every change of a cancelled job gets 409", async () => {
    const api = await withNightly();
    await api.send("DELETE", "/v1/jobs/@nightly");
    const refused = [
      await api.send("PATCH", "/v1/jobs/@nightly", { priority: 1 }),
      await api.post("/v1/jobs/@nightly:pause", {}),
      await api.post("/v1/jobs/@nightly:resume", {}),
      await api.post("/v1/jobs/@nightly:runNow", {}),
    ];
    expect(refused.map(refusalOf)).toEqual(refused.map(() => ({ status: 409, code: "job_ended", faults: [] })));
  });
});

describe("pausing and resuming jobs", () => {
  it("a paused job shows the reason, the start and the end of the pause", async () => {
    const api = await withNightly();
    const body = { reason: "the database moves", for: "2h", missed: "latest" };
    const job = (await api.post("/v1/jobs/@nightly:pause", body)).json<Job>();
    expect(job).toMatchObject({
      state: "paused",
      status: "paused",
      pause: {
        reason: "the database moves",
        actor: null,
        at: "2026-11-12T08:30:00.000Z",
        until: "2026-11-12T10:30:00.000Z",
        missed: "latest",
      },
    });
  });

  it.each([
    ["without a body", undefined],
    ["with an empty body that says it is JSON", ""],
    ["with an empty object", "{}"],
  ])("pauses without a body: %s", async (_what, payload) => {
    const api = await withNightly();
    const headers: Record<string, string> = payload === undefined ? {} : { "content-type": "application/json" };
    const response = await api.call({
      method: "POST",
      url: "/v1/jobs/@nightly/pause",
      headers,
      ...(payload !== undefined && { payload }),
    });
    expect([response.statusCode, response.json<Job>().pause]).toMatchObject([200, { until: null, missed: "none" }]);
  });

  it("a resume reports the number of skipped occurrences, and a dry run changes nothing", async () => {
    const api = await withNightly();
    await api.post("/v1/jobs/@nightly:pause", {});
    api.engine.jobs.missed = 3;
    const dry = (await api.post("/v1/jobs/@nightly:resume", { dry_run: true })).json<JobResumed>();
    expect(dry).toMatchObject({ missed: 3, dry_run: true, job: { state: "paused", version: 2 } });
    const response = await api.post("/v1/jobs/@nightly:resume", { missed: "latest" });
    expect(response.json()).toMatchObject({ missed: 3, dry_run: false, job: { state: "active", version: 3 } });
    expect(response.headers["etag"]).toBe('"v3"');
    expect(api.engine.jobs.lastChange).toEqual(["resume", { missed: "latest" }, { actor: null }]);
  });

  it.each([
    ["pause", { until: "2020-01-01T00:00:00Z" }, 400, "/until field_invalid"],
    ["pause", { for: "soon" }, 422, "/for duration_invalid"],
    ["resume", { missed: "most" }, 400, "/missed field_invalid"],
    ["resume", { dry_run: "true" }, 400, "/dry_run field_invalid"],
  ])("refuses %s with %j", async (verb, body, status, fault) => {
    const api = await withNightly();
    expect(refusalOf(await api.post(`/v1/jobs/@nightly:${verb}`, body))).toMatchObject({ status, faults: [fault] });
    expect(api.engine.jobs.stored[0]?.version).toBe(1);
  });
});

describe("running jobs now", () => {
  it("run-now returns 201 with the run and its location", async () => {
    const api = await withNightly();
    const response = await api.post("/v1/jobs/@nightly:runNow", { payload: { day: "today" }, force: true });
    const run = response.json<{ id: string }>();
    expect([response.statusCode, response.headers["location"]]).toEqual([201, `/v1/runs/${run.id}`]);
    expect(run).toMatchObject({
      payload: { day: "today" },
      trigger: { kind: "run_now", id: null },
      job_id: api.job.id,
    });
    expect(api.engine.jobs.lastChange).toEqual([
      "runNow",
      { payload: { value: { day: "today" } }, force: true },
      { actor: null },
    ]);
  });

  it("a refused run-now names the run that prevents it, and when to retry", async () => {
    const api = await withNightly();
    api.engine.failNextCall(new CarillonError("overlap_refused", "run_x is still running; say force to run beside it"));
    const response = await api.post("/v1/jobs/@nightly:runNow", {});
    expect(refusalOf(response)).toMatchObject({ status: 409, code: "overlap_refused" });
    expect(response.body).toContain("run_x");
    expect(response.headers["retry-after"]).toBe("2");
  });
});

describe("the history of jobs", () => {
  const spec = { task: "echo", queue: "default", priority: 4, payload: 1, policy: {}, labels: {} };
  const version = (number: number) => ({
    version: number,
    spec: { ...spec, schedule: { kind: "manual" } as const },
    validFrom: testNow,
    validTo: null,
    replacedBy: null,
  });

  it("lists the definitions of a job in pages", async () => {
    const api = await withNightly();
    api.engine.jobs.storedVersions.push(version(7), version(4), version(1));
    const seen: number[] = [];
    for (let token: string | null = ""; token !== null;) {
      const url: string = `/v1/jobs/@nightly/versions?page_size=2${token && `&page_token=${token}`}`;
      const page = (await api.get(url)).json<{ versions: { version: number }[]; next_page_token: string | null }>();
      seen.push(...page.versions.map((row) => row.version));
      token = page.next_page_token;
    }
    expect(seen).toEqual([7, 4, 1]);
  });

  it("rolls a job back to an earlier definition", async () => {
    const api = await withNightly();
    api.engine.jobs.storedVersions.push(version(1));
    expect((await api.post("/v1/jobs/@nightly:rollback", { version: 1 })).json()).toMatchObject({
      version: 2,
      schedule: { manual: true },
    });
    expect(refusalOf(await api.post("/v1/jobs/@nightly:rollback", { version: 5 }))).toMatchObject({
      status: 404,
      code: "version_unknown",
    });
    expect(refusalOf(await api.post("/v1/jobs/@nightly:rollback", {}))).toMatchObject({
      faults: ["/version field_missing"],
    });
  });

  it("lists the occurrences that did not run, with their reasons", async () => {
    const api = await withNightly();
    const row = { version: 1, reason: "window", from: testNow, to: testNow, count: 4, detail: "night" } as const;
    api.engine.jobs.storedOccurrences.push({ ...row, id: "a~1" }, { ...row, id: "b~1" });
    const url = "/v1/jobs/@nightly/occurrences?page_size=1";
    const first = (await api.get(url)).json<{ occurrences: unknown[]; next_page_token: string }>();
    expect(first.occurrences).toEqual([
      {
        version: 1,
        reason: "window",
        from: "2026-11-12T08:30:00.000Z",
        to: "2026-11-12T08:30:00.000Z",
        count: 4,
        detail: "night",
      },
    ]);
    expect((await api.get(`${url}&page_token=${first.next_page_token}`)).json()).toMatchObject({
      next_page_token: null,
    });
  });

  it.each(["versions", "occurrences"])("refuses page tokens of other lists for %s", async (list) => {
    const api = await withNightly();
    const token = Buffer.from("0123456789abcdef.1").toString("base64url");
    for (const given of [token, "%20", "x"]) {
      expect(refusalOf(await api.get(`/v1/jobs/@nightly/${list}?page_token=${given}`))).toMatchObject({
        status: 400,
        code: "page_token_invalid",
      });
    }
  });

  it("lists the upcoming fires", async () => {
    const api = await withNightly();
    const { fires } = (await api.get("/v1/jobs/@nightly/upcoming?count=2")).json<{ fires: unknown[] }>();
    expect(fires).toMatchObject([
      { outcome: "fires", scheduled_for: "2026-11-13T01:00:00.000Z", local_time: "2026-11-13T02:00:00+01:00" },
      { scheduled_for: "2026-11-14T01:00:00.000Z" },
    ]);
    expect((await api.get("/v1/jobs/@nightly/upcoming")).json<{ fires: unknown[] }>().fires.length).toBe(10);
    expect(refusalOf(await api.get("/v1/jobs/@nightly/upcoming?count=0")).status).toBe(400);
  });
});

it.each([
  ["PATCH", ""],
  ["DELETE", ""],
  ["POST", ":pause"],
  ["POST", ":resume"],
  ["POST", ":cancel"],
  ["POST", ":runNow"],
  ["GET", "/versions"],
  ["GET", "/occurrences"],
  ["GET", "/upcoming"],
] as const)("%s {job}%s gets 404 for an unknown job", async (method, verb) => {
  const payload = method === "PATCH" ? { payload: "{}", headers: { "content-type": "application/json" } } : {};
  const response = await apiUnderTest().call({ method, url: `/v1/jobs/@nope${verb}`, ...payload });
  expect(refusalOf(response)).toMatchObject({ status: 404, code: "not_found" });
});
