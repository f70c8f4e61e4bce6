import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { TcpProxy } from "@carillon/testkit";
import { NodeClock } from "./node-clock.js";
import { NodeProcess } from "./node-process.js";
import { WireFilter } from "./wire-filter.js";

export interface ClusterOptions {
  /** The root folder of the checkout that the nodes run at first. */
  readonly root: string;
  readonly folder: string;
  readonly nodes: number;
  readonly leaseMs: number;
  readonly workerTimeoutMs: number;
  readonly preload: string | null;
  /** Path of libfaketime; null if no fault moves a clock. */
  readonly faketime: string | null;
}

/** Few enough for one fault to take all connections in a moment. */
const settings = { max_connections: "60" };

/** A node with its own proxy to the database, so that a fault can disturb one node alone. */
export interface Member {
  readonly node: NodeProcess;
  readonly proxy: TcpProxy;
  readonly wire: WireFilter;
  readonly clock: NodeClock | null;
}

/** PostgreSQL and several nodes, all real processes. */
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

  /** The address of PostgreSQL without any proxy. */
  get databaseUrl(): string {
    return this.#postgres.url;
  }

  member(index: number): Member {
    const member = this.members[index];
    if (member === undefined) throw new Error(`There is no node ${index}.`);
    return member;
  }

  /** Simulates a power cut: no checkpoint, all sessions dropped. */
  async stopDatabase(): Promise<void> {
    await this.#postgres.stop("immediate");
  }

  /** Kills the postmaster with SIGKILL. Its child processes end when they notice that. */
  async killDatabase(): Promise<void> {
    process.kill(this.#postgres.pid, "SIGKILL");
    await this.#postgres.exited;
    await this.stopDatabase();
  }

  async startDatabase(): Promise<void> {
    const { port } = this.#postgres;
    this.#postgres = await startEmbeddedPostgres({ dataDir: join(this.#options.folder, "postgres"), port, settings });
  }

  /** How often nodes exited although the harness did not stop them. */
  get unexpectedExits(): number {
    return this.members.reduce((sum, { node }) => sum + node.unexpectedExits, 0);
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
  const { root, folder, leaseMs, workerTimeoutMs, preload, faketime } = options;
  const name = `node-${index}`;
  const wire = new WireFilter();
  const proxy = await TcpProxy.start(url, { filter: wire.filter });
  const clock = faketime === null ? null : new NodeClock(faketime, join(folder, `${name}.clock`));
  const node = new NodeProcess({
    root,
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

/** A port of this machine that is free at the moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("The free port has no address.");
  return address.port;
}
