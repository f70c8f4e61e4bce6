import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isObject } from "@carillon/core";

/** A server on this machine, as the file `node.<pid>.json` in its data folder describes it. */
export interface LocalServer {
  readonly url: string;
  readonly pid: number;
  /** `GET /version` of this process, and of no other, answers with it. */
  readonly instance: string;
  /** The folder in which it was started. */
  readonly folder: string;
  readonly started_at: string;
}

/** The servers of the nearest data folder, from the working directory upwards. */
export interface LocalServers {
  readonly dataDir: string;
  /** Their processes exist; newest first. */
  readonly alive: readonly LocalServer[];
  /** They ended without removing their files. */
  readonly ended: readonly LocalServer[];
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const fileName = /^node\.\d+\.json$/;
const usualDataDir = ".carillon";
const configFile = "carillon.config.json";

/**
 * Writes the file of a server, atomically, and removes the files of ended servers. Each server has a file of its own, so that none
 * overwrites another's. Returns a function that removes the file, and the folder if it was made here.
 */
export function announceServer(dataDir: string, server: LocalServer): () => void {
  const isNew = makeFolder(dataDir);
  for (const { pid } of filesIn(dataDir)) if (!isAlive(pid)) rmSync(pathOf(dataDir, pid), { force: true });
  const path = pathOf(dataDir, server.pid);
  const draft = `${path}.new`;
  writeFileSync(draft, `${JSON.stringify(server)}\n`, { mode: 0o644 });
  renameSync(draft, path);
  return () => {
    rmSync(path, { force: true });
    if (isNew) removeFolder(dataDir);
  };
}

const pathOf = (dataDir: string, pid: number): string => join(dataDir, `node.${pid}.json`);

/** Others may pass through the folder, as the user of an embedded PostgreSQL must, and not list it. */
function makeFolder(dataDir: string): boolean {
  try {
    mkdirSync(dataDir, { mode: 0o711 });
  } catch (error) {
    if (isFolder(dataDir)) return false;
    throw error;
  }
  writeFileSync(join(dataDir, ".gitignore"), "*\n");
  return true;
}

function removeFolder(dataDir: string): void {
  try {
    if (readdirSync(dataDir).some((name) => name !== ".gitignore")) return;
    rmSync(join(dataDir, ".gitignore"), { force: true });
    rmdirSync(dataDir);
  } catch {
    // Another server uses it by now.
  }
}

/** Null if neither this folder nor one above it has a data folder with the file of a server. The nearest data folder decides. */
export function localServers({ cwd, env }: Place): LocalServers | null {
  const dataDir = nearestDataDir({ cwd, env });
  if (dataDir === null) return null;
  const servers = filesIn(dataDir).sort((one, other) => (one.started_at < other.started_at ? 1 : -1));
  if (servers.length === 0) return null;
  return {
    dataDir,
    alive: servers.filter(({ pid }) => isAlive(pid)),
    ended: servers.filter(({ pid }) => !isAlive(pid)),
  };
}

/** Whether the process at the server's address is this one. Another server may have the address of a killed one. */
export async function answersAs(
  server: LocalServer,
  signal: AbortSignal = AbortSignal.timeout(5_000),
): Promise<boolean> {
  try {
    const response = await fetch(`${server.url}/version`, { signal });
    const version: unknown = await response.json();
    return isObject(version) && version["instance"] === server.instance;
  } catch {
    return false;
  }
}

function nearestDataDir({ cwd, env }: Place): string | null {
  const { CARILLON_DATA_DIR: named, CARILLON_CONFIG: config } = env;
  if (named) return resolve(cwd, named);
  const configured = config ? configuredDataDir(resolve(cwd, config)) : null;
  if (configured !== null) return configured;
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const dataDir = configuredDataDir(join(folder, configFile)) ?? join(folder, usualDataDir);
    if (isFolder(dataDir)) return dataDir;
    if (folder === dirname(folder)) return null;
  }
}

/** The setting data_dir of a configuration file; null without the file or the setting. A server reports a broken file. */
function configuredDataDir(path: string): string | null {
  const config = jsonIn(path);
  const dataDir = isObject(config) ? config["data_dir"] : undefined;
  return typeof dataDir === "string" && dataDir !== "" ? resolve(dirname(path), dataDir) : null;
}

function filesIn(dataDir: string): LocalServer[] {
  return namesIn(dataDir)
    .filter((name) => fileName.test(name))
    .map((name) => join(dataDir, name))
    .filter(isTrusted)
    .map(jsonIn)
    .filter(isLocalServer);
}

/** In a folder that others can write to, such as /tmp, a file could lead commands and their keys to the server of another user. */
function isTrusted(path: string): boolean {
  const own = process.getuid?.();
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  return own === undefined || owner === own || owner === 0 || String(owner) === process.env["SUDO_UID"];
}

function isLocalServer(value: unknown): value is LocalServer {
  if (!isObject(value)) return false;
  const isText = (name: keyof LocalServer): boolean => typeof value[name] === "string";
  return (
    Number.isInteger(value["pid"]) && isText("url") && isText("instance") && isText("folder") && isText("started_at")
  );
}

/** Whether a process has the pid; a later process may have it by now. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Undefined if the file cannot be read, or is no JSON. */
function jsonIn(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
