import { connect } from "node:net";
import type { Timer } from "../timer.js";

const ANSWER_MS = 5_000;
const AUTHENTICATION = 0x52; // "R"
const ERROR = 0x45; // "E"
const TOO_MANY_CONNECTIONS = "C53300\0";

/**
 * Whether a PostgreSQL behind the port takes sessions: it answers a startup message by asking for the password, or says
 * that all its connections are in use. A server that is starting or stopping answers with another error.
 */
export async function answers(port: number, user: string, timer: Timer): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  const enough = new AbortController();
  const answer = new Promise<boolean>((resolve) => {
    socket.once("connect", () => socket.write(startupMessage(user)));
    socket.once("data", (data) => resolve(isReady(data)));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
  const late = timer.delay(ANSWER_MS, { signal: enough.signal }).then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([answer, late]);
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
