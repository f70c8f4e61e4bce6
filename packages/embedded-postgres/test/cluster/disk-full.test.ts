import { open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../src/index.js";
import { query, scratchDir } from "../launcher/scratch.js";
import { isRoot, mountTmpfs } from "../launcher/system.js";

/** Writes until the disk is full. */
async function fill(path: string): Promise<void> {
  const file = await open(path, "w");
  const write = async () => {
    for (;;) await file.write(Buffer.alloc(65_536));
  };
  await expect(write()).rejects.toMatchObject({ code: "ENOSPC" });
  await file.close();
}

describe.skipIf(!isRoot)("a full disk (needs root, to mount a small one)", () => {
  it("a full disk is reported when a new database does not fit, and nothing incomplete stays", async () => {
    const disk = await mountTmpfs(await scratchDir(), "size=16m,mode=755");
    const dataDir = join(disk.path, "data");
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toMatchObject({ code: "embedded_disk_full" });
    expect((await readdir(dataDir)).filter((name) => name.startsWith("postgres"))).toEqual([]);
    await fill(join(disk.path, "rest"));
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toMatchObject({ code: "embedded_disk_full" });
    await disk.unmount();
  });

  it("a full disk is reported when an existing database cannot start, which loses no data and starts once there is space", async () => {
    const disk = await mountTmpfs(await scratchDir(), "size=128m,mode=755");
    const dataDir = join(disk.path, "data");
    const first = await startEmbeddedPostgres({ dataDir });
    await query(first.url, "create table kept as select 42 as answer");
    await first.stop("immediate");
    await fill(join(disk.path, "ballast"));
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toMatchObject({ code: "embedded_disk_full" });
    await rm(join(disk.path, "ballast"));
    const next = await startEmbeddedPostgres({ dataDir });
    expect(await query(next.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    await next.stop();
    await disk.unmount();
  });
});
