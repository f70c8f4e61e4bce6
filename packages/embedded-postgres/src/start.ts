import { join, resolve } from "node:path";
import { prepareBinaries } from "./binaries/binaries.js";
import { findNative } from "./binaries/native-folder.js";
import { initCluster, removeLeftovers } from "./cluster/init.js";
import { type LogFile, openLogFile } from "./cluster/log-file.js";
import { type RunningServer, runServer } from "./cluster/run-server.js";
import { availableMemoryBytes, checkSettings, tunedSettings } from "./cluster/settings.js";
import { chooseAccount } from "./data-dir/account.js";
import { type DataDir, ensurePassword, openDataDir, readIfThere, rememberServer } from "./data-dir/data-dir.js";
import { findHome } from "./data-dir/home.js";
import { type Ownership, takeOwnership } from "./data-dir/ownership.js";
import { EmbeddedPostgresError, asUserError } from "./errors.js";
import type { EmbeddedPostgres, EmbeddedPostgresOptions } from "./options.js";
import { stopServer } from "./process/server-process.js";
import { DATABASE, type Site } from "./site.js";
import { systemTimer } from "./timer.js";

const SHARED_DIR = "/var/lib/carillon";

/**
 * Starts PostgreSQL on a data directory, making the database when there is none, or adopts the server that a killed
 * owner left running there. Rejects with an EmbeddedPostgresError for every problem that the user can solve.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    options.signal?.throwIfAborted();
    checkSettings(options.settings ?? {});
    const native = await findNative(options.binaryDir);
    const account = await chooseAccount(resolve(options.dataDir));
    const dataDir = await openDataDir(options.dataDir, account);
    const ownership = await takeOwnership(dataDir);
    return await startOwned({ options, native, account, dataDir, ownership }).catch(async (error: unknown) => {
      await ownership.release();
      throw error;
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    throw asUserError(error, resolve(options.dataDir));
  }
}

interface Owned {
  readonly options: EmbeddedPostgresOptions;
  readonly native: string;
  readonly account: Site["account"];
  readonly dataDir: DataDir;
  readonly ownership: Ownership;
}

async function startOwned(owned: Owned): Promise<EmbeddedPostgres> {
  const { options, dataDir } = owned;
  const site = await openSite(owned);
  await site.probe("owned");
  await removeLeftovers(site);
  const password = await ensurePassword(dataDir, site.home.clusterExists);
  if (!site.home.clusterExists) await initCluster(site, password, options.settings?.["fsync"] !== "off");
  await checkVersion(site);
  const logFile = openLogFile(dataDir);
  const settings = { ...tunedSettings(availableMemoryBytes()), ...options.settings };
  const running = await runServer(site, logFile, { port: options.port, settings });
  try {
    await rememberServer(dataDir, { port: running.port, version: site.binaries.version });
    logFile.keepSmall();
    await site.probe("ready");
    options.signal?.throwIfAborted();
  } catch (error) {
    logFile.close();
    await stopServer(running.server, "fast");
    throw error;
  }
  return handle(site, { running, password, logFile, ownership: owned.ownership });
}

async function openSite({ options, native, account, dataDir }: Owned): Promise<Site> {
  const sharedDir = options.sharedDir ?? SHARED_DIR;
  const home = await findHome(dataDir, account, sharedDir);
  return {
    dataDir,
    home,
    account,
    binaries: await prepareBinaries({ native, home, account, sharedDir }),
    timer: options.timer ?? systemTimer,
    signal: options.signal,
    log: options.log ?? (() => undefined),
    probe: async (name) => options.probes?.[name]?.(),
  };
}

async function checkVersion({ dataDir, home, binaries }: Site): Promise<void> {
  const made = (await readIfThere(join(home.cluster, "PG_VERSION")))?.trim();
  if (made === String(binaries.major)) return;
  if (made === undefined) {
    throw new EmbeddedPostgresError(
      "embedded_data_dir_incomplete",
      `Folder ${home.cluster} exists but has no database. Remove it to begin with an empty one, or restore it from a backup.`,
    );
  }
  throw new EmbeddedPostgresError(
    "embedded_data_dir_version",
    `The database in ${dataDir.path} was made by PostgreSQL ${made}; this is PostgreSQL ${binaries.version}, which cannot ` +
      `read it. Start it once more with the old version and move the data with pg_dump, or upgrade ${home.cluster} with ` +
      "pg_upgrade, or name another directory with --data-dir.",
  );
}

interface Started {
  readonly running: RunningServer;
  readonly password: string;
  readonly logFile: LogFile;
  readonly ownership: Ownership;
}

function handle(site: Site, { running, password, logFile, ownership }: Started): EmbeddedPostgres {
  const { server, port, adopted } = running;
  let stopping: Promise<void> | undefined;
  const stop = async (mode: "fast" | "immediate") => {
    try {
      await site.probe("stop-requested");
      await stopServer(server, mode, () => site.probe("stop-signalled"));
    } finally {
      logFile.close();
      await ownership.release();
    }
  };
  return {
    url: `postgresql://${DATABASE}:${password}@127.0.0.1:${port}/${DATABASE}`,
    port,
    pid: server.pid,
    adopted,
    version: site.binaries.version,
    exited: server.exited,
    stop(mode = "fast") {
      if (stopping && mode === "immediate") server.signal("SIGQUIT");
      stopping ??= stop(mode);
      return stopping;
    },
  };
}
