import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client.js";
import { ApiError, ServerUnreachable } from "../../src/errors.js";
import type { ClientOptions } from "../../src/transport.js";

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** A client whose server sends the listed answers, one for each request. */
function clientOver(answers: (Response | Error | (() => Promise<Response>))[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  const client = createClient({
    url: "http://127.0.0.1:8023/",
    fetch: async (url, init = {}) => {
      sent.push({ url: new Request(url).url, init });
      const answer = answers.shift();
      if (answer instanceof Response) return answer;
      if (typeof answer === "function") return answer();
      throw answer ?? new Error("The test expects one request less.");
    },
    sleep: async (ms) => void waits.push(ms),
    ...options,
  });
  return { client, sent, waits };
}

const ok = (body: unknown, status = 200) => Response.json(body, { status });

const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  new Response(
    JSON.stringify({
      type: "about:blank",
      title: "t",
      status,
      code,
      detail: "what is wrong",
      errors: [{ pointer: "/task", code: "field_missing", detail: "task is required" }],
      request_id: "req_9",
      retryable: status >= 500,
    }),
    { status, headers: { "content-type": "application/problem+json", ...headers } },
  );

const busy = () => problem(503, "database_unavailable", { "retry-after": "2" });

describe("following the log of a run", () => {
  it("yields log lines page by page until there are no more", async () => {
    const page = (message: string, next_page_token: string | null) => ok({ lines: [{ message }], next_page_token });
    const { client, sent } = clientOver([page("a", "t1"), page("b", null)]);
    const seen: string[] = [];
    for await (const { message } of client.runs.followLogs("run_1", { level: "warn" })) seen.push(message);
    expect(seen).toEqual(["a", "b"]);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      "?level=warn&follow=true",
      "?level=warn&follow=true&page_token=t1",
    ]);
  });
});

