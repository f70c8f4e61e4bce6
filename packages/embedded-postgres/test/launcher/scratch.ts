import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { afterAll, afterEach } from "vitest";
import { startEmbeddedPostgres } from "../../src/index.js";
import { killLaunchers } from "./launcher.js";

const run = promisify(execFile);
const scratches: string[] = [];

/** A directory that every user can pass through, removed after the test, when no process may work in it any more. */
export async function scratchDir(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "embedded-postgres-"));
  await chmod(path, 0o711);
  scratches.push(path);
  return path;
}

/** Every process that names this path in its arguments. */
export async function processesAt(path: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return commands.filter((command) => command.includes(path)).map((command) => command.replaceAll("\0", " "));
}

/** Runs statements on the server and gives the rows of the last one. */
export async function query(url: string, ...statements: readonly string[]): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: readonly unknown[] = [];
    for (const statement of statements) rows = (await client.query<Record<string, unknown>>(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

let template: Promise<string> | undefined;

/** A copy of a stopped database that has one row, 42, in the table `kept`: quicker than making one. */
export async function storedDataDir(): Promise<string> {
  template ??= makeTemplate();
  const dataDir = join(await scratchDir(), "data");
  await run("cp", ["-a", await template, dataDir]);
  return dataDir;
}

async function makeTemplate(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "embedded-postgres-"));
  await chmod(parent, 0o711);
  const dataDir = join(parent, "data");
  const server = await startEmbeddedPostgres({ dataDir });
  await query(server.url, "create table kept as select 42 as answer");
  await server.stop();
  // Copies that run side by side shall not want the same port.
  await rm(join(dataDir, "server.json"));
  return dataDir;
}

afterEach(async () => {
  await killLaunchers();
  const left: string[] = [];
  for (const path of scratches.splice(0)) {
    left.push(...(await processesAt(path)));
    await rm(path, { recursive: true, force: true });
  }
  if (left.length > 0) throw new Error(`Processes left after the test:\n${left.join("\n")}`);
});

afterAll(async () => {
  if (template) await rm(dirname(await template), { recursive: true });
});
