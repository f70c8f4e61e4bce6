import type { BatchResult, Job, RunBatchCreated } from "@carillon/contract";
import { createExecutorHost, httpExecutor } from "@carillon/executors";
import { workerTimers } from "@carillon/worker";
import { describe, expect, it } from "vitest";
import { payloadFaults } from "../../../src/services/worker-service.js";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

/** The API of a node whose own worker has the http task. */
function apiThatAllows(...outboundAllowlist: string[]) {
  const host = createExecutorHost({ timers: workerTimers, env: {}, outboundAllowlist, callbackBase: () => null });
  return apiUnderTest({ checkPayload: payloadFaults([httpExecutor(host)]) });
}

const refused = { status: 422, code: "address_refused", faults: ["/payload/url address_refused"] };
const job = (url: string, over: object = {}) => ({ task: "http", payload: { url }, ...over });
const closed = "http://169.254.169.254/latest/meta-data/";
const open = "https://example.com/";

describe("http jobs at closed addresses", () => {
  it.each([
    "http://127.0.0.1:9000/hook",
    "http://127.1/",
    "http://2130706433/",
    "https://10.1.2.3/",
    closed,
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://localhost:3000/",
    "http://LOCALHOST./",
    "http://api.localhost/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://instance-data/latest",
  ])("refuses a new job at %s, names the setting that opens it, and stores nothing", async (url) => {
    const api = apiThatAllows();
    const response = await api.post("/v1/jobs", job(url));
    expect(refusalOf(response)).toEqual(refused);
    expect(response.json<{ detail: string }>().detail).toContain("CARILLON_OUTBOUND_ALLOWLIST");
    expect((await api.get("/v1/jobs")).json<{ jobs: Job[] }>().jobs).toEqual([]);
  });

  it("refuses it in every call that brings a payload", async () => {
    const api = apiThatAllows();
    const { id } = (await api.post("/v1/jobs", job(open, { schedule: { manual: true } }))).json<Job>();
    const payload = { url: closed };
    for (const [method, path, body] of [
      ["POST", "/v1/jobs", job(closed, { schedule: { cron: "0 9 * * *" } })],
      ["POST", "/v1/jobs", job(closed, { schedule: { manual: true } })],
      ["POST", "/v1/jobs:preview", job(closed)],
      ["PUT", "/v1/jobs/@web", job(closed)],
      ["PATCH", `/v1/jobs/${id}`, { payload }],
      ["POST", `/v1/jobs/${id}:runNow`, { payload }],
      ["POST", "/v1/runs", job(closed)],
      ["POST", "/v1/runs", job(closed, { delay: "1h" })],
    ] as const) {
      const response = await (method === "POST" ? api.post(path, body) : api.send(method, path, body));
      expect([method, path, response.statusCode]).toEqual([method, path, 422]);
      expect(refusalOf(response)).toEqual(refused);
    }
    for (const [path, items] of [
      ["/v1/jobs:batchCreate", { jobs: [job(closed), job(open)] }],
      ["/v1/runs:batchCreate", { runs: [job(closed), job(open)] }],
    ] as const) {
      const { results } = (await api.post(path, items)).json<RunBatchCreated & { results: BatchResult[] }>();
      expect(results.map(({ problem, id: made }) => problem?.code ?? typeof made)).toEqual([
        "address_refused",
        "string",
      ]);
    }
  });

  it("checks a host before the values of templates are known, and leaves other names to the run", async () => {
    const api = apiThatAllows();
    const data = { path: "a" };
    expect(
      refusalOf(
        await api.post("/v1/jobs", { task: "http", payload: { url: "http://10.0.0.1/{payload.data.path}", data } }),
      ),
    ).toEqual(refused);
    for (const url of [
      "https://example.com/{payload.data.path}",
      "http://intranet.example/",
      "http://metadata.example.com/",
    ])
      expect((await api.post("/v1/jobs", { task: "http", payload: { url, data } })).statusCode).toBe(201);
  });

  it("accepts what the allowlist of the server opens, and no other closed address", async () => {
    const api = apiThatAllows("loopback", "10.20.0.0/16", "metadata.google.internal");
    for (const url of [
      "http://127.0.0.1:9000/",
      "http://localhost:3000/",
      "http://api.localhost/",
      "http://10.20.3.4/",
      "http://metadata.google.internal/",
    ])
      expect([url, (await api.post("/v1/jobs", job(url))).statusCode]).toEqual([url, 201]);
    expect(refusalOf(await api.post("/v1/jobs", job("http://10.21.0.1/")))).toEqual(refused);
  });

  it("changes a job that was stored before, unless the change has the closed address", async () => {
    const api = apiUnderTest();
    const { id } = (await api.post("/v1/jobs", job(closed, { schedule: { manual: true } }))).json<Job>();
    expect((await api.send("PATCH", `/v1/jobs/${id}`, { priority: 7 })).statusCode).toBe(200);
  });
});