describe("a call", () => {
  it.each([
    ["jobs.create", (c: Client) => c.jobs.create({ task: "echo" }), "POST", "/v1/jobs"],
    ["jobs.get by id", (c: Client) => c.jobs.get("job_1"), "GET", "/v1/jobs/job_1"],
    ["jobs.get by key", (c: Client) => c.jobs.get("@a/b"), "GET", "/v1/jobs/%40a%2Fb"],
    [
      "jobs.list",
      (c: Client) => c.jobs.list({ status: "failed,queued", page_size: 5 }),
      "GET",
      "/v1/jobs?status=failed%2Cqueued&page_size=5",
    ],
    ["jobs.runs", (c: Client) => c.jobs.runs("@k", { page_token: "t" }), "GET", "/v1/jobs/%40k/runs?page_token=t"],
    ["jobs.createMany", (c: Client) => c.jobs.createMany([{ task: "a" }]), "POST", "/v1/jobs:batchCreate"],
    ["jobs.preview", (c: Client) => c.jobs.preview({}, { count: 3 }), "POST", "/v1/jobs:preview?count=3"],
    ["jobs.put", (c: Client) => c.jobs.put("@k", { task: "a" }), "PUT", "/v1/jobs/%40k"],
    ["jobs.update", (c: Client) => c.jobs.update("@k", { owner: null }), "PATCH", "/v1/jobs/%40k"],
    ["jobs.delete", (c: Client) => c.jobs.delete("@k", { running: "keep" }), "DELETE", "/v1/jobs/%40k?running=keep"],
    ["jobs.cancel", (c: Client) => c.jobs.cancel("@k"), "POST", "/v1/jobs/%40k:cancel"],
    ["jobs.pause", (c: Client) => c.jobs.pause("@k", { for: "2h" }), "POST", "/v1/jobs/%40k:pause"],
    ["jobs.resume", (c: Client) => c.jobs.resume("@k"), "POST", "/v1/jobs/%40k:resume"],
    ["jobs.rollback", (c: Client) => c.jobs.rollback("@k", 3), "POST", "/v1/jobs/%40k:rollback"],
    ["jobs.runNow", (c: Client) => c.jobs.runNow("@k", { force: true }), "POST", "/v1/jobs/%40k:runNow"],
    [
      "jobs.backfill",
      (c: Client) => c.jobs.backfill("@k", { from: "2030-01-01T00:00:00Z" }),
      "POST",
      "/v1/jobs/%40k:backfill",
    ],
    [
      "jobs.countBackfill",
      (c: Client) => c.jobs.countBackfill("@k", { from: "2030-01-01T00:00:00Z" }),
      "POST",
      "/v1/jobs/%40k:backfill",
    ],
    ["jobs.backfills", (c: Client) => c.jobs.backfills("@k"), "GET", "/v1/jobs/%40k/backfills"],
    ["backfills.get", (c: Client) => c.backfills.get("bkf_1"), "GET", "/v1/backfills/bkf_1"],
    ["backfills.abort", (c: Client) => c.backfills.abort("bkf_1"), "POST", "/v1/backfills/bkf_1:abort"],
    ["jobs.versions", (c: Client) => c.jobs.versions("@k"), "GET", "/v1/jobs/%40k/versions"],
    ["jobs.occurrences", (c: Client) => c.jobs.occurrences("@k"), "GET", "/v1/jobs/%40k/occurrences"],
    ["jobs.upcoming", (c: Client) => c.jobs.upcoming("@k", { count: 2 }), "GET", "/v1/jobs/%40k/upcoming?count=2"],
    ["calendars.put", (c: Client) => c.calendars.put("a", { rules: [] }), "PUT", "/v1/calendars/a"],
    ["calendars.get", (c: Client) => c.calendars.get("a"), "GET", "/v1/calendars/a"],
    ["calendars.list", (c: Client) => c.calendars.list({ page_size: 2 }), "GET", "/v1/calendars?page_size=2"],
    ["calendars.delete", (c: Client) => c.calendars.delete("a"), "DELETE", "/v1/calendars/a"],
    ["maintenanceWindows.get", (c: Client) => c.maintenanceWindows.get("w"), "GET", "/v1/maintenance-windows/w"],
    ["runs.get", (c: Client) => c.runs.get("run_1"), "GET", "/v1/runs/run_1"],
    ["runs.list", (c: Client) => c.runs.list(), "GET", "/v1/runs"],
    ["cluster", (c: Client) => c.cluster(), "GET", "/v1/cluster"],
    ["version", (c: Client) => c.version(), "GET", "/version"],
    ["ready", (c: Client) => c.ready(), "GET", "/readyz"],
  ])("sends %s to its address", async (_name, call, method, path) => {
    const { client, sent } = clientOver([ok({ good: true })]);
    expect(await call(client)).toEqual({ good: true });
    expect(sent.map(({ url, init }) => [init.method, url])).toEqual([[method, `http://127.0.0.1:8023${path}`]]);
  });

  it("sends ifVersion as If-Match", async () => {
    const { client, sent } = clientOver([ok({})]);
    await client.jobs.pause("@k", { reason: "x" }, { ifVersion: 7 });
    expect(sent[0]?.init).toMatchObject({ headers: { "if-match": '"v7"' }, body: '{"reason":"x"}' });
  });

  it("returns undefined for an answer without a body", async () => {
    const { client } = clientOver([new Response(null, { status: 204 })]);
    expect(await client.jobs.delete("job_1")).toBe(undefined);
  });

  it("sends the body as JSON and the token as a bearer token", async () => {
    const { client, sent } = clientOver([ok({})], { token: "crl_1" });
    await client.jobs.create({ task: "echo", payload: { a: 1 } });
    expect(sent[0]?.init).toMatchObject({
      headers: { authorization: "Bearer crl_1", "content-type": "application/json" },
      body: '{"task":"echo","payload":{"a":1}}',
    });
  });

  it.each(["", ".", ".."])("refuses %j as an id, because URL parsers drop it from a path", (id) => {
    expect(() => clientOver([]).client.jobs.get(id)).toThrow(RangeError);
  });
});

