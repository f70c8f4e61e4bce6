import { setTimeout as sleep } from "node:timers/promises";
import { audits } from "@carillon/engine";
import { freshDatabase } from "@carillon/testkit";
import { onTestFinished } from "vitest";
import { ClusterNode, type ClusterNodeOptions } from "./cluster-node.js";
import { Witness } from "./witness.js";

/** The number of shards by the name of a living node; null counts shards without a living owner. */
export type Shares = ReadonlyMap<string | null, number>;

export interface ShardRow {
  readonly id: number;
  readonly owner: string | null;
  readonly epoch: number;
}

const SHARDS = 1_024;
const LOOK_MS = 30;
const PATIENCE_MS = 60_000;

/** Several nodes over one database. Every read of the shards compares the epochs with the previous read. */
export class NodeCluster {
  readonly databaseUrl: string;
  readonly #witness: Witness;
  readonly #nodes = new Map<string, ClusterNode>();
  #shards: readonly ShardRow[] = [];

  /** Ends with the test. Without a URL the nodes get a database of their own. */
  static async start(names: readonly string[], options: Partial<ClusterNodeOptions> = {}): Promise<NodeCluster> {
    const cluster = new NodeCluster(options.databaseUrl ?? (await ownDatabase()));
    await Promise.all(names.map((name) => cluster.add(name, options)));
    if (names.length > 0) await cluster.untilShared(...names);
    return cluster;
  }

  private constructor(databaseUrl: string) {
    this.databaseUrl = databaseUrl;
    this.#witness = new Witness(databaseUrl);
    onTestFinished(() => this.#witness.close());
  }

  async add(name: string, options: Partial<ClusterNodeOptions> = {}): Promise<ClusterNode> {
    const node = await ClusterNode.start(name, { databaseUrl: this.databaseUrl, ...options });
    this.#nodes.set(name, node);
    onTestFinished(() => node.proxy.close());
    return node;
  }

  node(name: string): ClusterNode {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  /** Queries the database past the proxies. */
  rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#witness.rows<Row>(text, values);
  }

  /** The shards now. Throws if an epoch went back since the last call. */
  async shards(): Promise<readonly ShardRow[]> {
    const now = await this.rows<ShardRow>(
      `select s.id, n.name as owner, s.epoch::int as epoch
       from carillon.shard s left join carillon.node n on n.id = s.owner order by s.id`,
    );
    const back = this.#shards.filter((before) => (now[before.id]?.epoch ?? -1) < before.epoch);
    if (back.length > 0) throw new Error(`epochs went back: ${JSON.stringify(back.slice(0, 3))}`);
    this.#shards = now;
    return now;
  }

  async shares(): Promise<Shares> {
    const shares = new Map<string | null, number>();
    for (const { owner } of await this.shards()) shares.set(owner, (shares.get(owner) ?? 0) + 1);
    return shares;
  }

  /** Resolves when these nodes have all the shards, in even parts. */
  async untilShared(...names: readonly string[]): Promise<void> {
    const least = Math.floor(SHARDS / names.length);
    await this.until(`the shards are shared by ${names.join(", ")}`, async () => {
      const shares = await this.shares();
      const parts = names.map((name) => shares.get(name) ?? 0);
      return shares.size === names.length && parts.every((part) => part === least || part === least + 1);
    });
  }

  /** Polls until it holds. The error contains the last output of the nodes. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (const limit = AbortSignal.timeout(PATIENCE_MS); !limit.aborted; await sleep(LOOK_MS))
      if (await holds()) return;
    const shares = JSON.stringify([...(await this.shares())]);
    const logs = [...this.#nodes.values()].map(({ name, process }) => `${name}:\n${process.stderr.slice(-3_000)}`);
    throw new Error(`not in time: ${what}; shares ${shares}\n${logs.join("\n")}`);
  }

  /** What the audits of the invariants find. */
  async auditFindings(): Promise<string[]> {
    const found: string[] = [];
    for (const { invariant, statement } of audits("carillon")) {
      for (const row of await this.rows(statement.text)) found.push(`INV-${invariant}: ${JSON.stringify(row)}`);
    }
    return found;
  }
}

async function ownDatabase(): Promise<string> {
  const database = await freshDatabase({ migrated: true });
  onTestFinished(() => database.drop());
  return database.url;
}
