import { readLastServer } from "../data-dir/data-dir.js";
import { EmbeddedPostgresError } from "../errors.js";
import type { ServerProcess } from "../process/server-process.js";
import type { Site } from "../site.js";
import type { LogFile } from "./log-file.js";
import { adoptOrphan } from "./orphan.js";
import { choosePort, portInUse } from "./port.js";
import { serverArgs } from "./settings.js";
import { startServer } from "./start-server.js";

const TRIES = 20;
const LOCK_LOOK_MS = 500;

export interface RunningServer {
  readonly server: ServerProcess;
  readonly port: number;
  readonly adopted: boolean;
}

export interface Wish {
  readonly port: number | undefined;
  readonly settings: Readonly<Record<string, string>>;
}

/** Adopts the server that runs on this cluster, or starts one. */
export async function runServer(site: Site, logFile: LogFile, wish: Wish): Promise<RunningServer> {
  const last = await readLastServer(site.dataDir);
  const argsFor = (port: number) => serverArgs(site.home.cluster, port, wish.settings);
  const suits = (command: string, port: number) =>
    command === [site.binaries.postgres, ...argsFor(port)].join(" ") &&
    (wish.port ?? port) === port &&
    (last?.version ?? site.binaries.version) === site.binaries.version;
  let preferred = last?.port;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const adopted = await adoptOrphan(site, suits);
    if (adopted) return { ...adopted, adopted: true };
    const port = await choosePort(wish.port, preferred);
    await site.probe("port-chosen");
    const outcome = await startServer(site, logFile, { port, args: argsFor(port) });
    if (typeof outcome === "object") return { server: outcome, port, adopted: false };
    if (outcome === "port-taken" && wish.port !== undefined) throw portInUse(wish.port);
    if (outcome === "port-taken") preferred = undefined;
    // Either a server that was just starting has the lock now and is adopted next, or sessions of a killed one still end.
    else await site.timer.delay(LOCK_LOOK_MS, { signal: site.signal });
  }
  throw new EmbeddedPostgresError(
    "embedded_start_failed",
    `PostgreSQL could not be started on ${site.home.cluster}: another process keeps it locked, or takes each free port. ` +
      `Its log is ${site.dataDir.path}/postgres.log.`,
  );
}
