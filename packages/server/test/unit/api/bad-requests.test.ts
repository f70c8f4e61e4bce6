import { CarillonError } from "@carillon/core";
import { limits } from "@carillon/contract";
import { describe, expect, it } from "vitest";
import { apiUnderTest, json, refusalOf } from "./api-under-test.js";

const send = (payload: string | Buffer, headers: Record<string, string> = json) =>
  apiUnderTest().call({ method: "POST", url: "/v1/jobs", payload, headers });

describe("reserved names", () => {
  it.each([
    ["/v1/jobs", { task: "carillon:webhook" }, "/task"],
    ["/v1/jobs", { task: "echo", queue: "carillon:webhooks" }, "/queue"],
    ["/v1/jobs", { job_type: "carillon:x" }, "/job_type"],
    ["/v1/runs", { task: "carillon:webhook" }, "/task"],
    ["/v1/runs", { task: "echo", queue: "carillon:x" }, "/queue"],
    ["/v1/jobs", { task: "echo", callbacks: [{ task: "carillon:webhook" }] }, "/callbacks/0/task"],
  ])("refuses a reserved name to users of %s in %j", async (url, body, pointer) => {
    const refused = await apiUnderTest().post(url, body);
    expect(refusalOf(refused)).toEqual({ status: 400, code: "field_invalid", faults: [`${pointer} field_invalid`] });
  });

  it("refuses reserved queue names to workers and to calls that would create such a queue", async () => {
    const api = apiUnderTest();
    const worker = { name: "w", queues: ["default"], tasks: ["carillon:webhook"], slots: 1 };
    expect((await api.post("/v1/workers:register", worker)).statusCode).toBe(400);
    expect((await api.post("/v1/queues/carillon:mine/pause", {})).statusCode).toBe(404);
    expect((await api.send("PATCH", "/v1/queues/carillon:mine", { order: "fifo" })).statusCode).toBe(404);
  });
});

describe("unreadable bodies", () => {
  it.each<[string, string | Buffer, string]>([
    ["broken JSON", '{"task": "echo",}', "json_invalid"],
    ["cut-off JSON", '{"task": "ec', "json_invalid"],
    ["nothing", "", "json_invalid"],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0xfe, 0x22]), "json_invalid"],
    ["a member named __proto__", '{"task": "echo", "payload": {"__proto__": {"admin": true}}}', "json_invalid"],
    [
      "a constructor with a prototype",
      '{"task": "echo", "payload": {"constructor": {"prototype": {}}}}',
      "json_invalid",
    ],
    ["NaN", '{"task": "echo", "priority": NaN}', "json_invalid"],
    ["an array", "[]", "field_invalid"],
    ["a number", "1e999", "field_invalid"],
    ["null", "null", "field_invalid"],
    ["a number too large to keep", '{"task": "echo", "payload": 1e999}', "field_invalid"],
    ["digits that would be lost", '{"task": "echo", "payload": [12345678901234567890]}', "field_invalid"],
    ["NUL", '{"task": "echo", "payload": "a\\u0000b"}', "field_invalid"],
    ["half a character", '{"task": "echo", "owner": "\\ud83d"}', "field_invalid"],
    [
      "nesting without end",
      `{"task": "echo", "payload": ${"[".repeat(400_000)}${"]".repeat(400_000)}}`,
      "field_invalid",
    ],
  ])("refuses a body: %s", async (_what, payload, code) => {
    expect(refusalOf(await send(payload))).toMatchObject({ status: 400, code });
  });

  it("refuses a body that is too large", async () => {
    const payload = JSON.stringify({ task: "echo", payload: "x".repeat(limits.bodyBytes) });
    expect(refusalOf(await send(payload))).toMatchObject({ status: 413, code: "payload_too_large" });
  });

  it("accepts a body just below the limit", async () => {
    const payload = JSON.stringify({ task: "echo", payload: "x".repeat(limits.bodyBytes - 100) });
    expect((await send(payload)).statusCode).toBe(201);
  });

  it.each([
    ["text/plain"],
    ["application/x-www-form-urlencoded"],
    ["application/jsonp"],
    ["multipart/form-data; boundary=x"],
    ["garbage"],
  ])("refuses a body of the type %s", async (type) => {
    expect(refusalOf(await send("task=echo", { "content-type": type }))).toMatchObject({
      status: 415,
      code: "unsupported_media_type",
    });
  });

  it("accepts a body with a charset and with a byte order mark", async () => {
    expect(
      (await send('\ufeff{"task": "echo"}', { "content-type": "application/json; charset=utf-8" })).statusCode,
    ).toBe(201);
  });

  it("refuses a missing body", async () => {
    const response = await apiUnderTest().call({ method: "POST", url: "/v1/jobs" });
    expect(refusalOf(response)).toMatchObject({ status: 400, code: "field_invalid" });
  });
});

