import { EventEmitter, once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface TcpProxyOptions {
  /** Receives every chunk before it is forwarded and may replace it: to wait for a message, to cut after one, to corrupt it. */
  readonly filter?: (chunk: Buffer, from: "client" | "server") => Buffer;
}

/** A proxy between clients and a server on loopback that simulates network failures. */
export class TcpProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #filter: NonNullable<TcpProxyOptions["filter"]>;
  readonly #sockets = new Set<Socket>();
  readonly #news = new EventEmitter().setMaxListeners(0);
  #server: Server | undefined;
  #port = 0;
  #delayMs = 0;
  #isSilent = false;
  #unanswered: Buffer | null = null;
  readonly #awaiting = new Set<Socket>();

  /** Starts a proxy for the server of the URL. */
  static async start(url: string, options: TcpProxyOptions = {}): Promise<TcpProxy> {
    const proxy = new TcpProxy(url, options);
    await proxy.resume();
    return proxy;
  }

  private constructor(url: string, { filter = (chunk) => chunk }: TcpProxyOptions) {
    const { hostname, port } = new URL(url);
    this.#target = { host: hostname, port: Number(port) };
    this.#filter = filter;
  }

  get port(): number {
    return this.#port;
  }

  /** The URL of the server through this proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.hostname = "127.0.0.1";
    changed.port = String(this.#port);
    return changed.href;
  }

  /** Delays every chunk by this time, in each direction. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Resets every connection; new ones are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /**
   * Forwards the next request that contains these bytes, and resets its connection instead of the response: the server has
   * executed the request, but the client does not know.
   */
  loseAnswerTo(bytes: string): void {
    this.#unanswered = Buffer.from(bytes);
  }

  /** Whether no request has matched `loseAnswerTo` yet. */
  get isWaitingToLose(): boolean {
    return this.#unanswered !== null;
  }

  /**
   * Forwards nothing from now on, not even the end of a connection, without an error. Data that is sent meanwhile arrives after
   * `resume`, as after a partition. Resolves when the first chunk is held back.
   */
  async blackHole(): Promise<void> {
    this.#isSilent = true;
    await once(this.#news, "held");
  }

  /** Refuses new connections; existing ones stay. */
  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server?.listening) return;
    // `close` also waits for connections; the port is free immediately.
    server.close();
  }

  /** Forwards everything without delay again and accepts connections, on the same port. */
  async resume(): Promise<void> {
    this.#delayMs = 0;
    this.#isSilent = false;
    this.#unanswered = null;
    this.#news.emit("resumed");
    if (this.#server) return;
    this.#server = createServer({ allowHalfOpen: true }, (client) => void this.#join(client));
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    if (typeof address === "object" && address !== null) this.#port = address.port;
  }

  async close(): Promise<void> {
    await this.refuse();
    this.cut();
    this.#isSilent = false;
    this.#news.emit("resumed");
  }

  async #join(client: Socket): Promise<void> {
    this.#keep(client);
    await this.#pass();
    if (client.destroyed) return;
    const server = connect({ ...this.#target, allowHalfOpen: true });
    this.#keep(server);
    await Promise.all([this.#carry(client, server, "client"), this.#carry(server, client, "server")]);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.#awaiting.delete(socket);
    });
  }

  async #carry(from: Socket, to: Socket, side: "client" | "server"): Promise<void> {
    try {
      const chunks = from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      for await (const chunk of chunks) {
        await this.#pass();
        if (to.destroyed) break;
        if (side === "client") this.#watchFor(chunk, from);
        else if (this.#awaiting.has(to)) throw new Error("The response is lost.");
        if (!to.write(this.#filter(chunk, side))) await Promise.race([once(to, "drain"), once(to, "close")]);
      }
      await this.#pass();
      to.end();
    } catch {
      await this.#pass();
      to.resetAndDestroy();
    }
  }

  #watchFor(chunk: Buffer, client: Socket): void {
    if (this.#unanswered === null || !chunk.includes(this.#unanswered)) return;
    this.#unanswered = null;
    this.#awaiting.add(client);
  }

  /** Waits while the simulated network holds a packet back. */
  async #pass(): Promise<void> {
    while (this.#isSilent) {
      const resumed = once(this.#news, "resumed");
      this.#news.emit("held");
      await resumed;
    }
    if (this.#delayMs > 0) await sleep(this.#delayMs);
  }
}
