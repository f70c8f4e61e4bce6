import { once } from "node:events";
import { createServer } from "node:net";
import { EmbeddedPostgresError, systemCode } from "../errors.js";

const HOST = "127.0.0.1";

/** The fixed port if there is one, else the preferred one if it is free, else any free one. */
export async function choosePort(fixed: number | undefined, preferred: number | undefined): Promise<number> {
  if (fixed !== undefined) {
    if (await bind(fixed)) return fixed;
    throw portInUse(fixed);
  }
  return (preferred && (await bind(preferred))) || (await anyPort());
}

export async function isPortFree(port: number): Promise<boolean> {
  return (await bind(port)) !== undefined;
}

export function portInUse(port: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "embedded_port_in_use",
    `Another program has port ${port} on ${HOST}. Name another port, or none to get a free one.`,
  );
}

async function anyPort(): Promise<number> {
  const port = await bind(0);
  if (port !== undefined) return port;
  throw new EmbeddedPostgresError("embedded_port_in_use", `No port is free on ${HOST}.`);
}

/** Binds the port for a moment; undefined if another process has it. */
async function bind(port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen({ host: HOST, port, exclusive: true });
    await once(server, "listening");
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : undefined;
  } catch (error) {
    const code = systemCode(error);
    if (code === "EADDRINUSE" || code === "EACCES" || code === "ERR_SOCKET_BAD_PORT") return undefined;
    throw error;
  } finally {
    server.close();
  }
}
