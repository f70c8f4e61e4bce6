import { execFile } from "node:child_process";
import { chown, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { Client } from "pg";
import { TcpProxy } from "../proxy/tcp-proxy.js";

const run = promisify(execFile);

export interface ReplicatedPostgresOptions {
  /** A folder that every user can pass through; gets the two data folders. */
  readonly parent: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** The data folder of a stopped embedded database to copy; otherwise a new one is made. */
  readonly template?: string;
}

/** One of the two servers, and its data folder. */
export interface ServerOfPair {
  readonly server: EmbeddedPostgres;
  readonly dataDir: string;
}

/** The standby may be cut off for as long as a test or a trial lasts: the primary keeps the log that it has not sent. */
const primarySettings = { wal_keep_size: "2GB" };

/**
 * A primary and a standby that follows it asynchronously, made of the embedded PostgreSQL alone: the standby is a copy of the stopped
 * primary. The log flows through a proxy, so that the standby can be left behind.
 */
export class ReplicatedPostgres {
  readonly #options: ReplicatedPostgresOptions;
  readonly #replication: TcpProxy;
  #primary: EmbeddedPostgres;
  #standby: EmbeddedPostgres;

  static async start(options: ReplicatedPostgresOptions): Promise<ReplicatedPostgres> {
    const [primaryDir, standbyDir] = [join(options.parent, "primary"), join(options.parent, "standby")];
    const settings = { ...options.settings, ...primarySettings };
    // A standby must not have fewer connections than the primary had when it was copied.
    if (options.template === undefined) await (await startEmbeddedPostgres({ dataDir: primaryDir, settings })).stop();
    else await run("cp", ["-a", options.template, primaryDir]);
    // A copy that wants the same port would get another at random.
    await rm(join(primaryDir, "server.json"), { force: true });
    await run("cp", ["-a", primaryDir, standbyDir]);
    await beStandby(join(standbyDir, "postgres"));
    const primary = await startEmbeddedPostgres({ dataDir: primaryDir, settings });
    const replication = await TcpProxy.start(primary.url);
    const { username, password } = new URL(primary.url);
    const conninfo = `host=127.0.0.1 port=${replication.port} user=${username} password=${password}`;
    const following = { ...settings, primary_conninfo: conninfo, wal_retrieve_retry_interval: "200ms" };
    const standby = await startEmbeddedPostgres({ dataDir: standbyDir, settings: following }).catch(
      async (error: unknown) => {
        await Promise.all([replication.close(), primary.stop("immediate")]);
        throw error;
      },
    );
    return new ReplicatedPostgres(options, { primary, standby, replication });
  }

  private constructor(
    options: ReplicatedPostgresOptions,
    parts: { primary: EmbeddedPostgres; standby: EmbeddedPostgres; replication: TcpProxy },
  ) {
    this.#options = options;
    this.#primary = parts.primary;
    this.#standby = parts.standby;
    this.#replication = parts.replication;
  }

  get primary(): ServerOfPair {
    return { server: this.#primary, dataDir: join(this.#options.parent, "primary") };
  }

  get standby(): ServerOfPair {
    return { server: this.#standby, dataDir: join(this.#options.parent, "standby") };
  }

  /** With both hosts. */
  get url(): string {
    return this.urlOf(this.primaryUrl, this.standbyUrl);
  }

  get primaryUrl(): string {
    return this.#primary.url;
  }

  get standbyUrl(): string {
    return this.#standby.url;
  }

  /** One URL with the hosts of these, in their order. */
  urlOf(...urls: readonly string[]): string {
    const hosts = urls.map((url) => new URL(url).host);
    return this.primaryUrl.replace(new URL(this.primaryUrl).host, hosts.join(","));
  }

  /** Resolves when the standby has replayed everything that the primary has written by now. */
  async untilCaughtUp(): Promise<void> {
    const [{ lsn } = { lsn: "" }] = await query<{ lsn: string }>(
      this.primaryUrl,
      "select pg_current_wal_flush_lsn()::text as lsn",
    );
    const text = `select coalesce(pg_last_wal_replay_lsn() >= '${lsn}'::pg_lsn, false) as done`;
    while ((await query<{ done: boolean }>(this.standbyUrl, text))[0]?.done !== true) await pause(20);
  }

  /** From now on the standby gets nothing. */
  async cutReplication(): Promise<void> {
    await this.#replication.refuse();
    this.#replication.cut();
  }

  /** As kill -9 of the whole server: its sessions end with it, and nothing more reaches its disk. */
  async killPrimary(): Promise<void> {
    await this.#primary.stop("immediate");
  }

  async promote(): Promise<void> {
    await query(this.standbyUrl, "select pg_promote()");
  }

  /** The server that was the primary starts again on its port, as one that no failover manager fences. */
  async restartOldPrimary(): Promise<void> {
    this.#primary = await this.#restart("primary", this.#primary.port);
  }

  /** The promoted standby ends. */
  async stopStandby(): Promise<void> {
    await this.#standby.stop("fast");
  }

  async restartStandby(): Promise<void> {
    this.#standby = await this.#restart("standby", this.#standby.port);
  }

  #restart(name: "primary" | "standby", port: number): Promise<EmbeddedPostgres> {
    const { parent, settings } = this.#options;
    return startEmbeddedPostgres({ dataDir: join(parent, name), port, settings: { ...settings, ...primarySettings } });
  }

  async stop(): Promise<void> {
    await this.#replication.close();
    await Promise.all([this.#primary.stop("immediate"), this.#standby.stop("immediate")]);
  }
}

/** The file belongs to the user that PostgreSQL runs as. */
async function beStandby(cluster: string): Promise<void> {
  const { uid, gid } = await stat(cluster);
  const signal = join(cluster, "standby.signal");
  await writeFile(signal, "");
  await chown(signal, uid, gid);
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
