import { join } from "node:path";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { TcpProxy } from "@carillon/testkit";
import { NodeClock } from "./node-clock.js";
import { freePort } from "./free-port.js";
import { NodeProcess } from "./node-process.js";
import { Wiretap } from "./wiretap.js";

export interface ClusterOptions {
  readonly folder: string;
  readonly nodes: number;
  readonly leaseMs: number;
  readonly workerTimeoutMs: number;
  readonly preload: string | null;
  /** The library that moves clocks; null when no fault needs it. */
  readonly faketime: string | null;
}

/** Few enough that a fault can take them all in a moment. */
const settings = { max_connections: "60" };

/** A node and its own way to the database, which can be disturbed without the others noticing. */
export interface Member {
  readonly node: NodeProcess;
  readonly proxy: TcpProxy;
  readonly wire: Wiretap;
  readonly clock: NodeClock | null;
}

/** PostgreSQL and several nodes over it, all real processes. */
export class Cluster {
  readonly members: readonly Member[];
  readonly #options: ClusterOptions;
  #postgres: EmbeddedPostgres;

  static async start(options: ClusterOptions): Promise<Cluster> {
    const postgres = await startEmbeddedPostgres({ dataDir: join(options.folder, "postgres"), settings });
    const members: Member[] = [];
    for (let index = 0; index < options.nodes; index++) members.push(await makeMember(options, postgres.url, index));
    const cluster = new Cluster(options, postgres, members);
    try {
      for (const { node } of members) await node.start();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  private constructor(options: ClusterOptions, postgres: EmbeddedPostgres, members: readonly Member[]) {
    this.#options = options;
    this.#postgres = postgres;
    this.members = members;
  }

  /** Straight to PostgreSQL, past every proxy. */
  get databaseUrl(): string {
    return this.#postgres.url;
  }

  member(index: number): Member {
    const member = this.members[index];
    if (member === undefined) throw new Error(`there is no node ${index}`);
    return member;
  }

  /** As a power cut would: no checkpoint, sessions dropped. */
  async stopDatabase(): Promise<void> {
    await this.#postgres.stop("immediate");
  }

  /** Kill -9 of the server itself; what it left behind ends when it notices. */
  async killDatabase(): Promise<void> {
    process.kill(this.#postgres.pid, "SIGKILL");
    await this.#postgres.exited;
    await this.stopDatabase();
  }

  async startDatabase(): Promise<void> {
    const { port } = this.#postgres;
    this.#postgres = await startEmbeddedPostgres({ dataDir: join(this.#options.folder, "postgres"), port, settings });
  }

  /** How often nodes ended without being told to. */
  get ownEnds(): number {
    return this.members.reduce((sum, { node }) => sum + node.ownEnds, 0);
  }

  count(event: string): number {
    return this.members.reduce((sum, { node }) => sum + node.count(event), 0);
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.members.map(async ({ node, proxy }) => {
        node.thaw();
        await node.end("SIGKILL");
        await proxy.close();
      }),
    );
    await this.#postgres.stop("immediate");
  }
}

async function makeMember(options: ClusterOptions, url: string, index: number): Promise<Member> {
  const { folder, leaseMs, workerTimeoutMs, preload, faketime } = options;
  const name = `node-${index}`;
  const wire = new Wiretap();
  const proxy = await TcpProxy.start(url, { filter: wire.filter });
  const clock = faketime === null ? null : new NodeClock(faketime, join(folder, `${name}.clock`));
  const node = new NodeProcess({
    name,
    port: await freePort(),
    databaseUrl: proxy.through(url),
    leaseMs,
    workerTimeoutMs,
    logPath: join(folder, `${name}.log`),
    preload,
    env: clock?.env ?? {},
  });
  return { node, proxy, wire, clock };
}