type Client = ReturnType<typeof createClient>;

describe("a refused call", () => {
  it("throws an ApiError with the members of the problem document", async () => {
    const error = await clientOver([problem(400, "field_missing")])
      .client.jobs.create({})
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      code: "field_missing",
      message: "what is wrong",
      errors: [{ pointer: "/task", code: "field_missing", detail: "task is required" }],
      requestId: "req_9",
      retryable: false,
      retryAfterMs: null,
    });
  });

  it("keeps an error code that only a newer server has", async () => {
    await expect(clientOver([problem(409, "new_kind")]).client.jobs.list()).rejects.toMatchObject({ code: "new_kind" });
  });

  it.each([
    ["a proxy's page", new Response("<h1>Bad Gateway</h1>", { status: 502, headers: { "x-request-id": "p1" } })],
    ["other JSON", new Response('{"error": true}', { status: 502, headers: { "x-request-id": "p1" } })],
  ])("reports unexpected_answer when it gets %s instead of an answer of the server", async (_what, response) => {
    await expect(clientOver([response]).client.jobs.list()).rejects.toMatchObject({
      status: 502,
      code: "unexpected_answer",
      requestId: "p1",
      retryable: true,
    });
  });

  it("returns the checks of a node that is not ready instead of throwing", async () => {
    const { client } = clientOver([ok({ status: "not_ready", checks: [] }, 503)]);
    expect(await client.ready()).toEqual({ status: "not_ready", checks: [] });
  });
});

