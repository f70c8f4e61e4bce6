import { randomUUID } from "node:crypto";
import { type Database, type NodeStore, readClusterLevel } from "@carillon/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ClusterLevel, supportedLevel } from "../../../src/cluster/cluster-level.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let database: Database;
let nodes: NodeStore;

beforeEach(async () => {
  h = await storeHarness();
  database = h.db;
  nodes = h.store.nodes;
});
afterEach(() => h.close());

const join = async (level: number): Promise<string> => {
  const id = randomUUID();
  await nodes.register({ id, name: `level ${level}`, address: null, version: "0.0.9", level });
  return id;
};

/** As a version that does not know the column. */
const joinOld = () =>
  database.query(
    {
      text: `insert into carillon.node (id, name, address, version, started_at, heartbeat_at)
             values ($1, 'old', null, '0.0.1', clock_timestamp(), clock_timestamp())`,
    },
    [randomUUID()],
  );

describe("the feature level of a cluster", () => {
  it("rises when the last node of an older version has left, and every node sees that with its next pass", async () => {
    await joinOld();
    await join(supportedLevel);
    const one = new ClusterLevel(nodes);
    await one.refresh();
    expect(one.has("queue_ahead")).toBe(false);
    expect(await readClusterLevel(database, "carillon")).toMatchObject({
      inUse: 0,
      nodes: [{ level: 0 }, { level: supportedLevel }],
    });
    await database.query({ text: "delete from carillon.node where level = 0" });
    const other = new ClusterLevel(nodes);
    await other.refresh();
    await one.refresh();
    expect([one.has("queue_ahead"), other.has("queue_ahead")]).toEqual([true, true]);
  });

  it("keeps a node of an older version out, and says what to do", async () => {
    await join(supportedLevel);
    await new ClusterLevel(nodes).refresh();
    await expect(join(supportedLevel - 1)).rejects.toMatchObject({
      code: "node_too_old",
      message: expect.stringMatching(
        /use feature level 1, and version 0\.0\.9 .* only level 0\. Start a newer version\./,
      ),
    });
    await expect(joinOld()).rejects.toThrow("version 0.0.1 of Carillon supports only level 0");
    await join(supportedLevel + 1);
  });

  it("does not rise past a node that is just joining", async () => {
    await join(supportedLevel);
    let raised: Promise<number> | undefined;
    await database.transaction(async (tx) => {
      await tx.query(
        {
          text: `insert into carillon.node (id, name, version, started_at, heartbeat_at)
                 values ($1, 'old', '0.0.1', clock_timestamp(), clock_timestamp())`,
        },
        [randomUUID()],
      );
      raised = nodes.raiseLevel();
      const waiting = {
        text: "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      };
      await expect.poll(async () => (await database.hot.query(waiting)).rowCount).toBe(1);
    });
    expect(await raised).toBe(0);
  });

  it("falls only by an order, once no node is alive", async () => {
    await join(supportedLevel);
    await new ClusterLevel(nodes).refresh();
    const lower = { text: "select carillon.lower_cluster_level(0)" };
    await expect(database.query(lower)).rejects.toThrow("Stop all nodes first");
    await database.query({ text: "delete from carillon.node" });
    await database.query(lower);
    await joinOld();
  });
});
