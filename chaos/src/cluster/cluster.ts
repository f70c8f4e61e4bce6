import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { ReplicatedPostgres, TcpProxy } from "@carillon/testkit";
import { NodeClock } from "./node-clock.js";
import { NodeProcess } from "./node-process.js";
import { WireFilter } from "./wire-filter.js";

export interface ClusterOptions {
  readonly folder: string;
  readonly nodes: number;
  readonly leaseMs: number;
  readonly workerTimeoutMs: number;
  readonly preload: string | null;
  /** Path of libfaketime; null if no fault moves a clock. */
  readonly faketime: string | null;
  /** Whether a standby follows PostgreSQL, for a failover. */
  readonly hasStandby: boolean;
}

/** Few enough for one fault to take all connections in a moment. */
const settings = { max_connections: "60" };

/** How long an answer that a node gave before the failover may still be on its way to the caller. */
const answerMs = 1_000;

/** A node with its own proxy to the database, so that a fault can disturb one node alone. */
export interface Member {
  readonly node: NodeProcess;
  /** To the server that takes writes. */
  proxy: TcpProxy;
  /** To the standby. */
  readonly toStandby: TcpProxy | null;
  readonly wire: WireFilter;
  readonly clock: NodeClock | null;
}

/** PostgreSQL and several nodes, all real processes. */
export class Cluster {
  readonly members: readonly Member[];
  readonly #replicated: ReplicatedPostgres | null;
  #postgres: EmbeddedPostgres;
  #dataDir: string;
  #losesAnswers = false;

  static async start(options: ClusterOptions): Promise<Cluster> {
    const { folder, hasStandby } = options;
    const replicated = hasStandby ? await ReplicatedPostgres.start({ parent: folder, settings }) : null;
    const dataDir = replicated?.primary.dataDir ?? join(folder, "postgres");
    const postgres = replicated?.primary.server ?? (await startEmbeddedPostgres({ dataDir, settings }));
    const members: Member[] = [];
    for (let index = 0; index < options.nodes; index++)
      members.push(await makeMember(options, { url: postgres.url, replicated, index }));
    const cluster = new Cluster({ postgres, dataDir, replicated, members });
    try {
      for (const { node } of members) await node.start();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  private constructor(parts: {
    postgres: EmbeddedPostgres;
    dataDir: string;
    replicated: ReplicatedPostgres | null;
    members: readonly Member[];
  }) {
    this.#postgres = parts.postgres;
    this.#dataDir = parts.dataDir;
    this.#replicated = parts.replicated;
    this.members = parts.members;
  }

  /** Answers that nodes give now may be about writes that a failover loses: for a caller they are unknown. */
  get losesAnswers(): boolean {
    return this.#losesAnswers;
  }

  /** Leaves the standby behind for the time, kills PostgreSQL and promotes the standby. Everything that was answered before is on it. */
  async failOver(lagMs: number): Promise<void> {
    const replicated = this.#replicated;
    if (replicated === null) throw new Error("There is no standby.");
    this.#losesAnswers = true;
    await replicated.untilCaughtUp();
    await replicated.cutReplication();
    await sleep(lagMs);
    await this.killDatabase();
    await replicated.promote();
    this.#postgres = replicated.standby.server;
    this.#dataDir = replicated.standby.dataDir;
    for (const member of this.members) member.proxy = member.toStandby ?? member.proxy;
    await sleep(answerMs);
    this.#losesAnswers = false;
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
    this.#postgres = await startEmbeddedPostgres({ dataDir: this.#dataDir, port, settings });
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
      this.members.map(async ({ node, proxy, toStandby }) => {
        node.thaw();
        await node.end("SIGKILL");
        await proxy.close();
        await toStandby?.close();
      }),
    );
    await this.#replicated?.stop();
    await this.#postgres.stop("immediate");
  }
}

interface MemberParts {
  readonly url: string;
  readonly replicated: ReplicatedPostgres | null;
  readonly index: number;
}

async function makeMember(options: ClusterOptions, { url, replicated, index }: MemberParts): Promise<Member> {
  const { folder, leaseMs, workerTimeoutMs, preload, faketime } = options;
  const name = `node-${index}`;
  const wire = new WireFilter();
  const proxy = await TcpProxy.start(url, { filter: wire.filter });
  const standby = replicated?.standby.server.url ?? null;
  const toStandby = standby === null ? null : await TcpProxy.start(standby, { filter: wire.filter });
  const through = proxy.through(url);
  const clock = faketime === null ? null : new NodeClock(faketime, join(folder, `${name}.clock`));
  const node = new NodeProcess({
    name,
    port: await freePort(),
    databaseUrl:
      replicated === null || toStandby === null || standby === null
        ? through
        : replicated.urlOf(through, toStandby.through(standby)),
    leaseMs,
    workerTimeoutMs,
    logPath: join(folder, `${name}.log`),
    preload,
    env: clock?.env ?? {},
  });
  return { node, proxy, toStandby, wire, clock };
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
