import { EventEmitter, on } from "node:events";
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { apiUnderTest, json } from "./api-under-test.js";
import type { AdmissionLoad } from "../../../src/api/http/admission.js";

/** An API whose enqueue calls block until the test releases them. */
async function stalledApi(admission: { calls: number; bytes: number }) {
  let letGo = (): void => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  const problems: string[] = [];
  let load: AdmissionLoad | undefined;
  const api = apiUnderTest({
    admission,
    metrics: {
      contentType: "text/plain",
      render: async () => "",
      httpRequest: () => undefined,
      httpProblem: (code) => problems.push(code),
      rateLimited: () => undefined,
      watchAdmission: (shown) => (load = shown),
    },
  });
  const { enqueueAndRead } = api.engine.enqueuer;
  const arrivals = new EventEmitter();
  let inside = 0;
  api.engine.enqueuer.enqueueAndRead = async (...args) => {
    arrivals.emit("entered", ++inside);
    await gate;
    return enqueueAndRead.apply(api.engine.enqueuer, args);
  };
  const url = await api.app.listen({ host: "127.0.0.1", port: 0 });
  const post = (path: string, body: unknown = { task: "echo" }, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
  /** Resolves when this number of handlers is running. */
  const untilInside = async (count: number): Promise<void> => {
    if (inside >= count) return;
    for await (const [now] of on(arrivals, "entered")) if (now >= count) return;
  };
  return {
    ...api,
    url,
    post,
    problems,
    untilInside,
    letGo,
    load: () => load,
    close: () => api.app.close(),
  };
}

describe("admission", () => {
  it("answers 503 with Retry-After at once when the budget of calls is full", async () => {
    const api = await stalledApi({ calls: 2, bytes: 10_000 });
    const first = [api.post("/v1/runs"), api.post("/v1/runs")];
    await api.untilInside(2);
    const refused = await api.post("/v1/runs");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("2");
    expect(await refused.json()).toMatchObject({ code: "overloaded", retryable: true });
    expect(api.problems).toEqual(["overloaded"]);
    expect((await fetch(`${api.url}/v1/jobs`)).status).toBe(503);
    // Probes, waiting calls and calls of workers have other budgets.
    expect((await fetch(`${api.url}/livez`)).status).toBe(200);
    expect((await fetch(`${api.url}/metrics`)).status).toBe(200);
    const worker = { name: "w", queues: ["default"], tasks: ["echo"], slots: 1 };
    expect((await api.post("/v1/workers:register", worker)).status).toBe(201);
    api.letGo();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([201, 201]);
    expect((await api.post("/v1/runs")).status).toBe(201);
    await api.close();
    expect(api.load()).toMatchObject({ calls: { calls: 0, bytes: 0 }, workers: { calls: 0, bytes: 0 } });
  });

  it("counts the bytes of bodies, and a body without a length with the largest size", async () => {
    const api = await stalledApi({ calls: 100, bytes: 50_000 });
    const large = { task: "echo", payload: "x".repeat(30_000) };
    const first = api.post("/v1/runs", large);
    await api.untilInside(1);
    expect((await api.post("/v1/runs", large)).status).toBe(503);
    const small = api.post("/v1/runs");
    await api.untilInside(2);
    const chunked = await new Promise<number>((resolve, reject) => {
      const sent = request(`${api.url}/v1/runs`, { method: "POST", headers: json }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      sent.on("error", reject);
      sent.write('{"task":');
      sent.end('"echo"}');
    });
    expect(chunked).toBe(503);
    api.letGo();
    expect([(await first).status, (await small).status]).toEqual([201, 201]);
    await api.close();
  });

  it("a call whose caller disconnected occupies its budget until its work has ended", async () => {
    const api = await stalledApi({ calls: 1, bytes: 10_000 });
    const caller = new AbortController();
    const gone = fetch(`${api.url}/v1/runs`, {
      method: "POST",
      headers: json,
      body: '{"task":"echo"}',
      signal: caller.signal,
    }).catch(() => "gone");
    await api.untilInside(1);
    caller.abort();
    expect(await gone).toBe("gone");
    expect((await api.post("/v1/runs")).status).toBe(503);
    api.letGo();
    // The ticket is released one turn after the end of the work.
    while ((await api.post("/v1/runs")).status !== 201);
    await api.close();
    expect(api.load()).toMatchObject({ calls: { calls: 0, bytes: 0 } });
  });
});
