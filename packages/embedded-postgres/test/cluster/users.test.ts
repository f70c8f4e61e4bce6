import { execFile } from "node:child_process";
import { chmod, chown, lstat, mkdir, readdir, readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../src/index.js";
import { Launcher } from "../launcher/launcher.js";
import { query, scratchDir, storedDataDir } from "../launcher/scratch.js";
import { copyNative, installedNative, isRoot, NOBODY } from "../launcher/system.js";

const run = promisify(execFile);

describe("binaries as npm delivers them", () => {
  it("binaries run without their install script, from a read-only folder", async () => {
    const scratch = await scratchDir();
    const binaryDir = join(scratch, "native");
    await copyNative(binaryDir);
    await run("chmod", ["-R", "a-w", binaryDir]);
    const before = await readdir(join(binaryDir, "lib"));
    const server = await startEmbeddedPostgres({ dataDir: join(scratch, "data"), binaryDir });
    expect(await query(server.url, "select 'ß' < 'z' collate \"und-x-icu\" as icu")).toEqual([{ icu: true }]);
    await server.stop();
    expect(await readdir(join(binaryDir, "lib"))).toEqual(before);
    await run("chmod", ["-R", "u+w", binaryDir]);
  });
});

describe.skipIf(!isRoot)("root (skipped for ordinary users)", () => {
  it("runs PostgreSQL as an unprivileged user and keeps everything else to itself", async () => {
    const dataDir = await storedDataDir();
    const server = await startEmbeddedPostgres({ dataDir });
    expect((await stat(`/proc/${server.pid}`)).uid).not.toBe(0);
    expect((await stat(join(dataDir, "postgres"))).uid).not.toBe(0);
    expect((await stat(dataDir)).uid).toBe(0);
    expect((await stat(join(dataDir, "password"))).uid).toBe(0);
    await server.stop();
  });

  it("starts a project with its binaries below a directory that only root can enter", async () => {
    const scratch = await scratchDir();
    const sharedDir = join(scratch, "shared");
    const project = join(scratch, "root-only/project");
    await mkdir(project, { recursive: true });
    await copyNative(join(project, "native"));
    await chmod(join(scratch, "root-only"), 0o700);
    const options = { dataDir: join(project, ".carillon"), binaryDir: join(project, "native"), sharedDir };
    const first = await startEmbeddedPostgres(options);
    await query(first.url, "create table kept as select 42 as answer");
    await first.stop();
    expect((await lstat(join(options.dataDir, "postgres"))).isSymbolicLink()).toBe(true);
    const cluster = await realpath(join(options.dataDir, "postgres"));
    expect(cluster).toContain(`${sharedDir}/clusters/`);
    expect(await readFile(join(cluster, "../data-dir"), "utf8")).toBe(`${options.dataDir}\n`);
    const killed = new Launcher(options);
    const orphan = await killed.ready();
    await killed.kill();
    const next = await startEmbeddedPostgres(options);
    expect(next).toMatchObject({ adopted: true, pid: orphan.pid });
    expect(await query(next.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    await next.stop();
    expect(await readdir(join(sharedDir, "binaries"))).toHaveLength(1);
    expect(await readdir(join(sharedDir, "clusters"))).toHaveLength(1);
  });

  it("does not make a new database when the shared directory lost the old one", async () => {
    const scratch = await scratchDir();
    const sharedDir = join(scratch, "shared");
    await mkdir(join(scratch, "root-only"), { mode: 0o700 });
    const options = { dataDir: join(scratch, "root-only/data"), sharedDir };
    await (await startEmbeddedPostgres(options)).stop();
    await run("rm", ["-r", sharedDir]);
    await expect(startEmbeddedPostgres(options)).rejects.toMatchObject({ code: "embedded_data_dir_incomplete" });
  });

  it("keeps the mode of a directory with existing files", async () => {
    const scratch = await scratchDir();
    const dataDir = join(scratch, "mine");
    await mkdir(join(dataDir, "files"), { recursive: true });
    await chmod(dataDir, 0o755);
    await (await startEmbeddedPostgres({ dataDir, sharedDir: join(scratch, "shared") })).stop();
    expect((await stat(dataDir)).mode & 0o777).toBe(0o755);
  });

  it("starts a database that was restored as root", async () => {
    const dataDir = await storedDataDir();
    await run("chown", ["-R", "root", dataDir]);
    const server = await startEmbeddedPostgres({ dataDir });
    expect(await query(server.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    await server.stop();
  });

  it("runs an ordinary user's database as that user, who can start it again", async () => {
    const dataDir = join(await scratchDir(), "theirs");
    await mkdir(dataDir, { mode: 0o700 });
    await chown(dataDir, NOBODY.uid, NOBODY.gid);
    const theirs = new Launcher({ dataDir }, NOBODY);
    await theirs.ready();
    await theirs.stop();
    const server = await startEmbeddedPostgres({ dataDir });
    expect((await stat(`/proc/${server.pid}`)).uid).toBe(NOBODY.uid);
    await server.stop();
    const again = new Launcher({ dataDir }, NOBODY);
    expect((await again.ready()).adopted).toBe(false);
    await again.stop();
  });
});

describe("an ordinary user", () => {
  it("an ordinary user runs PostgreSQL, kills it and starts it again", async () => {
    const scratch = await scratchDir();
    const home = join(scratch, "home");
    await mkdir(home);
    if (isRoot) await chown(home, NOBODY.uid, NOBODY.gid);
    const account = isRoot ? NOBODY : undefined;
    const options = { dataDir: join(home, ".carillon"), binaryDir: installedNative };
    const killed = new Launcher(options, account);
    const orphan = await killed.ready();
    await query(orphan.url, "create table kept as select 42 as answer");
    await killed.kill();
    const next = new Launcher(options, account);
    expect(await next.ready()).toMatchObject({ adopted: true, pid: orphan.pid });
    expect(await query(orphan.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    await next.stop();
    expect((await stat(options.dataDir)).mode & 0o777).toBe(0o700);
  });
});
