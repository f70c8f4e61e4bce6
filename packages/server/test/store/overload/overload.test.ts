import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { makeUuidV7, systemClock, systemRandom, systemTimers } from "@carillon/core";
import { Engine, openDatabase } from "@carillon/engine";
import { TcpProxy, freshDatabase } from "@carillon/testkit";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { createApi } from "../../../src/api/app.js";
import type { AdmissionLoad } from "../../../src/api/http/admission.js";
import { createMetrics } from "../../../src/metrics/metrics.js";
import { readiness } from "../../../src/services/api-service.js";

const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
const admission = { calls: 100, bytes: 8 * 1_048_576 };
const requests = 2_000;
const body = JSON.stringify({ task: "unserved", payload: "x".repeat(20_000) });

/** A node that reaches its database through a proxy, with short timeouts. */
async function nodeBehindProxy() {
  const fresh = await freshDatabase({ migrated: true });
  const proxy = await TcpProxy.start(fresh.url);
  const timeouts = {
    connectMs: 1_000,
    acquireMs: 1_000,
    statementMs: 2_000,
    hotStatementMs: 1_000,
    transactionMs: 2_000,
  };
  const metrics = createMetrics({ version: "0" });
  const database = await openDatabase({
    url: proxy.through(fresh.url),
    schema: "carillon",
    timeouts,
    ...ports,
    onEvent: metrics.databaseEvent,
  });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "test", address: null, version: "0" };
  const engine = new Engine({ database, ...ports, newId, node, alone: true });
  await engine.start();
  metrics.watchNode({
    engine: () => engine.load,
    database: () => ({ ...database.load, isUp: database.state === "up" }),
  });
  let load: AdmissionLoad | null = null;
  const app = createApi({
    engine: engine,
    workers: engine.workerApi,
    health: readiness(() => database),
    metrics: {
      ...metrics,
      watchAdmission(shown) {
        load = shown;
        metrics.watchAdmission(shown);
      },
    },
    events: { open: () => Readable.from([]) },
    version: "0",
    instance: "test",
    now: () => database.clock.now(),
    newRequestId: () => "test",
    admission,
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    url,
    databaseUrl: fresh.url,
    proxy,
    database,
    engine,
    load: (): AdmissionLoad["calls"] => load?.calls ?? { calls: 0, bytes: 0 },
    metric: async (name: string): Promise<number> => {
      const line = (await metrics.render()).split("\n").find((one) => one.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1));
    },
    async close() {
      await app.close();
      await engine.stop();
      await database.close();
      await proxy.close();
      await fresh.drop();
    },
  };
}

interface Posted {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly code: string | undefined;
}

/** Sends a call over a few sockets. */
function post(url: string, agent: Agent): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(`${url}/v1/runs`, { method: "POST", agent, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.on("end", () => {
        const { code } = JSON.parse(text) as { readonly code?: string };
        resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers["retry-after"], code });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

type Node = Awaited<ReturnType<typeof nodeBehindProxy>>;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** The memory that this process still uses after a collection. */
function heldBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Sends many calls at once, and returns the load of the node meanwhile and its readiness when it refuses more. */
async function storm(node: Node, agent: Agent, calls: number) {
  const over = new AbortController();
  const answers = Promise.all(Array.from({ length: calls }, () => post(node.url, agent))).finally(() => {
    over.abort();
  });
  const seen = { calls: 0, bytes: 0, waiting: 0 };
  const statusOf = async (path: string): Promise<number> => (await fetch(`${node.url}${path}`)).status;
  const probes: Promise<number[]>[] = [];
  while (!over.signal.aborted) {
    const load = node.load();
    seen.calls = Math.max(seen.calls, load.calls);
    seen.bytes = Math.max(seen.bytes, load.bytes);
    seen.waiting = Math.max(seen.waiting, node.engine.load.writesWaiting, node.database.load.pool.waiting);
    if (load.calls === admission.calls && probes.length < 3)
      probes.push(Promise.all([statusOf("/livez"), statusOf("/readyz")]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { answers: await answers, probes: await Promise.all(probes), seen };
}

/** Refused with Retry-After. The few writes that were sent before the database hung may have taken effect, so nothing invites a repeat. */
const refusals = (answers: Awaited<ReturnType<typeof storm>>["answers"]): Set<string> =>
  new Set(
    answers
      .filter(({ status, code }) => status !== 503 || code !== "outcome_unknown")
      .map(({ status, retryAfter }) => `${status} ${retryAfter}`),
  );

function expectBounded(seen: Awaited<ReturnType<typeof storm>>["seen"]): void {
  expect(seen.calls).toBe(admission.calls);
  expect(seen.bytes).toBeLessThanOrEqual(admission.bytes);
  expect(seen.waiting).toBeLessThanOrEqual(admission.calls);
}

const alive = [200, 503];

describe("a node whose database does not answer", () => {
  it("a node whose database hangs refuses thousands of calls with 503 in bounded memory, stays alive, is not ready, and recovers", async () => {
    const node = await nodeBehindProxy();
    const agent = new Agent({ keepAlive: true, maxSockets: 400 });
    // On a busy machine the first statements may be slow even with a healthy database.
    while ((await post(node.url, agent)).status !== 201) await sleep(20);

    await node.proxy.blackHole();
    const before = heldBytes();
    const { answers, probes, seen } = await storm(node, agent, requests);
    // Answered while the database still hangs: calls do not wait for it.
    expect(refusals(answers)).toEqual(new Set(["503 2"]));
    expect(probes).toEqual([alive, alive, alive]);
    expectBounded(seen);
    // Callers and node share one process here: a refused call still has a socket, but not its body.
    expect(heldBytes() - before).toBeLessThan((requests * body.length) / 2);

    await node.proxy.resume();
    await node.database.waitUntilUp();
    while ((await post(node.url, agent)).status !== 201) await sleep(20);
    expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
    expect(await node.metric("carillon_database_up")).toBe(1);
    expect(await node.metric('carillon_http_requests_in_flight_bytes{budget="calls"}')).toBe(0);
    agent.destroy();
    await node.close();
  });
});

describe("a node whose statements wait for a lock", () => {
  it("a node whose statements wait for a lock refuses calls in bounded memory, stays alive, is not ready, and recovers", async () => {
    const node = await nodeBehindProxy();
    const agent = new Agent({ keepAlive: true, maxSockets: 200 });
    while ((await post(node.url, agent)).status !== 201) await sleep(20);
    const blocker = new Client(node.databaseUrl);
    await blocker.connect();
    await blocker.query("begin; lock table carillon.run in access exclusive mode");

    const { answers, probes, seen } = await storm(node, agent, 500);
    // 504: its own statement reached its time limit, and changed nothing. No other call waits that long.
    expect(new Set([...refusals(answers), "504 2"])).toEqual(new Set(["503 2", "504 2"]));
    expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThan(answers.length / 2);
    expect(probes).toEqual([alive, alive, alive]);
    expectBounded(seen);

    await blocker.query("rollback");
    await blocker.end();
    while ((await post(node.url, agent)).status !== 201) await sleep(20);
    expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
    expect(await node.metric('carillon_http_requests_in_flight_bytes{budget="calls"}')).toBe(0);
    agent.destroy();
    await node.close();
  });
});
