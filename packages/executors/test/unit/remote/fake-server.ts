import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  /** The value if it is JSON, else the text. */
  readonly body: unknown;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Holds ca.pem, cert.pem and key.pem of a client. */
export const certificates = fileURLToPath(new URL("certificates", import.meta.url));

/** A local server in the place of another system: records each request and answers it by a function. */
export class FakeServer {
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #scheme: string;

  /** `isMutual`: with TLS, for clients with a certificate of the test CA. */
  constructor(answer: (request: Received) => Reply, { isMutual = false }: { readonly isMutual?: boolean } = {}) {
    const listener = (request: IncomingMessage, response: ServerResponse) =>
      void this.#serve(request, response, answer);
    this.#scheme = isMutual ? "https" : "http";
    this.#server = isMutual ? createSecureServer(mutualTls(), listener) : createServer(listener);
  }

  async listen(where: number | string = 0): Promise<this> {
    await new Promise<void>((resolve) => {
      if (typeof where === "string") this.#server.listen(where, resolve);
      else this.#server.listen(where, "127.0.0.1", resolve);
    });
    return this;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Method and path of every request. */
  get calls(): string[] {
    return this.received.map(({ method, path }) => `${method} ${path}`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    answer: (request: Received) => Reply,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { pathname: path, searchParams: query } = new URL(request.url ?? "/", "http://fake");
    const body = bodyOf(Buffer.concat(chunks).toString("utf8"));
    const received = { method: request.method ?? "", path, query, headers: request.headers, body };
    this.received.push(received);
    const { status, headers, body: reply } = answer(received);
    const sent = Buffer.isBuffer(reply) || typeof reply === "string" ? reply : JSON.stringify(reply ?? {});
    response.writeHead(status, headers).end(status === 204 ? undefined : sent);
  }
}

function mutualTls(): Readonly<Record<string, unknown>> {
  const read = (name: string): string => readFileSync(`${certificates}/${name}`, "utf8");
  const identity = { cert: read("server-cert.pem"), key: read("server-key.pem") };
  return { ...identity, ca: read("ca.pem"), requestCert: true, rejectUnauthorized: true };
}

function bodyOf(text: string): unknown {
  try {
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}