describe("a call to a busy server", () => {
  it("repeats a call that reads after the time in Retry-After", async () => {
    const { client, waits } = clientOver([busy(), busy(), ok({ jobs: [] })]);
    expect(await client.jobs.list()).toEqual({ jobs: [] });
    expect(waits).toEqual([2_000, 2_000]);
  });

  it("stops repeating a call after the third try", async () => {
    const { client, sent } = clientOver([busy(), busy(), busy()]);
    await expect(client.jobs.list()).rejects.toMatchObject({ status: 503 });
    expect(sent.length).toBe(3);
  });

  it("waits ten seconds at most before it repeats a call", async () => {
    const { client, waits } = clientOver([problem(503, "overloaded", { "retry-after": "3600" }), ok({})]);
    await client.version();
    expect(waits).toEqual([10_000]);
  });

  const keysOf = (sent: readonly Sent[]) => sent.map(({ init }) => new Headers(init.headers).get("idempotency-key"));
  /** The time in the UUIDv7 of a generated key. */
  const timeOf = (key: string | null | undefined): number =>
    Number.parseInt((key ?? "").replace("auto-", "").slice(0, 13).replace("-", ""), 16);
  const unknown = () => problem(503, "outcome_unknown", { "retry-after": "2" });

  it("repeats a POST with an unknown outcome under the key that it made for the call", async () => {
    const { client, sent } = clientOver([unknown(), ok({ id: "run_1" }), ok({ id: "run_2" })]);
    expect(await client.runs.create({ task: "echo" })).toEqual({ id: "run_1" });
    await client.runs.create({ task: "echo" });
    const [first, again, next] = keysOf(sent);
    expect(again).toBe(first);
    expect(next).not.toBe(first);
    for (const key of [first, next]) {
      expect(key).toMatch(/^auto-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Math.abs(timeOf(key) - Date.now())).toBeLessThan(60_000);
    }
  });

  it.each([
    ["PUT", (c: Client) => c.jobs.put("@k", { task: "echo" })],
    ["PATCH", (c: Client) => c.jobs.update("job_1", { priority: 1 })],
    ["DELETE", (c: Client) => c.jobs.delete("job_1")],
  ])("repeats a %s with an unknown outcome, without a key", async (_method, call) => {
    const { client, sent } = clientOver([unknown(), ok({})]);
    await call(client);
    expect(keysOf(sent)).toEqual([null, null]);
  });

  it("takes a DELETE for done if its first try may have been and the second finds nothing", async () => {
    const { client } = clientOver([unknown(), problem(404, "not_found")]);
    await expect(client.calendars.delete("c")).resolves.toBeUndefined();
    await expect(clientOver([problem(404, "not_found")]).client.calendars.delete("c")).rejects.toMatchObject({
      status: 404,
    });
  });

  it("repeats a POST whose answer broke off, and waits while the server still holds its key", async () => {
    const held = () => problem(409, "idempotency_in_progress", { "retry-after": "2" });
    const { client, sent } = clientOver([
      new TypeError("other side closed"),
      held(),
      held(),
      held(),
      ok({ id: "job_1" }),
    ]);
    expect(await client.jobs.create({ task: "echo" })).toEqual({ id: "job_1" });
    expect(new Set(keysOf(sent)).size).toBe(1);
    await expect(clientOver([held()]).client.jobs.create({ task: "echo" })).rejects.toMatchObject({ status: 409 });
  });

  it("does not repeat a call that was never sent", async () => {
    const refused = Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } });
    const { client, sent } = clientOver([refused]);
    await expect(client.jobs.create({ task: "echo" })).rejects.toMatchObject({ wasSent: false });
    expect(sent.length).toBe(1);
  });

  it("makes keys by the server's clock once the server has refused one because of its time", async () => {
    const serverAt = Date.now() + 7_200_000;
    const stale = problem(422, "idempotency_key_stale", { date: new Date(serverAt).toUTCString() });
    const { client, sent } = clientOver([stale, ok({ id: "run_1" }), ok({ id: "run_2" })]);
    expect(await client.runs.create({ task: "echo" })).toEqual({ id: "run_1" });
    await client.runs.create({ task: "echo" });
    const times = keysOf(sent).map(timeOf);
    for (const time of times.slice(1)) expect(Math.abs(time - serverAt)).toBeLessThan(60_000);
  });

  it("repeats a call that writes after 503 if it has an idempotency key", async () => {
    const { client, sent } = clientOver([busy(), ok({ id: "run_1" })]);
    expect(await client.runs.create({ task: "echo" }, { idempotencyKey: "k" })).toEqual({ id: "run_1" });
    expect(sent.map(({ init }) => new Headers(init.headers).get("idempotency-key"))).toEqual(["k", "k"]);
  });

  it.each([
    ["a change under If-Match", (c: Client) => c.jobs.update("job_1", { priority: 1 }, { ifVersion: 3 }), busy()],
    ["a 503 without a time", (c: Client) => c.jobs.list(), problem(503, "overloaded")],
    ["a call with another refusal", (c: Client) => c.jobs.list(), problem(404, "not_found")],
  ])("does not repeat %s", async (_what, call, answer) => {
    const { client, sent } = clientOver([answer]);
    await expect(call(client)).rejects.toBeInstanceOf(ApiError);
    expect(sent.length).toBe(1);
  });
});

