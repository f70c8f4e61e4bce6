import type { StdioOptions } from "node:child_process";
import { join } from "node:path";
import { type Account, canRun } from "../data-dir/account.js";
import type { Home } from "../data-dir/home.js";
import { EmbeddedPostgresError } from "../errors.js";
import { finish, launch } from "../process/launch.js";
import { ensureCopy } from "./copy.js";
import { makeLinks, makeLinksInPlace, program, readLibraryLinks } from "./native-folder.js";

/** PostgreSQL's programs, ready to be run by the account. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly pgCtl: string;
  readonly env: NodeJS.ProcessEnv;
  /** Such as "18.4". */
  readonly version: string;
  readonly major: number;
}

const PIPED: StdioOptions = ["ignore", "pipe", "pipe"];

interface Placement {
  readonly native: string;
  readonly home: Home;
  readonly account: Account | undefined;
  readonly sharedDir: string;
}

/** Makes the programs runnable without an install script and without writing to node_modules, then reads their version. */
export async function prepareBinaries({ native, home, account, sharedDir }: Placement): Promise<Binaries> {
  const reachable = account === undefined || (await canRun(native, account));
  const shared = reachable ? native : await ensureCopy(native, join(sharedDir, "binaries"));
  const { runnable, env } = await linkLibraries(shared, home);
  const postgres = program(runnable, "postgres");
  const version = await readVersion(postgres, env, home.path, account);
  return {
    postgres,
    initdb: program(runnable, "initdb"),
    pgCtl: program(runnable, "pg_ctl"),
    env,
    version,
    major: Number.parseInt(version, 10),
  };
}

/**
 * On Linux a variable names the folder of the links. macOS drops that variable in shells, which initdb uses, so there the
 * links must be beside the libraries, in a copy if necessary.
 */
async function linkLibraries(native: string, home: Home): Promise<{ runnable: string; env: NodeJS.ProcessEnv }> {
  const env = cleanEnv();
  const links = await readLibraryLinks(native);
  if (process.platform === "win32" || links.length === 0) return { runnable: native, env };
  if (process.platform === "darwin") {
    const linked = await makeLinksInPlace(join(native, "lib"), links);
    return { runnable: linked ? native : await ensureCopy(native, join(home.path, "binaries")), env };
  }
  const lib = join(home.path, "lib");
  await makeLinks(lib, join(native, "lib"), links);
  // A library that was found through a link searches others beside the link, so the real folder is listed too.
  return { runnable: native, env: { ...env, LD_LIBRARY_PATH: `${lib}:${join(native, "lib")}` } };
}

/** Only the variables that programs need: PGDATA, PGOPTIONS and others of the caller must not leak in. */
function cleanEnv(): NodeJS.ProcessEnv {
  const kept = ["PATH", "SystemRoot", "TEMP", "TMP"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), LC_ALL: "C", TZ: "UTC" };
}

async function readVersion(postgres: string, env: NodeJS.ProcessEnv, cwd: string, account: Account | undefined) {
  const child = await launch({ file: postgres, args: ["--version"], env, cwd, stdio: PIPED, account });
  const { output, how } = await finish(child, undefined);
  const version = /PostgreSQL\) (\d+(?:\.\d+)?)/.exec(output)?.[1];
  if (version !== undefined) return version;
  throw new EmbeddedPostgresError(
    "embedded_start_failed",
    `${postgres} does not run on this system (${how}): ${output || "it has no output"}. ` +
      "Set CARILLON_DATABASE_URL to a PostgreSQL 14 or newer.",
  );
}
