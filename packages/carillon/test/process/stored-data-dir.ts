import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { afterAll } from "vitest";
import { scratchDir } from "./scratch.js";

const run = promisify(execFile);
let template: Promise<string> | undefined;

/** A data folder with an empty database, stopped: a copy is quicker than making one. */
export async function storedDataDir(): Promise<string> {
  template ??= makeTemplate();
  const dataDir = join(await scratchDir(), "data");
  await run("cp", ["-a", join(await template, "data"), dataDir]);
  return dataDir;
}

async function makeTemplate(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "carillon-test-"));
  await chmod(parent, 0o711);
  const dataDir = join(parent, "data");
  await (await startEmbeddedPostgres({ dataDir })).stop();
  // Copies that run side by side shall not want the same port.
  await rm(join(dataDir, "server.json"));
  return parent;
}

afterAll(async () => {
  if (template) await rm(await template, { recursive: true });
});
