import { afterEach, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

it("node list prints the nodes, and reports shards without an owner", async () => {
  const node = {
    id: "node_1",
    name: "a",
    version: "1.0.0",
    shards: 1_000,
    takes_shards: true,
    silent_ms: 3,
    skew_ms: -7,
  };
  const nodes = [{ ...node, started_at: "2030-01-01T00:00:00.000Z" }];
  const level = { in_use: 0, supported: 1, held_back_by: ["node_1"] };
  serve({ level, nodes, shards: { total: 1_024, owned: 1_000 } });
  const io = fakeIo();
  expect(await runCli(["node", "list"], io)).toBe(0);
  expect(io.written()).toMatch(/node_1 +a +1\.0\.0 +1000 +yes +3 ms +-7 ms +2030/);
  expect(io.said.join()).toContain("24 of 1024 shards have no owner");
  expect(io.said.join()).toContain("features of level 1 stay unused until these nodes run the newer version: node_1");
});
