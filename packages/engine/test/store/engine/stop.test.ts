import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/index.js";
import { EngineHarness } from "../../harness/engine-harness.js";

let h: EngineHarness;
let engine: Engine;
beforeAll(async () => {
  h = await EngineHarness.create();
  engine = await h.startNode();
});
afterAll(() => h.close());

const count = async (text: string): Promise<number> => (await h.database.query({ text })).rowCount;
const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
const owned = "select 1 from carillon.shard where owner is not null";

describe("a node that stops", () => {
  it("a stopping node releases its shards at once, also while another loop is still busy", async () => {
    expect(await count(owned)).toBe(1_024);
    const stopped = await h.database.transaction(async (tx) => {
      await tx.query({ text: "lock table carillon.webhook in access exclusive mode" });
      while ((await count(waiting)) === 0);
      const stopping = engine.stop();
      while ((await count(owned)) > 0);
      expect(await count(waiting)).toBeGreaterThan(0);
      return { stopping };
    });
    await stopped.stopping;
  });
});
