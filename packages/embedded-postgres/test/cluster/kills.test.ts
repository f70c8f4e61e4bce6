import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../src/index.js";
import { Launcher } from "../launcher/launcher.js";
import { query, scratchDir, storedDataDir } from "../launcher/scratch.js";

const DURING_INIT = ["owned", "initdb-running", "initialised", "cluster-in-place"] as const;
const DURING_START = ["port-chosen", "server-spawned", "ready"] as const;
const DURING_STOP = ["stop-requested", "stop-signalled"] as const;

describe("a launcher killed with -9", () => {
  it.each([...DURING_INIT, ...DURING_START])(
    "at %s of the first start leaves what the next start completes",
    async (holdAt) => {
      const dataDir = join(await scratchDir(), "data");
      const killed = new Launcher({ dataDir, holdAt });
      await killed.until("held");
      await killed.kill();
      const next = await startEmbeddedPostgres({ dataDir });
      expect(await query(next.url, "select current_database() as name")).toEqual([{ name: "carillon" }]);
      await next.stop();
      const names = await readdir(dataDir);
      expect(names.filter((name) => name.includes(".init-") || name.startsWith("owner."))).toEqual([]);
    },
  );

  it.each([...DURING_START, ...DURING_STOP])(
    "a launcher that is killed at %s of a later start loses no row",
    async (holdAt) => {
      const dataDir = await storedDataDir();
      const killed = new Launcher({ dataDir, holdAt });
      if (holdAt.startsWith("stop")) {
        await query((await killed.ready()).url, "insert into kept values (43)");
        killed.requestStop();
      }
      await killed.until("held");
      await killed.kill();
      const next = await startEmbeddedPostgres({ dataDir });
      const expected = holdAt.startsWith("stop") ? [{ answer: 42 }, { answer: 43 }] : [{ answer: 42 }];
      expect(await query(next.url, "select answer from kept order by answer")).toEqual(expected);
      await next.stop();
    },
  );

  it("a killed launcher leaves a server that the next start adopts, with every row, and stops", async () => {
    const dataDir = await storedDataDir();
    const killed = new Launcher({ dataDir });
    const orphan = await killed.ready();
    await query(orphan.url, "insert into kept values (43)");
    await killed.kill();
    const next = await startEmbeddedPostgres({ dataDir });
    expect(next).toMatchObject({ adopted: true, pid: orphan.pid, port: orphan.port, url: orphan.url });
    expect(await query(next.url, "select answer from kept")).toEqual([{ answer: 42 }, { answer: 43 }]);
    await next.stop();
    await next.exited;
    const fresh = await startEmbeddedPostgres({ dataDir });
    expect(fresh.adopted).toBe(false);
    await fresh.stop();
  });

  it("a launcher that is killed repeatedly leaves one server, which stays the same", async () => {
    const dataDir = await storedDataDir();
    const pids = new Set<number>();
    for (let round = 0; round < 3; round += 1) {
      const killed = new Launcher({ dataDir });
      pids.add((await killed.ready()).pid);
      await killed.kill();
    }
    expect(pids.size).toBe(1);
    await (await startEmbeddedPostgres({ dataDir })).stop();
  });
});
