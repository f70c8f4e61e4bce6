import { CarillonError, type DurationMs } from "@carillon/core";
import { Client, type ClientConfig, DatabaseError } from "pg";
import { Connection, type StatementNames, greet, makeSettings } from "./connection.js";
import { ConnectionLost } from "./errors.js";
import { type ConnectionRole, type ResolvedOptions, type Timeouts, hostLabel, hostUrls } from "./options.js";

/** The wait for a response after the server's own timeout, before the connection counts as lost. */
const graceMs = 2_000;

/** Opens connections for a role; the caller owns them. */
export interface ConnectionSource {
  open(role: ConnectionRole): Promise<Connection>;
}

/** Opens connections to the host of the URL that takes writes, and remembers it. */
export class Connector implements ConnectionSource {
  readonly #urls: readonly string[];
  readonly #options: ResolvedOptions;
  readonly #names: StatementNames;
  readonly #clients = new Set<Client>();
  #current = 0;
  #closed = false;

  constructor(url: string, options: ResolvedOptions, names: StatementNames) {
    this.#urls = hostUrls(url);
    this.#options = options;
    this.#names = names;
  }

  /** Tries the hosts in turn, starting with the last one that worked. */
  async open(role: ConnectionRole): Promise<Connection> {
    const errors: unknown[] = [];
    for (let tried = 0; tried < this.#urls.length; tried++) {
      const index = (this.#current + tried) % this.#urls.length;
      try {
        const connection = await this.#openAt(this.#urls[index] ?? "", role);
        this.#current = index;
        this.#options.onEvent({ type: "connection.opened", role, host: this.#host });
        return connection;
      } catch (error) {
        errors.push(error);
      }
    }
    throw noHostServes(errors);
  }

  /** For a client of the last host that worked. */
  clientConfig(url: string = this.#urls[this.#current] ?? ""): ClientConfig {
    return {
      connectionString: url,
      application_name: this.#options.applicationName,
      connectionTimeoutMillis: this.#options.timeouts.connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      pipeline: true,
    };
  }

  /** Checks the server behind a connected client and makes the settings of the session. */
  async adopt(client: Client, role: ConnectionRole): Promise<Connection> {
    const { timeouts, timers } = this.#options;
    const statementMs = statementLimit(role, timeouts);
    const connection = new Connection(client, {
      timers,
      names: this.#names,
      answerMs: statementMs === 0 ? 0 : statementMs + graceMs,
      dismiss: () => client.end(),
    });
    const facts = await greet(connection);
    if (facts.direct)
      await makeSettings(connection, {
        statementMs,
        idleInTransactionMs: timeouts.idleInTransactionMs,
        scans: role === "dedicated",
      });
    return connection;
  }

  /** Records a client from before it connects until it has ended. */
  track(client: Client): void {
    if (this.#closed) throw new ConnectionLost("the database is closed");
    this.#clients.add(client);
    client.on("error", () => undefined);
    client.once("end", () => this.#clients.delete(client));
  }

  /** For a close that takes too long: ends every connection that is open or being opened, and opens no more. */
  destroyAll(): void {
    this.#closed = true;
    for (const client of this.#clients) client.connection.stream.destroy();
  }

  get #host(): string {
    return hostLabel(this.#urls[this.#current] ?? "");
  }

  async #openAt(url: string, role: ConnectionRole): Promise<Connection> {
    const client = new Client(this.clientConfig(url));
    this.track(client);
    try {
      await client.connect();
      return await this.adopt(client, role);
    } catch (error) {
      client.connection.stream.destroy();
      throw describeConnectFailure(error, hostLabel(url));
    }
  }
}

/** Dedicated connections are for work such as migrations: no fence depends on it, and its duration is unknown. */
function statementLimit(role: ConnectionRole, timeouts: Timeouts): DurationMs {
  if (role === "dedicated") return 0;
  return role === "pool" ? timeouts.statementMs : timeouts.hotStatementMs;
}

/** A failed connect counts as a lost connection, for any error that Node.js or pg throws; a refusal by the server is reported as such. */
export function describeConnectFailure(error: unknown, host: string): unknown {
  if (error instanceof CarillonError || error instanceof ConnectionLost) return error;
  if (!(error instanceof DatabaseError)) {
    return new ConnectionLost(`cannot connect to ${host}: ${reasonOf(error)}${networkHint(error)}`, { cause: error });
  }
  const hint = refusalHint(error.code ?? "");
  if (hint === null) return error;
  const refused = `The database at ${host} refused the connection: ${error.message}`;
  return new CarillonError("database_refused", `${refused}${hint}`, { cause: error });
}

/** A name with several addresses fails with one error for each, and has no message itself. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map((one: unknown) => reasonOf(one)).join(", ");
  return error instanceof Error ? error.message : String(error);
}

const networkHints: ReadonlyMap<unknown, string> = new Map([
  ["ECONNREFUSED", "; no server listens there: is PostgreSQL running, and is this its port?"],
  ["ENOTFOUND", "; there is no host of this name"],
  ["EAI_AGAIN", "; the name of the host could not be looked up"],
  ["ENOENT", "; there is no such socket: is PostgreSQL running?"],
]);

function networkHint(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : null;
  return networkHints.get(code) ?? "";
}

/** null: the error of the server is no refusal. */
function refusalHint(sqlState: string): string | null {
  if (sqlState === "3D000") return "; create it, or name another in the database URL";
  if (sqlState === "28P01") return "; check user and password in the database URL";
  if (sqlState.startsWith("28")) return "; check the user in the database URL, and pg_hba.conf of the server";
  return sqlState === "42501" ? "; the user may not connect to it" : null;
}

/** The error of a single host is thrown as it is; for several hosts, one error with all reasons. */
function noHostServes(errors: readonly unknown[]): unknown {
  if (errors.length < 2) return errors[0];
  const reasons = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  return new ConnectionLost(`no host of the database URL takes writes: ${reasons.join("; ")}`, { cause: errors[0] });
}
