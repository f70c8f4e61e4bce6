import { connect } from "node:net";
import { join } from "node:path";
import { readIfThere } from "../data-dir/data-dir.js";
import type { Timer } from "../timer.js";

type PostmasterStatus = "starting" | "ready" | "stopping" | "standby" | "unknown";

/** The content of `postmaster.pid`, which a running postmaster writes. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  readonly status: PostmasterStatus;
}

const KNOWN: readonly string[] = ["starting", "ready", "stopping", "standby"] satisfies PostmasterStatus[];
const isStatus = (word: string): word is PostmasterStatus => KNOWN.includes(word);

/** Undefined without a file; "garbled" without a pid (the file is empty while it is written, or after a crash at that moment). */
export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | "garbled" | undefined> {
  const text = await readIfThere(join(cluster, "postmaster.pid"));
  return text === undefined ? undefined : parsePostmasterFile(text);
}

/** Lines: 1 pid, 2 directory, 3 start, 4 port, 5 socket directory, 6 address, 7 shared memory, 8 status. */
export function parsePostmasterFile(text: string): PostmasterFile | "garbled" {
  const lines = text.split("\n").map((line) => line.trim());
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return "garbled";
  const status = lines[7] ?? "";
  return { pid, port: Number(lines[3]) || 0, status: isStatus(status) ? status : "unknown" };
}

const RESPONSE_MS = 5_000;
const AUTHENTICATION = 0x52; // "R"
const ERROR = 0x45; // "E"
const TOO_MANY_CONNECTIONS = "C53300\0";

/**
 * Whether a PostgreSQL on the port accepts sessions: it responds to a startup message with a password request, or with the
 * error that all connections are in use. A server that is starting or stopping responds with another error.
 */
export async function acceptsSessions(port: number, user: string, timer: Timer): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  const enough = new AbortController();
  const response = new Promise<boolean>((resolve) => {
    socket.once("connect", () => socket.write(startupMessage(user)));
    socket.once("data", (data) => resolve(isReady(data)));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
  const delay = timer.delay(RESPONSE_MS, { signal: enough.signal });
  const late = delay.catch(() => undefined).then(() => false);
  try {
    return await Promise.race([response, late]);
  } finally {
    enough.abort();
    socket.destroy();
  }
}

function isReady(data: Buffer): boolean {
  return data[0] === AUTHENTICATION || (data[0] === ERROR && data.includes(TOO_MANY_CONNECTIONS));
}

/** Protocol 3.0: length, version, then names and values ended by zero bytes. */
function startupMessage(user: string): Buffer {
  const body = Buffer.from(`user\0${user}\0database\0${user}\0\0`, "utf8");
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + body.length, 0);
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, body]);
}
