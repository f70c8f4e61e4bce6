import { lchown, mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { diskFull, EmbeddedPostgresError } from "../errors.js";
import { finish, killGroup, launch } from "../process/launch.js";
import { listProcesses } from "../process/process-table.js";
import { DATABASE, type Site } from "../site.js";
import { lastLines } from "./log-file.js";

const PREFIX = "postgres.init-";
const END_POLL_MS = 20;
const END_POLLS = 500;

/**
 * Makes the cluster beside its final place and renames it when it is complete, so that a kill at any moment leaves either no
 * cluster or a complete one. `durable` is false only if fsync is off too.
 */
export async function initCluster(site: Site, password: string, durable: boolean): Promise<void> {
  const { home, account, binaries } = site;
  site.log(`making a new PostgreSQL ${binaries.version} database in ${home.cluster}`);
  const room = join(home.path, `${PREFIX}${process.pid}`);
  const [draft, passwordFile] = [join(room, "cluster"), join(room, "password")];
  await mkdir(room, { mode: 0o700 });
  try {
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    if (account) for (const path of [passwordFile, room]) await lchown(path, account.uid, account.gid);
    const auth = ["--auth=scram-sha-256", `--pwfile=${passwordFile}`];
    const text = ["--locale=C", "-E", "UTF8"];
    await run(site, binaries.initdb, ["-D", draft, "-U", DATABASE, ...auth, ...text, ...(durable ? [] : ["-N"])]);
    const single = ["--single", "-D", draft, "-c", "exit_on_error=true", "-c", "log_checkpoints=off", "postgres"];
    await run(site, binaries.postgres, single, `create database ${DATABASE}\n`);
    await site.probe("initialised");
    await rename(draft, home.cluster);
    if (durable) await syncFolder(home.path);
    await site.probe("cluster-in-place");
  } finally {
    await rm(room, { recursive: true, force: true });
  }
}

async function run(site: Site, file: string, args: readonly string[], input?: string): Promise<void> {
  const { home, account, binaries, signal } = site;
  const child = await launch({ file, args, env: binaries.env, cwd: home.path, stdio: "pipe", account });
  child.stdin?.on("error", () => undefined).end(input);
  const finished = finish(child, signal);
  if (input === undefined) await site.probe("initdb-running");
  const { ok, output, how } = await finished;
  if (ok) return;
  if (/No space left on device|Disk quota exceeded/.test(output)) throw diskFull(home.path, lastLines(output));
  throw new EmbeddedPostgresError(
    "embedded_start_failed",
    `The launcher could not make a new database in ${home.path}: ${file} ended with ${how}.\n${lastLines(output)}`,
  );
}

/** Removes incomplete clusters of killed starts, after ending an initdb that may still work in them. */
export async function removeLeftovers(site: Site): Promise<void> {
  for (const name of await readdir(site.home.path)) {
    if (!name.startsWith(PREFIX)) continue;
    const room = join(site.home.path, name);
    site.log(`removing ${room}, which a killed start left behind`);
    for (let poll = 0; poll < END_POLLS; poll += 1) {
      const workers = (await listProcesses()).filter(
        ({ command, cwd }) =>
          /(^|\/)(initdb|postgres) /.test(command) && (command.includes(room) || cwd?.startsWith(room)),
      );
      if (workers.length === 0) break;
      // Each runs in its own session; the helpers of initdb are in its group.
      for (const worker of workers) killGroup(worker);
      await site.timer.delay(END_POLL_MS, { signal: site.signal });
    }
    await rm(room, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Makes a rename in this folder survive a power cut. Windows cannot and need not. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
