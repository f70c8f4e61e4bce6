import { Readable } from "node:stream";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { makeUuidV7, systemClock, systemRandom, systemTimers } from "@carillon/core";
import { type Database, Engine, type EngineEvent, openDatabase } from "@carillon/engine";
import { freshDatabase } from "@carillon/testkit";
import { expect } from "vitest";
import { createApi } from "../../../src/api/app.js";
import { watchAnswers } from "../../unit/api/declared-answers.js";

const pollMs = 20;
const timeoutMs = 30_000;
const equals = (value: unknown, expected: unknown): boolean => {
  try {
    expect(value).toEqual(expected);
    return true;
  } catch {
    return false;
  }
};

const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };

export interface HttpNode {
  readonly url: string;
  readonly database: Database;
  readonly events: readonly EngineEvent[];
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  call(
    method: "GET" | "POST" | "PUT" | "PATCH",
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Creates a job that runs once, at once; returns its id. */
  create(job: object): Promise<string>;
  /** Polls until the run of such a job has the expected form. */
  untilRun(jobId: string, expected: object): Promise<void>;
  stop(): Promise<void>;
}

export interface Cluster {
  start(workerTimeoutMs?: number): Promise<HttpNode>;
  close(): Promise<void>;
}

/** Nodes with a listening API, over one database. */
export async function cluster(): Promise<Cluster> {
  const fresh = await freshDatabase({ migrated: true });
  const nodes: HttpNode[] = [];
  return {
    async start(workerTimeoutMs = 3_000) {
      const node = await startNode(fresh.url, workerTimeoutMs);
      nodes.push(node);
      return node;
    },
    async close() {
      for (const node of nodes) await node.stop();
      await fresh.drop();
    },
  };
}

async function startNode(databaseUrl: string, workerTimeoutMs: number): Promise<HttpNode> {
  const database = await openDatabase({ url: databaseUrl, schema: "carillon", ...ports });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "test", address: null, version: "0" };
  const events: EngineEvent[] = [];
  const limits = { workerTimeoutMs, leaseMs: 1_000 };
  const onEvent = (event: EngineEvent): void => void events.push(event);
  const engine = new Engine({ database, ...ports, newId, node, alone: false, limits, onEvent });
  await engine.start();
  const app = createApi({
    engine: engine,
    workers: engine.workerApi,
    health: { ready: async () => [] },
    metrics: {
      contentType: "text/plain",
      render: async () => "",
      httpRequest: () => undefined,
      httpProblem: () => undefined,
      rateLimited: () => undefined,
      watchAdmission: () => undefined,
    },
    events: { open: () => Readable.from([]) },
    version: "0",
    instance: "test",
    now: () => database.clock.now(),
    newRequestId: () => "test",
  });
  const violations = watchAnswers(app);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  let stopping: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    engine.remoteWorkers.stop();
    await app.close();
    expect(violations).toEqual([]);
    await engine.stop();
    await database.close();
  };
  const call: HttpNode["call"] = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(violations).toEqual([]);
    return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
  };
  return {
    url,
    database,
    events,
    call,
    async create(job) {
      const { status, body } = await call("POST", "/v1/jobs", job);
      expect(status).toBe(201);
      return String(body["id"]);
    },
    async untilRun(jobId, expected) {
      for (const limit = AbortSignal.timeout(timeoutMs); ; await sleep(pollMs)) {
        const { run } = (await call("GET", `/v1/jobs/${jobId}`)).body;
        if (limit.aborted || equals(run, expect.objectContaining(expected))) {
          expect(run).toMatchObject(expected);
          return;
        }
      }
    },
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      return (await database.query<Row>({ text }, values)).rows;
    },
    stop: () => (stopping ??= stop()),
  };
}
