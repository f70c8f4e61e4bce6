import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { makeUuidV7, systemClock, systemRandom, systemTimers } from "@carillon/core";
import { createEngine, openDatabase } from "@carillon/engine";
import { freshDatabase, TcpProxy } from "@carillon/testkit";
import { describe, expect, it } from "vitest";
import { createApi } from "../../../src/api/create-api.js";
import type { IntakeLoad } from "../../../src/api/intake.js";
import { readiness } from "../../../src/bin/readiness.js";
import { createMetrics } from "../../../src/metrics/metrics.js";

const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
const intake = { calls: 100, bytes: 8 * 1_048_576 };
const requests = 2_000;
const body = JSON.stringify({ task: "nobody", payload: "x".repeat(20_000) });

/** A node whose way to the database leads through a proxy. Nobody waits long here. */
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
  const engine = createEngine({ database, ...ports, newId, node, alone: true });
  await engine.start();
  metrics.watchNode({
    engine: () => engine.load,
    database: () => ({ ...database.load, isUp: database.state === "up" }),
  });
  let load: IntakeLoad | null = null;
  const app = createApi({
    engine: engine.api,
    workers: engine.workerDoor,
    health: readiness(() => database),
    metrics: {
      ...metrics,
      watchIntake(shown) {
        load = shown;
        metrics.watchIntake(shown);
      },
    },
    events: { open: () => Readable.from([]) },
    version: "0",
    now: () => database.clock.now(),
    newRequestId: () => "test",
    intake,
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    url,
    proxy,
    database,
    engine,
    load: (): IntakeLoad["calls"] => load?.calls ?? { calls: 0, bytes: 0 },
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

/** Sends a call over one of few sockets, and answers its status and whether it says when to come again. */
function post(url: string, agent: Agent): Promise<{ status: number; retryAfter: string | undefined }> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(`${url}/v1/runs`, { method: "POST", agent, headers }, (answer) => {
      answer.resume();
      answer.on("end", () => {
        resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers["retry-after"] });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

describe("a node whose database has stopped to answer", () => {
  it("refuses thousands of calls by 503 in bounded memory, lives, says that it is not ready, and recovers", async () => {
    const node = await nodeBehindProxy();
    const agent = new Agent({ keepAlive: true, maxSockets: 400 });
    // On a busy machine the first statements may be late even for a healthy database.
    while ((await post(node.url, agent)).status !== 201) await sleep(20);

    await node.proxy.blackHole();
    const before = process.memoryUsage().rss;
    const over = new AbortController();
    const answers = Promise.all(Array.from({ length: requests }, () => post(node.url, agent))).finally(() => {
      over.abort();
    });
    const seen = { calls: 0, bytes: 0, waiting: 0 };
    const statusOf = async (path: string): Promise<number> => (await fetch(`${node.url}${path}`)).status;
    const probes: Promise<number[]>[] = [];
    while (!over.signal.aborted) {
      const { calls, bytes } = node.load();
      seen.calls = Math.max(seen.calls, calls);
      seen.bytes = Math.max(seen.bytes, bytes);
      seen.waiting = Math.max(seen.waiting, node.engine.load.writesWaiting, node.database.load.pool.waiting);
      // As soon as nobody more is let in, those who look after the node ask how it is.
      if (calls === intake.calls && probes.length < 3)
        probes.push(Promise.all([statusOf("/livez"), statusOf("/readyz")]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Answered although the database is still silent: nobody waits for it.
    expect(new Set((await answers).map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(
      new Set(["503 2"]),
    );
    expect(await Promise.all(probes)).toEqual([
      [200, 503],
      [200, 503],
      [200, 503],
    ]);
    expect(seen.calls).toBe(intake.calls);
    expect(seen.bytes).toBeLessThanOrEqual(intake.bytes);
    expect(seen.waiting).toBeLessThanOrEqual(intake.calls);
    // Callers and node are one process here: the sockets of both, and no more than the calls that were let in.
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1_048_576);

    await node.proxy.resume();
    await node.database.waitUntilUp();
    while ((await post(node.url, agent)).status !== 201) await sleep(20);
    expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
    expect(await node.metric("carillon_database_up")).toBe(1);
    expect(await node.metric('carillon_http_request_active_bytes{budget="calls"}')).toBe(0);
    agent.destroy();
    await node.close();
  });
});
