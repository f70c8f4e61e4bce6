import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Who connects while the server closes has so long to ask. */
const patienceMs = 1_000;

/**
 * Knows which connections carry a request. A server that closes waits for every connection that never carried one, such as those that
 * browsers open beforehand, as if it were at work: those, and others as they fall quiet, are ended here.
 */
export class QuietConnections {
  readonly #atWork = new Map<Socket, number>();
  #isClosing = false;

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#atWork.set(socket, 0);
      socket.once("close", () => this.#atWork.delete(socket));
      if (this.#isClosing) socket.setTimeout(patienceMs, () => this.#endQuiet(socket));
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#count(socket, 1);
      response.once("close", () => this.#count(socket, -1));
    });
  }

  /** From now on no connection outlives its requests. */
  end(): void {
    this.#isClosing = true;
    for (const socket of this.#atWork.keys()) this.#endQuiet(socket);
  }

  #endQuiet(socket: Socket): void {
    if (this.#atWork.get(socket) === 0) socket.destroy();
  }

  #count(socket: Socket, change: 1 | -1): void {
    const requests = this.#atWork.get(socket);
    if (requests === undefined) return;
    this.#atWork.set(socket, requests + change);
    // What was answered is still on its way: the other side is told first that nothing follows.
    if (this.#isClosing && requests + change === 0) socket.end();
  }
}
