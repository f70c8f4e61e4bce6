import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type ProcessEntry, isPidTaken, readProcess } from "../process/process-table.js";
import { type ServerProcess, orphanServer, stopServer } from "../process/server-process.js";
import { DATABASE, type Site } from "../site.js";
import { type PostmasterFile, acceptsSessions, readPostmasterFile } from "./readiness.js";

const POLL_MS = 20;
/** A second: no live server leaves its file empty for so long. */
const GARBLED_READS = 50;
const START_MS = 60_000;

export interface Adopted {
  readonly server: ServerProcess;
  readonly port: number;
}

/**
 * Handles the server of a killed owner, if there is one. Adopts it if it runs with the arguments that this launcher would use
 * (`suits`) and accepts sessions; otherwise ends it, and the caller starts its own. No committed data is lost either way.
 */
export async function adoptOrphan(
  site: Site,
  suits: (command: string, port: number) => boolean,
): Promise<Adopted | undefined> {
  const found = await findOrphan(site);
  if (!found) return undefined;
  const { entry, file } = found;
  const server = orphanServer(entry, site.timer, site.binaries.pgCtl);
  if (suits(entry.command, file.port) && (await becomesReady(site, entry.pid))) {
    site.log(`adopting the running PostgreSQL (pid ${entry.pid}, port ${file.port}) of an owner that was killed`);
    return { server, port: file.port };
  }
  site.log(`ending the PostgreSQL (pid ${entry.pid}) of an owner that was killed, to start it again`);
  await stopServer(server, "fast");
  return undefined;
}

async function findOrphan(site: Site): Promise<{ entry: ProcessEntry; file: PostmasterFile } | undefined> {
  const { cluster } = site.home;
  for (let read = 0; read < GARBLED_READS; read += 1) {
    const file = await readPostmasterFile(cluster);
    if (file === undefined) return undefined;
    if (file === "garbled") {
      await site.timer.delay(POLL_MS, { signal: site.signal });
      continue;
    }
    const entry = await readProcess(file.pid);
    if (entry && isServerOf(entry, cluster)) return { entry, file };
    // PostgreSQL takes over the file of a dead process, but not while another program or a zombie has its pid.
    if (!isPidTaken(file.pid)) return undefined;
    break;
  }
  site.log("removing a postmaster.pid without a server");
  await rm(join(cluster, "postmaster.pid"), { force: true });
  return undefined;
}

/** By its arguments, or by its working directory if the data directory was moved while it ran. */
function isServerOf(entry: ProcessEntry, cluster: string): boolean {
  if (process.platform === "win32") return true;
  return (
    /(^|\/)postgres -D /.test(entry.command) && (entry.command.includes(`-D ${cluster} `) || entry.cwd === cluster)
  );
}

async function becomesReady(site: Site, pid: number): Promise<boolean> {
  for (let waited = 0; waited < START_MS; waited += POLL_MS) {
    const file = await readPostmasterFile(site.home.cluster);
    if (file === undefined || file === "garbled" || file.pid !== pid) return false;
    if (file.status === "stopping" || (await readProcess(pid)) === undefined) return false;
    if (file.status === "ready") return acceptsSessions(file.port, DATABASE, site.timer);
    await site.timer.delay(POLL_MS, { signal: site.signal });
  }
  return false;
}
