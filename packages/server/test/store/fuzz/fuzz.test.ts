import * as fc from "fast-check";
import type { InjectOptions } from "fastify";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RealApi, realApi } from "../api/real-api.js";
import { documented } from "./from-document.js";
import { type DrawnRequest, type Mutation, mutations, requestOf } from "./mutations.js";

/** Set by `npm run fuzz -- --requests 20000 --seed 7`; without it, the same short run every time. */
const seed = Number(process.env["CARILLON_FUZZ_SEED"] ?? 20_261_116);
const requests = Number(process.env["CARILLON_FUZZ_REQUESTS"] ?? documented.length * mutations.length);

let api: RealApi;

beforeAll(async () => {
  api = await realApi();
  // The loops are stopped: from now on only requests change rows.
  await api.rest();
  await api.post("/v1/jobs", { task: "echo", key: "nightly", schedule: { cron: "0 9 * * *" } });
  await api.post("/v1/jobs", { task: "echo", schedule: { every: "1h" } });
  await api.post("/v1/runs", { task: "echo", delay: "1h" });
  await api.send("PUT", "/v1/calendars/holidays", { rules: [{ weekdays: ["SAT"] }] });
});
afterAll(() => api.close());

/** Ids of existing things, by their prefix; the latest of each. */
const ids = new Map<string, string>();

function learn(text: string): void {
  for (const [id, prefix = ""] of text.matchAll(/\b(job|run|op|bkf|wrk)_[0-9a-hjkmnp-tv-z]{26}\b/g))
    ids.set(prefix, id);
}

const filled = (text: string): string =>
  text.replaceAll(/KNOWN-(job|run|op|bkf|wrk)/g, (_, prefix: string) => ids.get(prefix) ?? `${prefix}_none`);

function sendable({ method, url, headers, payload }: DrawnRequest): InjectOptions {
  const body = typeof payload === "string" ? filled(payload) : payload;
  return {
    method: method,
    url: filled(url),
    headers: { ...headers },
    ...(body !== undefined && { payload: body }),
  };
}

/** Every operation with every mutation, in turn. */
function* drawn(): Generator<DrawnRequest> {
  const turns = documented.flatMap((operation) => mutations.map((mutation) => ({ operation, mutation })));
  for (let round = 0; ; round += 1) {
    for (const [at, { operation, mutation }] of turns.entries()) {
      const [request] = fc.sample(requestOf(operation, mutation), {
        numRuns: 1,
        seed: seed + round * turns.length + at,
      });
      if (request !== undefined) yield request;
    }
  }
}

it(`answers ${requests} requests, however wrong, as its document says, never with 500, and changes no row when it refuses`, async () => {
  const statuses = new Map<number, number>();
  const seen = new Map<string, Set<Mutation>>();
  const faults: string[] = [];
  let sent = 0;
  for (const request of drawn()) {
    if (sent >= requests || faults.length >= 20) break;
    sent += 1;
    const options = sendable(request);
    const before = await api.mark();
    const response = await api.app.inject(options);
    const { statusCode } = response;
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    seen.set(request.operation, (seen.get(request.operation) ?? new Set()).add(request.mutation));
    if (statusCode < 300) learn(response.body);
    const what = `${request.mutation} ${options.method} ${request.url} ${String(request.payload ?? "").slice(0, 300)}`;
    faults.push(...api.violations.splice(0).map((fault) => `${fault}\n    from ${what}`));
    if (statusCode >= 500 && statusCode !== 503) faults.push(`${statusCode} for ${what}: ${response.body}`);
    if (statusCode >= 400 && (await api.mark()) !== before) faults.push(`${statusCode} changed a row: ${what}`);
  }
  expect(faults).toEqual([]);
  if (requests < documented.length * mutations.length) return;
  // Otherwise too few requests were nearly valid, and the test would prove little.
  const expected = [200, 201, 204, 400, 404, 409, 415, 422];
  const rare = expected.filter((status) => (statuses.get(status) ?? 0) === 0);
  expect(rare).toEqual([]);
  expect([...seen.values()].filter((some) => some.size < mutations.length)).toEqual([]);
  expect(seen.size).toBe(documented.length);
}, 3_600_000);
