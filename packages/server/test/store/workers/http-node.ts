import { randomBytes } from "node:crypto";
import { makeUuidV7, systemClock, systemRandom, systemTimers } from "@carillon/core";
import { createEngine, type Database, type EngineEvent, openDatabase } from "@carillon/engine";
import { freshDatabase } from "@carillon/testkit";
import { createApi } from "../../../src/api/create-api.js";

const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };

export interface HttpNode {
  readonly url: string;
  readonly database: Database;
  readonly events: readonly EngineEvent[];
  /** Runs that ended or wait again, by status. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  call(
    method: "GET" | "POST",
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  stop(): Promise<void>;
}

export interface Cluster {
  start(silenceMs?: number): Promise<HttpNode>;
  close(): Promise<void>;
}

/** Nodes with an API that listens, over one database. */
export async function cluster(): Promise<Cluster> {
  const fresh = await freshDatabase({ migrated: true });
  const nodes: HttpNode[] = [];
  return {
    async start(silenceMs = 3_000) {
      const node = await startNode(fresh.url, silenceMs);
      nodes.push(node);
      return node;
    },
    async close() {
      for (const node of nodes) await node.stop();
      await fresh.drop();
    },
  };
}

async function startNode(databaseUrl: string, workerSilenceMs: number): Promise<HttpNode> {
  const database = await openDatabase({ url: databaseUrl, schema: "carillon", ...ports });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "test", address: null, version: "0" };
  const events: EngineEvent[] = [];
  const limits = { workerSilenceMs, leaseMs: 1_000 };
  const onEvent = (event: EngineEvent): void => void events.push(event);
  const engine = createEngine({ database, ...ports, newId, node, alone: false, limits, onEvent });
  await engine.start();
  const app = createApi({
    engine: engine.api,
    workers: engine.remoteWorkers,
    health: { ready: async () => [] },
    metrics: { contentType: "text/plain", render: async () => "", httpRequest: () => undefined },
    version: "0",
    now: () => database.clock.now(),
    newRequestId: () => "test",
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    engine.remoteWorkers.stop();
    await app.close();
    await engine.stop();
    await database.close();
  };
  return {
    url,
    database,
    events,
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      return (await database.query<Row>({ text }, values)).rows;
    },
    async call(method, path, body) {
      const response = await fetch(`${url}${path}`, {
        method,
        ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
    },
    stop: () => (stopping ??= stop()),
  };
}
