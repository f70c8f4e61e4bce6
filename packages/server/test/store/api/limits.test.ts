import { afterAll, beforeAll, expect, it } from "vitest";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;
beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

const json = { "content-type": "application/json" };
type Method = "GET" | "POST" | "PATCH" | "PUT";

async function call(method: Method, url: string, body?: object): Promise<{ status: number; body: Answer }> {
  const sent = body === undefined ? {} : { payload: JSON.stringify(body), headers: json };
  const { statusCode, payload } = await api.call({ method, url, ...sent });
  return { status: statusCode, body: JSON.parse(payload) as Answer };
}

interface Answer {
  readonly code?: string;
  readonly errors?: readonly { readonly pointer: string; readonly code: string }[];
  readonly limits?: readonly Record<string, unknown>[];
  readonly [name: string]: unknown;
}

async function limitOf(key: string): Promise<Record<string, unknown>> {
  for (;;) {
    const { body } = await call("GET", `/v1/limits?key=${encodeURIComponent(key)}`);
    const [limit] = body.limits ?? [];
    if (limit !== undefined) return limit;
  }
}

it("shows a limit that runs use, with its holders and waiting runs, and changes it", async () => {
  const concurrency = { key: "city:{payload.city}", limit: 1 };
  for (const city of ["Rome", "Rome", "Rome"])
    expect(await call("POST", "/v1/runs", { task: "unserved", payload: { city }, concurrency })).toMatchObject({
      status: 201,
    });
  const limit = await limitOf("city:Rome");
  expect(limit).toMatchObject({ scope: "key", kind: "concurrency", limit: 1, fixed: false });
  for (;;) {
    const { body } = await call("GET", `/v1/limits/${String(limit.id)}`);
    if (body.used === 1 && body.waiting === 2) break;
  }
  const changed = await call("PATCH", `/v1/limits/${String(limit.id)}`, { limit: 2 });
  expect(changed).toMatchObject({ status: 200, body: { limit: 2, fixed: true } });
  for (;;) {
    const { body } = await call("GET", `/v1/limits/${String(limit.id)}`);
    if (body.used === 2 && body.waiting === 1) break;
  }
});

it.each([
  ["PATCH", "/v1/limits/lim_999999", { limit: 1 }, 404, "not_found"],
  ["PATCH", "/v1/limits/lim_1", { limit: -1 }, 400, "field_invalid"],
  ["PATCH", "/v1/limits/lim_1", { limit: 1.5 }, 400, "field_invalid"],
  ["PATCH", "/v1/limits/lim_1", { rate: 1 }, 400, "unknown_field"],
  ["PATCH", "/v1/limits/lim_1", { per: "soon" }, 422, "duration_invalid"],
  ["GET", "/v1/limits/42", undefined, 404, "not_found"],
  ["GET", "/v1/limits?kind=speed", undefined, 400, "field_invalid"],
  ["POST", "/v1/runs", { task: "echo", concurrency: { limit: 0 } }, 400, "field_invalid"],
  ["POST", "/v1/runs", { task: "echo", concurrency: { key: "{payload.a}", limit: 1 } }, 422, "template_value_missing"],
  ["POST", "/v1/runs", { task: "echo", concurrency: { key: "{a", limit: 1 } }, 422, "template_invalid"],
  ["POST", "/v1/runs", { task: "echo", rate_limit: { limit: 1, per: "90d" } }, 422, "duration_invalid"],
  ["POST", "/v1/runs", { task: "echo", ordering_on_failure: "skip" }, 400, "field_invalid"],
  ["POST", "/v1/jobs", { task: "echo", ordering_key: "{payload.a}" }, 422, "template_value_missing"],
] as const)("refuses an invalid limit with the reason: %s %s %j", async (method, url, body, status, code) => {
  const answer = await call(method, url, body);
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
});

it("shows the limits of a job as they were given, and changes them by a merge patch", async () => {
  const given = {
    concurrency: { key: "c:{payload.c}", limit: 3 },
    rate_limit: { limit: 10, per: "1m", burst: 2 },
    ordering_key: "o:{payload.c}",
    ordering_on_failure: "skip",
  };
  const definition = { task: "echo", schedule: { cron: "0 5 * * *" }, payload: { c: 1 }, ...given };
  const made = await call("PUT", "/v1/jobs/@limited", definition);
  expect(made).toMatchObject({ status: 201, body: given });
  const patched = await call("PATCH", "/v1/jobs/@limited", { concurrency: { limit: 4 }, rate_limit: null });
  expect(patched.body).toMatchObject({ concurrency: { key: "c:{payload.c}", limit: 4 }, rate_limit: null });
});

it("a queue has its own limits, except with a strict order", async () => {
  const limits = { concurrency: { limit: 2 }, rate_limit: { limit: 5, per: "1m" } };
  expect(await call("PATCH", "/v1/queues/narrow", limits)).toMatchObject({ status: 200, body: limits });
  const taken = await call("PATCH", "/v1/queues/narrow", { concurrency: null });
  expect(taken.body).toMatchObject({ concurrency: null, rate_limit: limits.rate_limit });
  const strict = await call("PATCH", "/v1/queues/strict-one", { order: "strict", concurrency: { limit: 2 } });
  expect(strict).toMatchObject({ status: 422, body: { code: "limit_invalid" } });
  expect((await call("PATCH", "/v1/queues/strict-two", { order: "strict" })).status).toBe(200);
  const run = { task: "echo", queue: "strict-two", concurrency: { limit: 1 } };
  for (const path of ["/v1/runs", "/v1/jobs"])
    expect(await call("POST", path, run)).toMatchObject({ status: 422, body: { code: "limit_invalid" } });
});