describe("a call over its quota", () => {
  const over = (seconds: string) => problem(429, "rate_limited", { "retry-after": seconds });

  it("repeats any call over its quota after the time in Retry-After", async () => {
    const waitsSeen: [number, string][] = [];
    const { client, sent, waits } = clientOver([over("3"), over("1"), over("1"), over("1"), ok({ id: "job_1" })], {
      onWait: (ms, { code }) => waitsSeen.push([ms, code]),
    });
    expect(await client.jobs.create({ task: "echo" })).toEqual({ id: "job_1" });
    expect(waits).toEqual([3_000, 1_000, 1_000, 1_000]);
    expect(waitsSeen.slice(0, 2)).toEqual([
      [3_000, "rate_limited"],
      [1_000, "rate_limited"],
    ]);
    expect(new Set(sent.map(({ init }) => init.body))).toEqual(new Set(['{"task":"echo"}']));
  });

  it("fails at once if the quota needs a longer wait than maxQuotaWaitMs, and reports that wait", async () => {
    const { client, waits } = clientOver([over("20"), over("11")]);
    await expect(client.jobs.list()).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 11_000 });
    expect(waits).toEqual([20_000]);
    const withoutWait = clientOver([over("1")], { maxQuotaWaitMs: 0 });
    await expect(withoutWait.client.jobs.list()).rejects.toMatchObject({ status: 429 });
    expect(withoutWait.waits).toEqual([]);
  });

  it("waits for at least a second, so that the time for the quota runs out", async () => {
    const { client, waits } = clientOver([over("0"), over("0"), ok({})], { maxQuotaWaitMs: 2_000 });
    await client.jobs.list();
    expect(waits).toEqual([1_000, 1_000]);
  });

  it("stops waiting for its quota when its signal aborts", async () => {
    const control = new AbortController();
    const { client, sent } = clientOver([over("5")], {
      sleep: async (_ms, signal) => {
        control.abort(new Error("enough"));
        expect(signal?.aborted).toBe(true);
      },
    });
    await expect(client.jobs.list({}, { signal: control.signal })).rejects.toThrow("enough");
    expect(sent.length).toBe(1);
  });

  it("does not repeat a call over its quota without sleep or without Retry-After", async () => {
    for (const { client, sent } of [
      clientOver([problem(429, "rate_limited")]),
      clientOver([new Response("slow down", { status: 429 })]),
    ]) {
      await expect(client.jobs.list()).rejects.toMatchObject({ status: 429 });
      expect(sent.length).toBe(1);
    }
    const bare = createClient({ url: "http://x", fetch: async () => over("1") });
    await expect(bare.jobs.list()).rejects.toMatchObject({ status: 429, retryAfterMs: 1_000 });
  });

  it("waits for the quota of streams, and throws other refusals of a stream", async () => {
    const pauses: number[] = [];
    const sleep = async (ms: number) => void pauses.push(ms);
    const { client } = clientOver([over("7"), new Response('id: n.1\nevent: run.fired\ndata: {"a":1}\n\n')]);
    const { value } = await client.events.follow({}, { sleep }).next();
    expect(value).toEqual({ event: { a: 1 } });
    const refused = clientOver([over("7"), problem(404, "not_found")]);
    await expect(refused.client.events.follow({}, { sleep }).next()).rejects.toMatchObject({ code: "not_found" });
    expect(pauses).toEqual([7_000, 7_000]);
  });
});

describe("a call without an answer", () => {
  const untilAborted = (signal: AbortSignal | null | undefined) =>
    new Promise<Response>((_resolve, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason as Error)),
    );

  it("throws ServerUnreachable with the cause if the network fails", async () => {
    const cause = Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } });
    const error = await clientOver([cause])
      .client.jobs.list()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServerUnreachable);
    expect(error).toMatchObject({ reason: "network", cause });
  });

  it("throws ServerUnreachable if the answer does not arrive in time", async () => {
    const client = createClient({ url: "http://x", timeoutMs: 1, fetch: (_url, init) => untilAborted(init?.signal) });
    await expect(client.jobs.list()).rejects.toMatchObject({ name: "ServerUnreachable", reason: "timeout" });
  });

  it("adds the longest wait for a run to its own timeout", async () => {
    const client = createClient({
      url: "http://x",
      timeoutMs: 1,
      fetch: async (_url, init) => {
        await untilAborted(AbortSignal.timeout(20)).catch(() => null);
        init?.signal?.throwIfAborted();
        return ok({ id: "run_1" });
      },
    });
    expect(await client.runs.create({ task: "echo" }, { wait: "10s" })).toEqual({ id: "run_1" });
    await expect(client.runs.create({ task: "echo" })).rejects.toMatchObject({ reason: "timeout" });
  });

  it("throws the reason of the caller's signal if that aborts", async () => {
    const client = createClient({ url: "http://x", fetch: (_url, init) => untilAborted(init?.signal) });
    const control = new AbortController();
    const call = client.jobs.list({}, { signal: control.signal });
    control.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
  });
});
