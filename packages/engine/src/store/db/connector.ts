import { CarillonError } from "@carillon/core";
import { Client, DatabaseError, type ClientConfig } from "pg";
import { ConnectionLost } from "./connection-lost.js";
import { Connection } from "./connection.js";
import { hostLabel, hostUrls } from "./connection-url.js";
import type { ConnectionRole } from "./events.js";
import type { ResolvedOptions } from "./options.js";
import { greet, type ServerFacts } from "./server-facts.js";

/** How much longer than the server's own timeout we wait for an answer before the connection counts as lost. */
const graceMs = 2_000;

export interface Opened {
  readonly connection: Connection;
  readonly facts: ServerFacts;
}

/** Opens connections to whichever host of the URL takes writes, and remembers which one it was. */
export class Connector {
  readonly #urls: readonly string[];
  readonly #options: ResolvedOptions;
  #current = 0;
  #namesRefused = false;

  constructor(url: string, options: ResolvedOptions) {
    this.#urls = hostUrls(url);
    this.#options = options;
  }

  /** The host that last took a connection. */
  get host(): string {
    return hostLabel(this.currentUrl);
  }

  get currentUrl(): string {
    return this.#urls[this.#current] ?? "";
  }

  /** From now on no statement goes by name: something between us and the server lost one. */
  refuseNames(): void {
    this.#namesRefused = true;
  }

  /** A dedicated, pipelined connection. Hosts are tried in turn, the last good one first; the first error is told. */
  async open(role: ConnectionRole): Promise<Opened> {
    const errors: unknown[] = [];
    for (let tried = 0; tried < this.#urls.length; tried++) {
      const index = (this.#current + tried) % this.#urls.length;
      try {
        const opened = await this.#openAt(this.#urls[index] ?? "", role);
        this.#current = index;
        this.#options.onEvent({ type: "connection.opened", role, host: this.host });
        return opened;
      } catch (error) {
        errors.push(error);
      }
    }
    throw errors[0];
  }

  config(url: string = this.currentUrl): ClientConfig {
    return {
      connectionString: url,
      application_name: this.#options.applicationName,
      connectionTimeoutMillis: this.#options.timeouts.connectMs,
      keepAlive: true,
      pipeline: true,
    };
  }

  /** Makes a connected client ours: version and role of the server checked, session settings made. */
  async adopt(client: Client, role: ConnectionRole): Promise<Opened> {
    const { timeouts, timers } = this.#options;
    const statementMs = role === "pool" ? timeouts.statementMs : timeouts.hotStatementMs;
    let direct = true;
    const connection = new Connection(client, {
      timers,
      names: () => this.#names(direct),
      answerMs: statementMs + graceMs,
    });
    const facts = await greet(connection, { statementMs, idleInTransactionMs: timeouts.idleInTransactionMs });
    direct = facts.direct;
    return { connection, facts };
  }

  #names(direct: boolean): boolean {
    const { statementNames } = this.#options;
    return statementNames === "on" || (statementNames === "auto" && direct && !this.#namesRefused);
  }

  async #openAt(url: string, role: ConnectionRole): Promise<Opened> {
    const client = new Client(this.config(url));
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await this.adopt(client, role);
    } catch (error) {
      void client.end();
      throw describeFailure(error, url);
    }
  }
}

/** A connection that cannot be made is a lost one, whatever node or pg say of it; the server's own words stay. */
function describeFailure(error: unknown, url: string): unknown {
  if (error instanceof CarillonError || error instanceof DatabaseError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ConnectionLost(`cannot connect to ${hostLabel(url)}: ${reason}`, { cause: error });
}
