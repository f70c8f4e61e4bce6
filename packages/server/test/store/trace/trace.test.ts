import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { randomBytes } from "node:crypto";
import { makeUuidV7, systemClock, systemRandom, systemSoon, systemTimers, isRunEnd } from "@carillon/core";
import { Engine, type EngineEvent, openDatabase } from "@carillon/engine";
import { httpExecutor } from "@carillon/executors";
import { freshDatabase } from "@carillon/testkit";
import { activeTraceParent, AddressRules, beginSpan, enqueueTraced, LocalTransport, Worker } from "@carillon/worker";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RecordedSpan, recordSpans } from "../../../../worker/test/unit/trace/recorded-spans.js";
import { apiUnderTest, json } from "../../unit/api/api-under-test.js";

const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
const traceId = "0af7651916cd43dd8448eb211c80319c";
const caller = { spanId: "b7ad6b7169203331", header: `00-${traceId}-b7ad6b7169203331-01` };

/** An API with a worker that sends HTTP requests, over a real engine. */
async function tracedNode() {
  const fresh = await freshDatabase({ migrated: true });
  const database = await openDatabase({ url: fresh.url, schema: "carillon", ...ports });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "test", address: null, version: "0" };
  const ended: ((event: EngineEvent) => void)[] = [];
  const onEvent = (event: EngineEvent): void => {
    if (isRunEnd(event)) for (const listener of ended.splice(0)) listener(event);
  };
  const engine = new Engine({ database, ...ports, newId, node, alone: true, onEvent });
  await engine.start();
  const timers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };
  const worker = new Worker({
    transport: new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId }),
    tasks: [
      httpExecutor({
        timers,
        env: {},
        now: () => database.clock.now(),
        secrets: { find: async () => undefined },
        outbound: new AddressRules(["loopback"]),
      }),
    ],
    name: "test",
    queues: ["default"],
    slots: 1,
    timers,
  });
  await worker.start();
  const tracing = { beginSpan, activeTraceParent, enqueueTraced };
  const parts = { engine, workers: engine.workerApi, tracing };
  const api = apiUnderTest({ ...parts, now: () => database.clock.now() });
  return {
    ...api,
    untilEnded: () => new Promise<EngineEvent>((resolve) => ended.push(resolve)),
    async close() {
      await worker.stop(0);
      await api.app.close();
      await engine.stop();
      await database.close();
      await fresh.drop();
    },
  };
}

