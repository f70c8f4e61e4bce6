import { freshDatabase } from "@carillon/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Database, Engine, type EngineEvent, openDatabase } from "../../../src/index.js";
import { createEngineStore } from "../../harness/engine-store.js";
import { hostPorts, newId } from "../../harness/store-harness.js";
import { eventually } from "../../../../store/test/store/db/support.js";

/** Events of one node, to wait for. */
class Events {
  readonly list: EngineEvent[] = [];
  #check: () => void = () => undefined;

  readonly take = (event: EngineEvent): void => {
    this.list.push(event);
    this.#check();
  };

  async until(holds: () => boolean): Promise<void> {
    if (holds()) return;
    await new Promise<void>((resolve) => {
      this.#check = () => holds() && resolve();
    });
  }

  get owned(): number {
    return this.list.reduce((sum, event) => {
      if (event.type === "shards.acquired") return sum + event.count;
      return event.type === "shards.lost" ? sum - event.count : sum;
    }, 0);
  }
}

interface Node {
  readonly database: Database;
  readonly engine: Engine;
  readonly events: Events;
}

let url: string;
let drop: () => Promise<void>;
let nodes: Node[];
beforeEach(async () => {
  ({ url, drop } = await freshDatabase({ migrated: true }));
  nodes = [];
});
afterEach(async () => {
  for (const { engine, database } of nodes) {
    await engine.stop();
    await database.close();
  }
  await drop();
});

async function start(name: string): Promise<Node> {
  const events = new Events();
  const database = await openDatabase({ url, schema: "carillon", poolSize: 5, ...hostPorts });
  const node = { name, address: null, version: "0" };
  const engine = new Engine({ database, ...hostPorts, newId, node, alone: false, onEvent: events.take });
  await engine.start();
  nodes.push({ database, engine, events });
  return { database, engine, events };
}

/** Both locks are held, and the node has made a pass since. */
async function untilLocksWereSeen({ database, engine }: Node): Promise<void> {
  const store = createEngineStore(database);
  const own = async () => (await store.nodes.list()).find((row) => row.id === engine.nodeId);
  await eventually(async () => (await store.nodes.list()).every((row) => row.locked));
  for (const _ of ["the pass under way", "a whole one"]) {
    const before = (await own())?.heartbeat;
    await eventually(async () => (await own())?.heartbeat !== before);
  }
}

describe("engines over one database", () => {
  it("two engines over one database share the shards as soon as the second joins, and take them over when one stops", async () => {
    const a = await start("a");
    const b = await start("b");
    await b.events.until(() => b.events.owned === 512);
    expect(a.events.owned).toBe(512);
    await a.engine.stop();
    await b.events.until(() => b.events.owned === 1_024);
    expect(b.events.list.some((event) => event.type === "node.lost")).toBe(false);
  });

  it("two engines over one database detect by its freed lock that the other was killed", async () => {
    const a = await start("a");
    const b = await start("b");
    await b.events.until(() => b.events.owned === 512);
    const id = a.engine.nodeId;
    await untilLocksWereSeen(b);
    await a.database.close(0);
    await b.events.until(() => b.events.owned === 1_024);
    expect(b.events.list).toContainEqual({ type: "node.lost", nodeId: id, name: "a", detection: "session_lock_freed" });
    expect(b.events.list).toContainEqual(
      expect.objectContaining({ type: "shards.taken_over", nodeId: b.engine.nodeId, fromNodeId: id, shards: 512 }),
    );
  });
});
