import type { StdioOptions } from "node:child_process";
import { diskFull, EmbeddedPostgresError } from "../errors.js";
import { launch } from "../process/launch.js";
import { childServer, type ServerProcess } from "../process/server-process.js";
import { stopServer } from "../process/stop-server.js";
import { DATABASE, type Site } from "../site.js";
import { answers } from "./answers.js";
import { lastLines, type LogFile } from "./log-file.js";
import { isPortFree } from "./port.js";
import { readPostmasterFile } from "./postmaster-file.js";

const LOOK_MS = 10;
/** Long enough for the recovery of a large log after a crash: ending a server that recovers would begin it again. */
const START_MS = 600_000;

/** A start that did not work but may work when tried again. */
export type Obstacle = "port-taken" | "still-locked";

/** Starts a postmaster and waits until it takes sessions. */
export async function startServer(
  site: Site,
  logFile: LogFile,
  { port, args }: { readonly port: number; readonly args: readonly string[] },
): Promise<ServerProcess | Obstacle> {
  const child = await spawnServer(site, logFile, args);
  const server = childServer(child, child.pid ?? 0, site.timer, site.binaries.pgCtl);
  child.unref();
  try {
    await site.probe("server-spawned");
    if (await becomesReady(site, server, port)) return server;
  } catch (error) {
    await stopServer(server, "fast");
    throw error;
  }
  const how = child.exitCode === null ? `signal ${child.signalCode}` : `exit code ${child.exitCode}`;
  return judge(site, await logFile.readRecent(), port, how);
}

async function spawnServer({ home, account, binaries }: Site, logFile: LogFile, args: readonly string[]) {
  const file = await logFile.openForServer();
  try {
    const stdio: StdioOptions = ["ignore", file.fd, file.fd];
    return await launch({ file: binaries.postgres, args, env: binaries.env, cwd: home.path, stdio, account });
  } finally {
    await file.close();
  }
}

/** False when the server ended before it was ready. */
async function becomesReady(site: Site, server: ServerProcess, port: number): Promise<boolean> {
  let ended = false;
  const end = server.exited.then(() => (ended = true));
  for (let waited = 0; waited < START_MS; waited += LOOK_MS) {
    const file = await readPostmasterFile(site.home.cluster);
    const ready = typeof file === "object" && file.pid === server.pid && file.status === "ready";
    if (ready && (await answers(port, DATABASE, site.timer))) return true;
    await Promise.race([end, site.timer.delay(LOOK_MS, { signal: site.signal })]);
    if (ended) return false;
  }
  throw new EmbeddedPostgresError(
    "embedded_start_failed",
    `PostgreSQL was not ready after ${START_MS / 60_000} minutes; its log is ${site.dataDir.path}/postgres.log.`,
  );
}

/** Why a server ended at once. Its log gives the SQLSTATE before each message: 53100 disk full, F0001 lock file exists. */
async function judge(site: Site, logged: string, port: number, how: string): Promise<Obstacle> {
  if (/\] 53100 |No space left on device|Disk quota exceeded/.test(logged)) {
    throw diskFull(site.dataDir.path, lastLines(logged));
  }
  if (/\] F0001 /.test(logged)) return "still-locked";
  if (!(await isPortFree(port))) return "port-taken";
  throw new EmbeddedPostgresError(
    "embedded_start_failed",
    `PostgreSQL ended with ${how} instead of starting. Its log, ${site.dataDir.path}/postgres.log, ends with:\n` +
      lastLines(logged),
  );
}
