import type { StdioOptions } from "node:child_process";
import { readLastServer } from "../data-dir/data-dir.js";
import { EmbeddedPostgresError, diskFull } from "../errors.js";
import { launch } from "../process/launch.js";
import { type ServerProcess, childServer, stopServer } from "../process/server-process.js";
import { DATABASE, type Site } from "../site.js";
import { type LogFile, lastLines } from "./log-file.js";
import { adoptOrphan } from "./orphan.js";
import { choosePort, isPortFree, portInUse } from "./port.js";
import { acceptsSessions, readPostmasterFile } from "./readiness.js";
import { serverArgs } from "./settings.js";

const TRIES = 20;
const LOCK_POLL_MS = 500;

export interface RunningServer {
  readonly server: ServerProcess;
  readonly port: number;
  readonly adopted: boolean;
}

interface ServerRequest {
  readonly port: number | undefined;
  readonly settings: Readonly<Record<string, string>>;
}

/** Adopts the server that runs on this cluster, or starts one. */
export async function runServer(site: Site, logFile: LogFile, request: ServerRequest): Promise<RunningServer> {
  const last = await readLastServer(site.dataDir);
  const argsFor = (port: number) => serverArgs(site.home.cluster, port, request.settings);
  const suits = (command: string, port: number) =>
    command === [site.binaries.postgres, ...argsFor(port)].join(" ") &&
    (request.port ?? port) === port &&
    (last?.version ?? site.binaries.version) === site.binaries.version;
  let preferred = last?.port;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const adopted = await adoptOrphan(site, suits);
    if (adopted) return { ...adopted, adopted: true };
    const port = await choosePort(request.port, preferred);
    await site.probe("port-chosen");
    const outcome = await startServer(site, logFile, { port, args: argsFor(port) });
    if (typeof outcome === "object") return { server: outcome, port, adopted: false };
    if (outcome === "port-taken" && request.port !== undefined) throw portInUse(request.port);
    if (outcome === "port-taken") preferred = undefined;
    // Either another starting server has the lock and is adopted next, or sessions of a killed one are still ending.
    else await site.timer.delay(LOCK_POLL_MS, { signal: site.signal });
  }
  throw new EmbeddedPostgresError(
    "embedded_start_failed",
    `PostgreSQL could not start on ${site.home.cluster}: another process locks it, or takes each free port. ` +
      `Its log is ${site.dataDir.path}/postgres.log.`,
  );
}

const POLL_MS = 10;
/** Long enough for the recovery of a large log after a crash; ending a recovering server would restart the recovery. */
const START_MS = 600_000;

/** The reason of a failed start that may succeed when repeated. */
type Obstacle = "port-taken" | "still-locked";

/** Starts a postmaster and waits until it accepts sessions. */
async function startServer(
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
  return findObstacle(site, await logFile.readRecent(), port, how);
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

/** False if the server ended before it was ready. */
async function becomesReady(site: Site, server: ServerProcess, port: number): Promise<boolean> {
  let ended = false;
  const end = server.exited.then(() => (ended = true));
  for (let waited = 0; waited < START_MS; waited += POLL_MS) {
    const file = await readPostmasterFile(site.home.cluster);
    const ready = typeof file === "object" && file.pid === server.pid && file.status === "ready";
    if (ready && (await acceptsSessions(port, DATABASE, site.timer))) return true;
    await Promise.race([end, site.timer.delay(POLL_MS, { signal: site.signal })]);
    if (ended) return false;
  }
  throw new EmbeddedPostgresError(
    "embedded_start_failed",
    `PostgreSQL was not ready after ${START_MS / 60_000} minutes; its log is ${site.dataDir.path}/postgres.log.`,
  );
}

/** Why a server ended immediately. Its log has the SQLSTATE before each message: 53100 disk full, F0001 lock file exists. */
async function findObstacle(site: Site, logged: string, port: number, how: string): Promise<Obstacle> {
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
