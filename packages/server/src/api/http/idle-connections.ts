import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The time in which a connection that is opened during the close must send its request. */
const firstRequestMs = 1_000;

/**
 * Tracks the connections that carry a request. A server that closes would wait for connections that never carried one (browsers
 * open some in advance) as if they were busy. This class ends them, and the others as they become idle.
 */
export class IdleConnections {
  readonly #requests = new Map<Socket, number>();
  #isClosing = false;

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#requests.set(socket, 0);
      socket.once("close", () => this.#requests.delete(socket));
      if (this.#isClosing) socket.setTimeout(firstRequestMs, () => this.#endIdle(socket));
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#count(socket, 1);
      response.once("close", () => this.#count(socket, -1));
    });
  }

  /** From now on no connection outlasts its requests. */
  end(): void {
    this.#isClosing = true;
    for (const socket of this.#requests.keys()) this.#endIdle(socket);
  }

  #endIdle(socket: Socket): void {
    if (this.#requests.get(socket) === 0) socket.destroy();
  }

  #count(socket: Socket, change: 1 | -1): void {
    const requests = this.#requests.get(socket);
    if (requests === undefined) return;
    this.#requests.set(socket, requests + change);
    // The response may still be in the socket's buffer: end() sends it before it closes.
    if (this.#isClosing && requests + change === 0) socket.end();
  }
}
