import { CarillonError, type DurationMs } from "@carillon/core";
import { Client, type ClientConfig, DatabaseError } from "pg";
import { Connection, type StatementNames, greet, makeSettings } from "./connection.js";
import type { DatabaseHistory } from "./database-history.js";
import { ConnectionLost } from "./errors.js";
import { pause } from "./health.js";
import { type ConnectionRole, type ResolvedOptions, type Timeouts, hostLabel, hostUrls } from "./options.js";

/** The wait for a response after the server's own timeout, before the connection counts as lost. */
const graceMs = 2_000;

/** Opens connections for a role; the caller owns them. */
export interface ConnectionSource {
  open(role: ConnectionRole): Promise<Connection>;
}

/**
 * A replaced primary that runs on takes writes too, so the hosts are compared: after the first one has answered, the others have so long.
 * A slower one is compared by the next survey.
 */
const compareMs = 300;

/** Opens connections to the host of the URL that takes writes, and remembers it. Of several it uses the one with the newest history. */
export class Connector implements ConnectionSource {
  readonly #urls: readonly string[];
  readonly #options: ResolvedOptions;
  readonly #names: StatementNames;
  readonly #history: DatabaseHistory;
  readonly #clients = new Set<Client>();
  #current = 0;
  #isChosen = false;
  #closed = false;

  constructor(url: string, options: ResolvedOptions, names: StatementNames, history: DatabaseHistory) {
    this.#history = history;
    this.#urls = hostUrls(url);
    this.#options = options;
    this.#names = names;
  }

  /** Of several hosts. */
  get hasOthers(): boolean {
    return this.#urls.length > 1;
  }

  /**
   * The first connection, and each one by which the node finds the database again, compares all hosts; any other tries them in turn,
   * starting with the last one that worked.
   */
  open(role: ConnectionRole): Promise<Connection> {
    const compares = !this.#isChosen || role === "reserved" || role === "settling";
    return compares && this.hasOthers ? this.#openNewest(role) : this.#openInTurn(role);
  }

  /** Compares the hosts that are not in use: one of them may have taken the place of the one that is. */
  async survey(): Promise<void> {
    const others = this.#urls.filter((_, index) => index !== this.#current);
    await Promise.all(
      others.map(async (url) => {
        const found = await this.#openAt(url, "settling").catch(() => null);
        if (found !== null) await this.#compare(found);
      }),
    );
  }

  async #compare(connection: Connection): Promise<void> {
    this.#history.observe(connection.facts?.history ?? null);
    await connection.dismiss().catch(() => undefined);
  }

  async #openNewest(role: ConnectionRole): Promise<Connection> {
    const found: Candidate[] = [];
    const errors: unknown[] = [];
    let isDecided = false;
    const first = new AbortController();
    const all = this.#urls.map(async (url, index) => {
      try {
        const connection = await this.#openAt(url, role);
        if (isDecided) return await this.#compare(connection);
        found.push({ index, connection });
        first.abort();
      } catch (error) {
        errors.push(error);
      }
    });
    const allDone = Promise.all(all).finally(() => first.abort());
    await new Promise<void>((resolve) => first.signal.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([allDone, pause(compareMs, this.#options.timers)]);
    isDecided = true;
    const best = this.#newestOf(found);
    if (best === undefined) throw noHostServes(errors);
    const others = found.filter((one) => one !== best);
    await Promise.all(others.map(({ connection }) => connection.dismiss().catch(() => undefined)));
    return this.#use(best.connection, best.index, role);
  }

  /** Of equal ones, and of those that show no history, the host that worked last, then the next in the URL. */
  #newestOf(found: readonly Candidate[]): Candidate | undefined {
    const timelineOf = ({ connection }: Candidate): number | null => connection.facts?.history?.timeline ?? null;
    const newest = Math.max(0, ...found.map((one) => timelineOf(one) ?? 0));
    const place = ({ index }: Candidate): number => (index - this.#current + this.#urls.length) % this.#urls.length;
    return found.filter((one) => (timelineOf(one) ?? newest) === newest).sort((a, b) => place(a) - place(b))[0];
  }

  async #openInTurn(role: ConnectionRole): Promise<Connection> {
    const errors: unknown[] = [];
    for (let tried = 0; tried < this.#urls.length; tried++) {
      const index = (this.#current + tried) % this.#urls.length;
      try {
        return this.#use(await this.#openAt(this.#urls[index] ?? "", role), index, role);
      } catch (error) {
        errors.push(error);
      }
    }
    throw noHostServes(errors);
  }

  #use(connection: Connection, index: number, role: ConnectionRole): Connection {
    this.#admit(connection, role);
    this.#isChosen = true;
    this.#current = index;
    this.#options.onEvent({ type: "connection.opened", role, host: this.#host });
    return connection;
  }

  #admit(connection: Connection, role: ConnectionRole): void {
    const { host, port } = connection.client;
    try {
      this.#history.admit(connection.facts?.history ?? null, `${host}:${port}`, role === "settling");
    } catch (error) {
      connection.destroy();
      throw error;
    }
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

  /** Checks the server behind a client of the pool, and makes the settings of the session. */
  async adopt(client: Client): Promise<Connection> {
    const connection = await this.#setUp(client, "pool");
    this.#admit(connection, "pool");
    return connection;
  }

  async #setUp(client: Client, role: ConnectionRole): Promise<Connection> {
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

  /** Ends every connection that is open or being opened. */
  cut(): void {
    for (const client of this.#clients) client.connection.stream.destroy();
  }

  /** For a close that takes too long: ends every connection that is open or being opened, and opens no more. */
  destroyAll(): void {
    this.#closed = true;
    this.cut();
  }

  get #host(): string {
    return hostLabel(this.#urls[this.#current] ?? "");
  }

  async #openAt(url: string, role: ConnectionRole): Promise<Connection> {
    const client = new Client(this.clientConfig(url));
    this.track(client);
    try {
      await client.connect();
      return await this.#setUp(client, role);
    } catch (error) {
      client.connection.stream.destroy();
      throw describeConnectFailure(error, hostLabel(url));
    }
  }
}

/** A connection to one host of the URL. */
interface Candidate {
  readonly index: number;
  readonly connection: Connection;
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