describe("requests with several faults", () => {
  it("reports all faults of a request in one response", async () => {
    const body = {
      taks: "echo",
      priority: 10,
      labels: { "-bad": "x", ok: 5 },
      key: "a b",
      overlap: "skipp",
      dedupe: "k",
      status: "queued",
      every: "1m",
      timeout: "soon",
      schedule: { cron: "61 * * * *", time_zone: "Mars/Olympus", calendars: { exclude: ["a b"] } },
      retry: { max_attempts: 0, initial: "x" },
    };
    const response = await apiUnderTest().post("/v1/jobs", body);
    const { faults, ...rest } = refusalOf(response);
    expect(rest).toEqual({ status: 400, code: "bad_request" });
    expect(faults.sort()).toEqual([
      "/dedupe not_supported_yet",
      "/every unknown_field",
      "/key field_invalid",
      "/labels/-bad field_invalid",
      "/labels/ok field_invalid",
      "/overlap field_invalid",
      "/priority field_invalid",
      "/retry/initial duration_invalid",
      "/retry/max_attempts field_invalid",
      "/schedule/calendars/exclude/0 field_invalid",
      "/schedule/cron cron_invalid",
      "/schedule/time_zone time_zone_unknown",
      "/status unknown_field",
      "/taks unknown_field",
      "/task field_missing",
      "/timeout duration_invalid",
    ]);
  });

  it("a request whose faults share a code gets that code and its status", async () => {
    const response = await apiUnderTest().post("/v1/jobs", { task: "echo", schedule: { cron: "0 0 30 2 *" } });
    expect(refusalOf(response)).toEqual({
      status: 422,
      code: "cron_never_fires",
      faults: ["/schedule/cron cron_never_fires"],
    });
  });

  it("bounds the number of reported faults", async () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 1]));
    expect(refusalOf(await apiUnderTest().post("/v1/jobs", body)).faults.length).toBe(limits.findings);
  });
});

describe("unreadable addresses", () => {
  it.each([["/%zz"], ["/v1/jobs/%"], ["/v1/jobs/%ff%fe"], ["/v1/jobs/%c3%28/runs"]])(
    "refuses the address %s",
    async (url) => {
      const response = await apiUnderTest().get(url);
      expect([400, 404]).toContain(response.statusCode);
      refusalOf(response);
    },
  );

  it("an unknown address gets a problem document", async () => {
    expect(refusalOf(await apiUnderTest().get("/v1/nothing"))).toMatchObject({ status: 404, code: "not_found" });
  });

  it("does not read an unknown verb as an id", async () => {
    expect(refusalOf(await apiUnderTest().post("/v1/jobs/job_1:explode", {}))).toMatchObject({
      status: 404,
      code: "not_found",
    });
  });
});

describe("failures behind the API", () => {
  it("a database failure gets 503 with Retry-After", async () => {
    const api = apiUnderTest();
    api.engine.failNextCall(
      new CarillonError("database_unavailable", "The database cannot be reached: connection refused"),
    );
    const response = await api.get("/v1/jobs");
    expect(refusalOf(response)).toMatchObject({ status: 503, code: "database_unavailable" });
    expect(response.headers["retry-after"]).toMatch(/^\d+$/);
    expect(response.body).not.toContain("connection refused");
  });

  it("an unexpected error gets 500, is logged with its request id, and exposes no detail to the caller", async () => {
    const api = apiUnderTest();
    api.engine.failNextCall(new Error("password=hunter2"));
    const response = await api.app.inject({ method: "GET", url: "/v1/jobs", headers: { "x-request-id": "mine-1" } });
    expect(refusalOf(response)).toEqual({ status: 500, code: "internal", faults: [] });
    expect(response.body).not.toContain("hunter2");
    expect(response.json()).toMatchObject({ request_id: "mine-1" });
  });
});

describe("request ids", () => {
  it("uses the caller's request id if it is harmless", async () => {
    const response = await apiUnderTest().get("/version", { "x-request-id": "trace-42" });
    expect(response.headers["x-request-id"]).toBe("trace-42");
  });

  it.each(["", "a b", "x".repeat(200), "<script>"])("replaces the request id %j by its own", async (given) => {
    const response = await apiUnderTest().get("/version", { "x-request-id": given });
    expect(response.headers["x-request-id"]).toBe("req_1");
  });
});
