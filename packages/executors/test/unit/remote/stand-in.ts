import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
  readonly text: string;
}

export interface Said {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A local server in the place of the real one: answers by what is asked, and remembers it. */
export class StandIn {
  readonly asked: Asked[] = [];
  readonly #server: Server;

  constructor(answer: (asked: Asked) => Said) {
    this.#server = createServer((request, response) => void this.#take(request, response, answer));
  }

  async listen(where: number | string = 0): Promise<this> {
    await new Promise<void>((resolve) => {
      if (typeof where === "string") this.#server.listen(where, resolve);
      else this.#server.listen(where, "127.0.0.1", resolve);
    });
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Method and path of all that was asked. */
  get calls(): string[] {
    return this.asked.map(({ method, path }) => `${method} ${path}`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse, answer: (asked: Asked) => Said): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    const { pathname: path, searchParams: query } = new URL(request.url ?? "/", "http://stand-in");
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    const asked = { method: request.method ?? "", path, query, headers: request.headers, body, text };
    this.asked.push(asked);
    const said = answer(asked);
    const sent =
      Buffer.isBuffer(said.body) || typeof said.body === "string" ? said.body : JSON.stringify(said.body ?? {});
    response.writeHead(said.status, said.headers).end(said.status === 204 ? undefined : sent);
  }
}
