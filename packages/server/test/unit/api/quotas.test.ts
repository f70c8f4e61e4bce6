import type { QuotaClass } from "@carillon/contract";
import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, json } from "./api-under-test.js";
import type { QuotaLimits } from "../../../src/api/http/quota.js";
import type { ApiOptions } from "../../../src/api/http/handler.js";

/** An API whose callers have these quotas; time stands still unless it is moved. */
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

describe("a call over its quota", () => {
  it("is answered 429 with what the quota is, how much is left, and when to come again", async () => {
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

  it("has done nothing, and its Idempotency-Key may be used again", async () => {
    const api = limitedApi({ write: tenSeconds(1) });
    const make = () =>
      api.call({
        method: "POST",
        url: "/v1/runs",
        headers: { ...json, "idempotency-key": "k" },
        payload: '{"task":"echo"}',
      });
    await api.post("/v1/runs", { task: "first" });
    const before = api.engine.runs.length;
    expect((await make()).statusCode).toBe(429);
    expect(api.engine.runs.length).toBe(before);
    api.clock.advance(10_000);
    expect((await make()).statusCode).toBe(201);
  });

  it("is refused whatever it holds: what is wrong with it is not looked at", async () => {
    const api = limitedApi({ write: tenSeconds(1) });
    expect((await api.post("/v1/jobs", { nonsense: 1 })).statusCode).toBe(400);
    expect((await api.post("/v1/jobs", { nonsense: 1 })).statusCode).toBe(429);
  });
});

describe("quotas", () => {
  it("are apart for each class and for each namespace", async () => {
    const api = limitedApi({ read: tenSeconds(1), bulk: tenSeconds(1) });
    const statusOf = async (namespace: string) =>
      (await api.get("/v1/jobs", { "carillon-namespace": namespace })).statusCode;
    expect((await api.get("/v1/jobs")).statusCode).toBe(200);
    expect(await statusOf("default")).toBe(429);
    // What cannot be a name counts as the usual one, and is refused like any other.
    expect(await statusOf("No Name")).toBe(429);
    expect(await statusOf("other")).not.toBe(429);
    expect(await statusOf("other")).toBe(429);
    const batch = { runs: [{ task: "echo" }] };
    expect((await api.post("/v1/runs:batchCreate", batch)).headers["ratelimit"]).toBe('"bulk";r=0;t=10');
    expect((await api.post("/v1/runs:batchCreate", batch)).statusCode).toBe(429);
    // Nothing was said of writing calls.
    const written = await api.post("/v1/runs", { task: "echo" });
    expect([written.statusCode, written.headers["ratelimit"]]).toEqual([201, undefined]);
  });

  it("count by whoever the caller is said to be", async () => {
    const callerOf: ApiOptions["callerOf"] = ({ headers }) => `key ${String(headers["authorization"])}`;
    const api = limitedApi({ read: tenSeconds(1) }, { callerOf });
    for (const authorization of ["a", "b"]) expect((await api.get("/v1/jobs", { authorization })).statusCode).toBe(200);
    const over = await api.get("/v1/jobs", { authorization: "a" });
    expect(over.json<{ detail: string }>().detail).toContain("of key a at this node");
  });

  it("count streams as they are opened, and HEAD as GET", async () => {
    const api = limitedApi({ stream: tenSeconds(1), read: tenSeconds(1) });
    expect((await api.get("/v1/events")).headers["ratelimit"]).toBe('"stream";r=0;t=10');
    expect((await api.get("/v1/events")).statusCode).toBe(429);
    expect((await api.call({ method: "HEAD", url: "/v1/jobs" })).statusCode).toBe(200);
    expect((await api.get("/v1/jobs")).statusCode).toBe(429);
  });

  it("never refuse probes, workers, or those who bring a callback", async () => {
    const one = tenSeconds(1);
    const api = limitedApi({ read: one, write: one, bulk: one, stream: one });
    const worker = { name: "w", queues: ["default"], tasks: ["echo"], slots: 1 };
    for (let turn = 0; turn < 3; turn++) {
      for (const probe of ["/livez", "/readyz", "/metrics", "/version", "/openapi.json", "/docs"]) {
        const answered = await api.get(probe);
        expect([probe, answered.statusCode, answered.headers["ratelimit"]]).toEqual([probe, 200, undefined]);
      }
      expect((await api.post("/v1/workers:register", worker)).statusCode).toBe(201);
      expect((await api.post("/v1/callbacks/nobody", {})).statusCode).toBe(404);
    }
    expect((await api.post("/v1/runs", { task: "echo" })).statusCode).toBe(201);
    expect(api.refused).toEqual([]);
  });

  it("are not spoken of where there are none", async () => {
    const answered = await limitedApi({ read: null }).get("/v1/jobs");
    expect(answered.statusCode).toBe(200);
    expect(Object.keys(answered.headers).filter((name) => name.startsWith("ratelimit"))).toEqual([]);
  });
});