describe("traces of callers", () => {
  let node: Awaited<ReturnType<typeof tracedNode>>;
  const received: (string | undefined)[] = [];
  const states: (string | undefined)[] = [];
  const header = (value: string | string[] | undefined) => (typeof value === "string" ? value : undefined);
  const other = createServer((request, response) => {
    received.push(header(request.headers["traceparent"]));
    states.push(header(request.headers["tracestate"]));
    response.statusCode = request.url === "/gone" ? 410 : 200;
    response.end("ok");
  });
  let url: string;
  beforeAll(async () => {
    node = await tracedNode();
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
  });
  afterAll(async () => {
    await node.close();
    other.close();
  });

  const ask = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const ended = node.untilEnded();
    const answer = await node.call({
      method: "POST",
      url: path,
      headers: { ...json, ...headers },
      payload: JSON.stringify(body),
    });
    expect(answer.statusCode).toBe(201);
    await ended;
    return answer.json<{ id: string; trace_id?: string | null }>();
  };

  it("a trace passes from the caller through the API and the run to the calls of the handler, with correct parents", async () => {
    const recorded = recordSpans();
    const made = await ask("/v1/runs", { task: "http", payload: { url } }, { traceparent: caller.header });
    expect(made.trace_id).toBe(traceId);
    expect(await node.get(`/v1/runs/${made.id}`).then((answer) => answer.json<object>())).toMatchObject({
      trace_id: traceId,
      status: "succeeded",
    });
    const spans = new Map(recorded.spans().map((span): [string, RecordedSpan] => [span.name, span]));
    await recorded.stop();
    const chain = ["POST /v1/runs", "enqueue http", "run http"].map((name) => spans.get(name));
    expect(chain.map((span) => span?.traceId)).toEqual([traceId, traceId, traceId]);
    expect(chain.map((span) => span?.parentId)).toEqual([caller.spanId, chain[0]?.spanId, chain[1]?.spanId]);
    expect(chain[0]?.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/v1/runs",
      "http.response.status_code": 201,
    });
    expect(received.at(-1)).toBe(`00-${traceId}-${chain[2]?.spanId}-01`);
  });

  it("a trace continues in runs and one-off jobs without an SDK as well", async () => {
    const made = await ask("/v1/runs", { task: "http", payload: { url } }, { traceparent: caller.header });
    expect(made.trace_id).toBe(traceId);
    expect(received.at(-1)).toBe(caller.header);
    await ask("/v1/jobs", { task: "http", payload: { url } }, { traceparent: caller.header });
    expect(received.at(-1)).toBe(caller.header);
  });

  it("forwards the tracestate of a trace, and ignores an invalid one", async () => {
    const trace = { traceparent: caller.header, tracestate: "vendor=a:1, other=b" };
    await ask("/v1/runs", { task: "http", payload: { url } }, trace);
    expect([received.at(-1), states.at(-1)]).toEqual([caller.header, "vendor=a:1,other=b"]);
    await ask("/v1/runs", { task: "http", payload: { url } }, { ...trace, tracestate: "x".repeat(600) });
    expect([received.at(-1), states.at(-1)]).toEqual([caller.header, undefined]);
  });

  it("a trace continues in run-now, replays, bulk retries, backfills, and the jobs that start after them", async () => {
    const trace = { traceparent: caller.header, tracestate: "vendor=1" };
    const put = (key: string, body: object) =>
      node.call({ method: "PUT", url: `/v1/jobs/@${key}`, headers: json, payload: JSON.stringify(body) });
    const post = (path: string, body: object, headers: object = trace) =>
      node.call({ method: "POST", url: path, headers: { ...json, ...headers }, payload: JSON.stringify(body) });
    const retry = { max_attempts: 1 };
    const schedule = { every: "1h", starts_at: new Date(Date.now() - 7_000_000).toISOString() };
    await put("first", { task: "http", payload: { url }, schedule });
    await put("fails", { task: "http", payload: { url: `${url}gone` }, schedule: { manual: true }, retry });
    const past = { from: new Date(Date.now() - 7_100_000).toISOString(), to: new Date().toISOString(), repeat: true };
    const made = async (path: string, body: object, headers?: object) => {
      const ended = node.untilEnded();
      const answer = await post(path, body, headers);
      expect(answer.statusCode).toBeLessThan(300);
      await ended;
      return answer.json<{ id: string }>();
    };
    const { id } = await made("/v1/jobs/@first:runNow", {});
    await made(`/v1/runs/${id}:replay`, {});
    const failed = await made("/v1/jobs/@fails:runNow", {}, {});
    await made("/v1/runs:bulk", { action: "retry", ids: [failed.id] });
    await made("/v1/jobs/@first:backfill", past);
    await put("second", { task: "http", payload: { url }, schedule: { after: [{ job: "first" }] } });
    await made("/v1/jobs/@first:runNow", { force: true });
    type Listed = { runs: { status: string; trace_id: string | null }[] };
    const runsOf = async (key: string) => (await node.get(`/v1/jobs/@${key}/runs`)).json<Listed>().runs;
    for (;;) {
      const ended = node.untilEnded();
      if ((await runsOf("second")).some((run) => run.status === "succeeded")) break;
      await ended;
    }
    const traced = received.filter((_, at) => states[at] === "vendor=1");
    expect(traced.length).toBeGreaterThanOrEqual(6);
    expect(new Set(traced)).toEqual(new Set([caller.header]));
    for (const run of [...(await runsOf("first")), ...(await runsOf("second"))]) expect(run.trace_id).toBe(traceId);
  });

  it("a run has no trace if its caller has none, or sends an invalid traceparent", async () => {
    const made = await ask("/v1/runs", { task: "http", payload: { url } }, { traceparent: "00-zz" });
    expect(made.trace_id).toBeNull();
    expect(received.at(-1)).toBeUndefined();
  });
});
