import { once } from "node:events";
import { readdir, readFile, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import { CarillonError } from "@carillon/core";

interface PortOwner {
  readonly pid: number;
  /** The command line; empty when this process may not read it. */
  readonly command: string;
}

const LISTEN = "0A";

/** Inodes of the sockets that listen on the port, from the text of /proc/net/tcp or tcp6. */
export function listeningInodes(table: string, port: number): string[] {
  const hexPort = port.toString(16).toUpperCase().padStart(4, "0");
  return table
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(`:${hexPort}`) && columns[3] === LISTEN)
    .flatMap((columns) => columns[9] ?? []);
}

/** The process that listens on a local port, if the system shows it (Linux; own processes, or as root); null otherwise. */
async function findPortOwner(port: number): Promise<PortOwner | null> {
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => textOf(`/proc/net/${name}`)));
  const wanted = new Set(tables.flatMap((table) => listeningInodes(table, port)).map((inode) => `socket:[${inode}]`));
  if (wanted.size === 0) return null;
  for (const name of await namesIn("/proc")) {
    if (/^\d+$/.test(name) && (await holdsOne(`/proc/${name}/fd`, wanted))) {
      return { pid: Number(name), command: (await textOf(`/proc/${name}/cmdline`)).replaceAll("\0", " ").trim() };
    }
  }
  return null;
}

async function holdsOne(folder: string, wanted: ReadonlySet<string>): Promise<boolean> {
  for (const descriptor of await namesIn(folder)) {
    const target = await readlink(`${folder}/${descriptor}`).catch(() => "");
    if (wanted.has(target)) return true;
  }
  return false;
}

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** For a message: " by node server.js (pid 42)", or nothing if the process is unknown. */
export async function describePortOwner(port: number): Promise<string> {
  const owner = await findPortOwner(port);
  if (owner === null) return "";
  const command = owner.command.length > 60 ? `${owner.command.slice(0, 59)}…` : owner.command;
  return ` by ${command === "" ? "a process" : command} (pid ${owner.pid})`;
}

export const isPortInUse = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EADDRINUSE";

export async function portInUse(port: number, cause: unknown): Promise<CarillonError> {
  const owner = await describePortOwner(port);
  const detail = `Port ${port} is in use${owner}: stop that process, or choose another port with --port or CARILLON_PORT.`;
  return new CarillonError("port_in_use", detail, { cause });
}

/** Checked before the start, so that a node that cannot listen does not join the cluster first. */
export async function assertPortFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    await once(probe.listen({ host, port }), "listening");
  } catch (error) {
    throw isPortInUse(error) ? await portInUse(port, error) : error;
  }
  await new Promise((resolve) => probe.close(resolve));
}
