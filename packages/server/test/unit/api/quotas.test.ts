import type { QuotaClass } from "@carillon/contract";
import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, json } from "./api-under-test.js";
import type { QuotaLimits } from "../../../src/api/http/admission.js";
import type { ApiOptions } from "../../../src/api/http/handler.js";

/** An API with these quotas; time stands still until the test advances it. */
function limitedApi(limits: QuotaLimits, options: Partial<ApiOptions> = {}) {
  const clock = new ManualClock();
  const refused: QuotaClass[] = [];
  const problems: string[] = [];
  const api = apiUnderTest({
    quotas: { limits, monotonic: () => clock.monotonic() },
    metrics: {
      contentType: "text/plain",
      render: async () => "",
      httpRequest: () => undefined,
      httpProblem: (code) => problems.push(code),
      rateLimited: (name) => refused.push(name),
      watchAdmission: () => undefined,
    },
    ...options,
  });
  return { ...api, clock, refused, problems };
}

const tenSeconds = (requests: number) => ({ requests, windowMs: 10_000 });

describe("calls over their quota", () => {
  it("a call over its quota gets 429 with the quota, the remaining requests, and the time of the next one", async () => {
    const api = limitedApi({ read: { requests: 2, windowMs: 5_000 } });
    const first = await api.get("/v1/jobs");
    expect(first.statusCode).toBe(200);
    expect(first.headers).toMatchObject({ "ratelimit-policy": '"read";q=2;w=5', ratelimit: '"read";r=1;t=3' });
    expect(first.headers["retry-after"]).toBe(undefined);
    expect((await api.get("/v1/runs")).headers["ratelimit"]).toBe('"read";r=0;t=3');
    const over = await api.get("/v1/queues");
    expect(over.statusCode).toBe(429);
    expect(over.headers).toMatchObject({
      "content-type": "application/problem+json; charset=utf-8",
      "ratelimit-policy": '"read";q=2;w=5',
      ratelimit: '"read";r=0;t=3',
      "retry-after": "3",
    });
    expect(over.json()).toMatchObject({
      status: 429,
      code: "rate_limited",
      retryable: true,
      detail: 'The quota "read" of namespace default at this node is used up: 2 requests in 5s. Try again in 3 s.',
    });
    expect(api.refused).toEqual(["read"]);
    expect(api.problems).toEqual(["rate_limited"]);
    api.clock.advance(3_000);
    expect((await api.get("/v1/queues")).statusCode).toBe(200);
  });

  it("a call over its quota has no effect, and its Idempotency-Key can be used again", async () => {
    const api = limitedApi({ write: tenSeconds(1) });
    const make = () =>
      api.call({
        method: "POST",
        url: "/v1/runs",
        headers: { ...json, "idempotency-key": "k" },
        payload: '{"task":"echo"}',
      });
    await api.post("/v1/runs", { task: "first" });
    const before = api.engine.runs.stored.length;
    expect((await make()).statusCode).toBe(429);
    expect(api.engine.runs.stored.length).toBe(before);
    api.clock.advance(10_000);
    expect((await make()).statusCode).toBe(201);
  });

  it("a call over its quota is refused before its content is checked", async () => {
    const api = limitedApi({ write: tenSeconds(1) });
    expect((await api.post("/v1/jobs", { nonsense: 1 })).statusCode).toBe(400);
    expect((await api.post("/v1/jobs", { nonsense: 1 })).statusCode).toBe(429);
  });
});

describe("quotas", () => {
  it("quotas are separate for each class and each namespace", async () => {
    const api = limitedApi({ read: tenSeconds(1), bulk: tenSeconds(1) });
    const statusOf = async (namespace: string) =>
      (await api.get("/v1/jobs", { "carillon-namespace": namespace })).statusCode;
    expect((await api.get("/v1/jobs")).statusCode).toBe(200);
    expect(await statusOf("default")).toBe(429);
    // An invalid name counts as the default namespace, and is refused later.
    expect(await statusOf("No Name")).toBe(429);
    expect(await statusOf("other")).not.toBe(429);
    expect(await statusOf("other")).toBe(429);
    const batch = { runs: [{ task: "echo" }] };
    expect((await api.post("/v1/runs:batchCreate", batch)).headers["ratelimit"]).toBe('"bulk";r=0;t=10');
    expect((await api.post("/v1/runs:batchCreate", batch)).statusCode).toBe(429);
    // Writing calls have no quota here.
    const written = await api.post("/v1/runs", { task: "echo" });
    expect([written.statusCode, written.headers["ratelimit"]]).toEqual([201, undefined]);
  });

  it("quotas count by the configured caller", async () => {
    const callerOf: ApiOptions["callerOf"] = ({ headers }) => `key ${String(headers["authorization"])}`;
    const api = limitedApi({ read: tenSeconds(1) }, { callerOf });
    for (const authorization of ["a", "b"]) expect((await api.get("/v1/jobs", { authorization })).statusCode).toBe(200);
    const over = await api.get("/v1/jobs", { authorization: "a" });
    expect(over.json<{ detail: string }>().detail).toContain("of key a at this node");
  });

  it("quotas count streams when they are opened, and HEAD as GET", async () => {
    const api = limitedApi({ stream: tenSeconds(1), read: tenSeconds(1) });
    expect((await api.get("/v1/events")).headers["ratelimit"]).toBe('"stream";r=0;t=10');
    expect((await api.get("/v1/events")).statusCode).toBe(429);
    expect((await api.call({ method: "HEAD", url: "/v1/jobs" })).statusCode).toBe(200);
    expect((await api.get("/v1/jobs")).statusCode).toBe(429);
  });

  it("quotas never refuse probes, workers, or callbacks", async () => {
    const one = tenSeconds(1);
    const api = limitedApi({ read: one, write: one, bulk: one, stream: one });
    const worker = { name: "w", queues: ["default"], tasks: ["echo"], slots: 1 };
    for (let turn = 0; turn < 3; turn++) {
      for (const probe of ["/livez", "/readyz", "/metrics", "/version", "/openapi.json", "/docs"]) {
        const answered = await api.get(probe);
        expect([probe, answered.statusCode, answered.headers["ratelimit"]]).toEqual([probe, 200, undefined]);
      }
      expect((await api.post("/v1/workers:register", worker)).statusCode).toBe(201);
      expect((await api.post("/v1/callbacks/unknown", {})).statusCode).toBe(404);
    }
    expect((await api.post("/v1/runs", { task: "echo" })).statusCode).toBe(201);
    expect(api.refused).toEqual([]);
  });

  it("without quotas the responses have no quota headers", async () => {
    const answered = await limitedApi({ read: null }).get("/v1/jobs");
    expect(answered.statusCode).toBe(200);
    expect(Object.keys(answered.headers).filter((name) => name.startsWith("ratelimit"))).toEqual([]);
  });
});
