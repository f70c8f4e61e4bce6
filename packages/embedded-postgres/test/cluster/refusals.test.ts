import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EmbeddedPostgresError, startEmbeddedPostgres, type EmbeddedPostgresOptions } from "../../src/index.js";
import { Launcher } from "../launcher/launcher.js";
import { scratchDir, storedDataDir } from "../launcher/scratch.js";
import { isRoot, mountTmpfs, NOBODY } from "../launcher/system.js";

async function refusal(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgresError> {
  const error: unknown = await startEmbeddedPostgres(options).then(
    (server) => server.stop(),
    (reason: unknown) => reason,
  );
  if (error instanceof EmbeddedPostgresError) return error;
  throw new Error("The start was not refused", { cause: error });
}

describe("a start that cannot work", () => {
  it("names the requested port that is in use", async () => {
    const squatter = createServer().listen(0, "127.0.0.1");
    await once(squatter, "listening");
    const address = squatter.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const error = await refusal({ dataDir: await storedDataDir(), port });
    expect(error.code).toBe("embedded_port_in_use");
    expect(error.message).toContain(String(port));
    squatter.close();
  });

  it("reports that the data directory is a file", async () => {
    const dataDir = join(await scratchDir(), "file");
    await writeFile(dataDir, "");
    const error = await refusal({ dataDir });
    expect(error.code).toBe("embedded_data_dir_not_writable");
    expect(error.message).toContain(dataDir);
    const below = await refusal({ dataDir: join(dataDir, "below") });
    expect(below.code).toBe("embedded_data_dir_not_writable");
  });

  it.runIf(existsSync("/proc/self"))("says that the file system takes no folders", async () => {
    const error = await refusal({ dataDir: "/proc/carillon/data" });
    expect(error.code).toBe("embedded_data_dir_not_writable");
    expect(error.message).toContain("it cannot be made there");
  });

  it.skipIf(!isRoot)("says that the disk is read-only (needs root, to mount one)", async () => {
    const disk = await mountTmpfs(await scratchDir(), "ro,size=1m");
    const error = await refusal({ dataDir: join(disk.path, "data") });
    await disk.unmount();
    expect(error.code).toBe("embedded_data_dir_not_writable");
  });

  it("reports that an ordinary user may not write to the data directory", async () => {
    const launcher = new Launcher({ dataDir: "/carillon-data-of-another-user" }, isRoot ? NOBODY : undefined);
    const { code, message } = await launcher.until("failed", "ready");
    expect(code).toBe("embedded_data_dir_not_writable");
    expect(message).toContain("--data-dir");
  });

  it("names the major version that made the database, and this one", async () => {
    const dataDir = await storedDataDir();
    await writeFile(join(dataDir, "postgres/PG_VERSION"), "12\n");
    const error = await refusal({ dataDir });
    expect(error.code).toBe("embedded_data_dir_version");
    expect(error.message).toMatch(/PostgreSQL 12; this is PostgreSQL \d+/);
    expect(error.message).toContain("pg_upgrade");
  });

  it("reports the end of the log when PostgreSQL ends immediately", async () => {
    const error = await refusal({ dataDir: await storedDataDir(), settings: { shared_buffers: "a lot" } });
    expect(error.code).toBe("embedded_start_failed");
    expect(error.message).toContain('invalid value for parameter "shared_buffers"');
  });

  it.each(["listen_addresses", "port", "Work_Mem", "x; y"])(
    "refuses the setting %s, which is not the caller's",
    async (name) => {
      const error = await refusal({ dataDir: join(await scratchDir(), "data"), settings: { [name]: "1" } });
      expect(error.code).toBe("embedded_setting_invalid");
      expect(error.message).toContain(name);
    },
  );

  it("does not make another password for a database whose password file is missing", async () => {
    const dataDir = await storedDataDir();
    await rm(join(dataDir, "password"));
    expect((await refusal({ dataDir })).code).toBe("embedded_data_dir_incomplete");
  });

  it("reports the path of the missing binaries", async () => {
    const scratch = await scratchDir();
    const error = await refusal({ dataDir: join(scratch, "data"), binaryDir: join(scratch, "nothing") });
    expect(error.code).toBe("embedded_binaries_missing");
    expect(error.message).toContain("nothing/bin/postgres");
  });

  it("reports a program that the system cannot run", async () => {
    const scratch = await scratchDir();
    await mkdir(join(scratch, "native/bin"), { recursive: true });
    await writeFile(join(scratch, "native/bin/postgres"), "not a program", { mode: 0o755 });
    const error = await refusal({ dataDir: join(scratch, "data"), binaryDir: join(scratch, "native") });
    expect(error.code).toBe("embedded_start_failed");
  });
});
