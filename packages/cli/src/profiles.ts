import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "@carillon/core";
import { CliError, ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { makeFolders } from "./make-folders.js";

/** A server, and the namespace and key that commands use there. */
export interface Profile {
  readonly url: string;
  readonly namespace?: string;
  /** Never printed. */
  readonly token?: string;
}

export interface Profiles {
  /** The profile that commands use if no flag or variable names another. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

type Env = Io["env"];

const none: Profiles = { current: null, profiles: {} };
const ownerOnly = 0o600;
const othersBits = 0o077;

/** In the folder where programs store settings; null if the user has no home. */
function profilesPath(env: Env): string | null {
  const base = env["XDG_CONFIG_HOME"] || env["APPDATA"] || (env["HOME"] && join(env["HOME"], ".config"));
  return base ? join(base, "carillon", "profiles.json") : null;
}

/** The stored profiles. A file that other users can read is refused: it contains keys. */
export function readProfiles(env: Env): Profiles {
  const path = profilesPath(env);
  const stat = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
  if (path === null || stat === undefined) return none;
  if (process.platform !== "win32" && (stat.mode & othersBits) !== 0)
    throw new CliError(
      ExitCode.config,
      `Other users can read ${path}, which contains keys. Change that with: chmod 600 ${path}`,
    );
  return profilesIn(readFileSync(path, "utf8"), path);
}

/** Replaces the file atomically; only its owner can read it. */
export function writeProfiles(env: Env, profiles: Profiles): string {
  const path = profilesPath(env);
  if (path === null)
    throw new CliError(
      ExitCode.config,
      "There is no folder for profiles. Set HOME or XDG_CONFIG_HOME, or use CARILLON_URL.",
    );
  makeFolders(dirname(path), 0o700);
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: ownerOnly, flag: "wx" });
  chmodSync(draft, ownerOnly);
  renameSync(draft, path);
  return path;
}

/** The profile of this name; an error that lists the names if there is none. */
export function profileNamed({ profiles }: Profiles, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const known = Object.keys(profiles);
  const which =
    known.length === 0 ? "There are none yet; store one with: carillon login" : `There are ${known.join(", ")}.`;
  throw new CliError(ExitCode.notFound, `There is no profile ${JSON.stringify(name)}. ${which}`);
}

function profilesIn(text: string, path: string): Profiles {
  const broken = (): CliError =>
    new CliError(
      ExitCode.config,
      `${path} is not a file that carillon wrote. Repair or delete it, then: carillon login`,
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken();
  }
  if (!isObject(value) || !isObject(value["profiles"])) throw broken();
  const { current = null, profiles } = value;
  if (!Object.values(profiles).every(isProfile) || (current !== null && typeof current !== "string")) throw broken();
  return { current, profiles: profiles as Record<string, Profile> };
}

function isProfile(value: unknown): boolean {
  if (!isObject(value) || typeof value["url"] !== "string") return false;
  return ["namespace", "token"].every((name) => value[name] === undefined || typeof value[name] === "string");
}
