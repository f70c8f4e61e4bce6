import { loadStatements, nodeLockStatements, type NodeRow } from "@carillon/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../../store/test/store/db/support.js";
import { postgresCoordinator, SessionLock } from "../../../src/cluster/postgres/row-registry.js";
import type { Coordinator } from "../../../src/cluster/shards.js";
import { type Database, openDatabase } from "../../../src/index.js";
import { TestTime } from "../../harness/cluster-harness.js";
import { createEngineStore } from "../../harness/engine-store.js";
import { hostPorts, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let time: TestTime;
let opened: Database[];
beforeEach(async () => {
  h = await storeHarness();
  time = new TestTime();
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((database) => database.close()));
  await h.close();
});

interface TestNode {
  readonly coordinator: Coordinator;
  readonly database: Database;
  readonly woken: () => number;
}

/** A node with connections of its own, so that they can die alone. */
async function start(name: string, serverStart?: () => string): Promise<TestNode> {
  const database = await openDatabase({ url: h.url, schema: "carillon", poolSize: 4, ...hostPorts });
  opened.push(database);
  const { nodes, shards } = createEngineStore(database);
  const lock = new SessionLock(database, nodeLockStatements(loadStatements("carillon")));
  let wakes = 0;
  const list = async (): Promise<NodeRow[]> =>
    (await nodes.list()).map((row) => ({ ...row, serverStart: serverStart?.() ?? row.serverStart }));
  const rows = { nodes: { ...nodes, list }, shards, lock, alone: false, wake: () => void wakes++ };
  const coordinator = postgresCoordinator({ ...time.member(name), ...rows });
  await coordinator.join();
  await isLocked(coordinator, true);
  return { coordinator, database, woken: () => wakes };
}

/** The lock comes and goes on its own connection: looks until the server shows it so. */
function isLocked({ membership }: Coordinator, expected: boolean): Promise<void> {
  return eventually(async () => {
    const row = (await h.store.nodes.list()).find((node) => node.id === membership.nodeId);
    return row?.locked === expected;
  });
}

async function pair(serverStart?: () => string): Promise<[TestNode, TestNode]> {
  const a = await start("a");
  const b = await start("b", serverStart);
  await time.settle(a.coordinator, b.coordinator);
  time.events.length = 0;
  return [a, b];
}

/** Ends a process as kill -9 does: its sockets close, it says nothing. */
async function killNode({ database, coordinator }: TestNode): Promise<void> {
  await database.close(0);
  await isLocked(coordinator, false);
}

const terminateLocks = {
  text: `select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and l.locktype = 'advisory' and l.objsubid = 1
      and (l.classid::bigint << 32) | l.objid::bigint = ('x' || right(replace($1::uuid::text, '-', ''), 16))::bit(64)::bigint`,
};

describe("dead nodes with a session lock", () => {
  it("a killed node with a direct connection loses its shards half a second after its lock was seen free, not after the lease", async () => {
    const [a, b] = await pair();
    await killNode(a);
    time.monotonic += 1_000;
    expect((await b.coordinator.tick()).gained).toEqual([]);
    expect(b.coordinator.idleMs).toBe(500);
    time.monotonic += 499;
    expect((await b.coordinator.tick()).gained).toEqual([]);
    time.monotonic += 1;
    expect((await b.coordinator.tick()).gained).toHaveLength(512);
    expect(b.coordinator.idleMs).toBe(1_000);
    const dead = {
      type: "node.lost",
      nodeId: a.coordinator.membership.nodeId,
      name: "a",
      detection: "session_lock_freed",
    };
    expect(time.events).toContainEqual(dead);
    const taken = time.events.find((event) => event.type === "shards.taken_over");
    expect(taken).toMatchObject({ fromNodeId: a.coordinator.membership.nodeId, shards: 512 });
    expect(taken?.type === "shards.taken_over" && taken.takeoverMs).toBeLessThanOrEqual(2_000);
  });

  it("a killed node with a direct connection is replaced by two nodes at once, which take different shards", async () => {
    const [a, b] = await pair();
    const c = await start("c");
    await time.settle(a.coordinator, b.coordinator, c.coordinator);
    await killNode(a);
    for (const ms of [1_000, 500]) {
      time.monotonic += ms;
      await b.coordinator.tick();
      await c.coordinator.tick();
    }
    expect([b, c].map((one) => one.coordinator.membership.epochs.size)).toEqual([512, 512]);
  });

  it("a killed node with a direct connection is not declared dead when only its session is lost: it sends a heartbeat at once and takes its lock again", async () => {
    const [a, b] = await pair();
    await h.db.query(terminateLocks, [a.coordinator.membership.nodeId]);
    await eventually(async () => a.woken() > 0);
    time.monotonic += 100;
    await b.coordinator.tick();
    await a.coordinator.tick();
    time.monotonic += 600;
    expect((await b.coordinator.tick()).gained).toEqual([]);
    expect(time.count("node.lost")).toBe(0);
    await isLocked(a.coordinator, true);
    await time.settle(a.coordinator, b.coordinator);
    expect(time.count("node.lost")).toBe(0);
  });

  it("a killed node with a direct connection keeps its shards for the lease if the observer's own lock was lost meanwhile", async () => {
    const [a, b] = await pair();
    await h.db.query(terminateLocks, [b.coordinator.membership.nodeId]);
    await eventually(async () => b.woken() > 0);
    await isLocked(b.coordinator, true);
    await killNode(a);
    for (const ms of [1_000, 600, 600]) {
      time.monotonic += ms;
      expect((await b.coordinator.tick()).gained).toEqual([]);
    }
    expect(time.count("node.lost")).toBe(0);
  });

  it("a killed node with a direct connection keeps its shards for the lease when the server restarts, because every lock was lost with it", async () => {
    let serverStart = "before";
    const [a, b] = await pair(() => serverStart);
    await killNode(a);
    serverStart = "after";
    for (const ms of [1_000, 600, 600]) {
      time.monotonic += ms;
      expect((await b.coordinator.tick()).gained).toEqual([]);
    }
    for (let second = 0; second < 5; second++) {
      time.monotonic += 1_000;
      await b.coordinator.tick();
    }
    expect(b.coordinator.membership.epochs.size).toBe(1_024);
    expect(time.events).toContainEqual(expect.objectContaining({ type: "node.lost", detection: "heartbeat_timeout" }));
  });
});

describe("silent nodes", () => {
  it("a node that holds its lock and sends no heartbeat loses its shards after the lease: a lock never extends it", async () => {
    const [a, b] = await pair();
    for (let second = 0; second < 6; second++) {
      time.monotonic += 1_000;
      await b.coordinator.tick();
    }
    await isLocked(b.coordinator, true);
    expect(b.coordinator.membership.epochs.size).toBe(1_024);
    const dead = {
      type: "node.lost",
      nodeId: a.coordinator.membership.nodeId,
      name: "a",
      detection: "heartbeat_timeout",
    };
    expect(time.events).toContainEqual(dead);
  });

  it("a node that holds its lock and sends no heartbeat is no longer a member after it left cleanly, and its lock is free", async () => {
    const [a, b] = await pair();
    const { nodeId } = a.coordinator.membership;
    await a.coordinator.leave();
    expect((await b.coordinator.tick()).gained).toHaveLength(512);
    expect(time.count("node.lost")).toBe(0);
    expect(time.events).toContainEqual({ type: "node.left", nodeId, name: "a" });
    expect((await h.db.query(terminateLocks, [nodeId])).rowCount).toBe(0);
  });
});
