import { Readable } from "node:stream";
import type { InjectOptions, LightMyRequestResponse } from "fastify";
import { expect } from "vitest";
import { createApi } from "../../../src/api/app.js";
import type { ApiOptions, HealthCheck, HttpObservation } from "../../../src/api/http/handler.js";
import { watchAnswers } from "./declared-answers.js";
import { FakeEngine } from "./fake-engine.js";
import { FakeWorkerApi } from "./fake-workers.js";

export const testNow = Date.UTC(2026, 10, 12, 8, 30);

export const json = { "content-type": "application/json" };

/** The API over an engine in memory, at a fixed time. Every response is compared with its declaration. */
export function apiUnderTest(options: Partial<ApiOptions> = {}) {
  const engine = new FakeEngine(() => testNow);
  const observed: HttpObservation[] = [];
  let checks: readonly HealthCheck[] = [{ name: "database", ok: true, detail: "reachable" }];
  let ids = 0;
  const app = createApi({
    engine,
    workers: new FakeWorkerApi(),
    health: { ready: async () => checks },
    metrics: {
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      render: async () => "# nothing\n",
      httpRequest: (call) => observed.push(call),
      httpProblem: () => undefined,
      rateLimited: () => undefined,
      watchAdmission: () => undefined,
    },
    // Ends at once: an injected request waits for the end of its response.
    events: { open: () => Readable.from(["retry: 2000\n\n"]) },
    version: "0.0.0-test",
    instance: "test",
    now: () => testNow,
    newRequestId: () => `req_${++ids}`,
    ...options,
  });
  const violations = watchAnswers(app);
  const call = async (request: InjectOptions): Promise<LightMyRequestResponse> => {
    const response = await app.inject(request);
    expect(violations).toEqual([]);
    return response;
  };
  return {
    app,
    engine,
    observed,
    violations,
    call,
    setChecks: (next: readonly HealthCheck[]) => {
      checks = next;
    },
    post: (url: string, body: unknown) => call({ method: "POST", url, headers: json, payload: JSON.stringify(body) }),
    send: (method: "PUT" | "PATCH" | "DELETE", url: string, body?: unknown, headers: Record<string, string> = {}) =>
      call({
        method,
        url,
        ...(body !== undefined && { payload: JSON.stringify(body) }),
        headers: { ...(body !== undefined && json), ...headers },
      }),
    get: (url: string, headers: Record<string, string> = {}) => call({ method: "GET", url, headers }),
  };
}

/** The parts of a problem document that tests check. */
export function refusalOf(response: LightMyRequestResponse) {
  expect(response.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  const { status, code, errors } = response.json<{
    status: number;
    code: string;
    errors: { pointer: string; code: string }[];
  }>();
  return { status, code, faults: errors.map((item) => `${item.pointer} ${item.code}`) };
}
