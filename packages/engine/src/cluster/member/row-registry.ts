import type { Clock, DurationMs } from "@carillon/core";
import type { OnEngineEvent } from "../../events.js";
import type { HeldShard, NodeReport, NodeRow, NodeStore, ShardRow, ShardStore } from "@carillon/store";
import { FreedLocks } from "../detection/session-lock-monitor.js";
import { LineageWatch } from "../detection/database-timeline.js";
import type { Member, Registry, ShardView } from "../registry.js";
import { Roll } from "../detection/member-changes.js";
import { ShardTable } from "../shards/shard-table.js";
import { SignsOfLife } from "../detection/heartbeat-history.js";
import { SilenceWatch } from "../detection/heartbeat-monitor.js";

/** Shows that the process of an incarnation lives for as long as its session does. */
export interface IncarnationLock {
  /** Keeps the lock until it is released; `onLost` is called when its session is lost, before it is made again. */
  hold(nodeId: string, onLost: () => void): Promise<void>;
  release(): Promise<void>;
}

export interface RowRegistryOptions {
  readonly nodes: NodeStore;
  readonly shards: ShardStore;
  readonly clock: Clock;
  readonly node: { readonly name: string; readonly address: string | null; readonly version: string };
  readonly leaseMs: DurationMs;
  /** null: there is no session that lasts, and silence alone tells who is dead. */
  readonly lock: IncarnationLock | null;
  /** No other node can be alive: an embedded database has one owner, known by its data folder. Saves the lease time after a crash. */
  readonly alone: boolean;
  /** Asks for a pass now. */
  readonly wake: () => void;
  readonly onEvent: OnEngineEvent;
}

/** Membership and ownership as rows: one heartbeat row per node, a shard row changes only when it moves. */
export class RowRegistry implements Registry {
  readonly #options: RowRegistryOptions;
  readonly #silence: SilenceWatch;
  readonly #locks = new FreedLocks();
  readonly #signs: SignsOfLife;
  readonly #roll: Roll;
  readonly #lineage: LineageWatch;
  readonly #table: ShardTable;
  /** The rows of the table that were last read, and what they look like. */
  #seen: { readonly rows: readonly ShardRow[]; readonly views: readonly ShardView[] } | null = null;

  constructor(options: RowRegistryOptions) {
    const { leaseMs, shards, onEvent } = options;
    this.#options = options;
    this.#silence = new SilenceWatch({ limitMs: leaseMs, longestGapMs: leaseMs / 2 });
    this.#signs = new SignsOfLife(10 * leaseMs);
    this.#roll = new Roll(onEvent);
    this.#lineage = new LineageWatch(shards, onEvent);
    this.#table = new ShardTable(shards);
  }

  get nextLookMs(): DurationMs | null {
    return this.#locks.nextLookMs(this.#options.clock.monotonic());
  }

  lastSignOf(nodeId: string): DurationMs | undefined {
    return this.#signs.of(nodeId);
  }

  forget(): void {
    this.#silence.forget();
    this.#locks.forget();
  }

  async announce(nodeId: string, report: NodeReport): Promise<void> {
    const { nodes, node, lock, alone } = this.#options;
    await this.#lineage.check();
    await nodes.register({ id: nodeId, ...node });
    await nodes.heartbeat(nodeId, report);
    await lock?.hold(nodeId, () => this.#loseLock());
    if (!alone) return;
    for (const other of await nodes.list()) if (other.id !== nodeId) await nodes.remove(other.id, null);
  }

  /** The heartbeat comes first: it has a connection of its own, and must not wait for what has none. */
  async renew(nodeId: string, report: NodeReport): Promise<boolean> {
    if (!(await this.#options.nodes.heartbeat(nodeId, report))) return false;
    return !(await this.#lineage.check());
  }

  async members(nodeId: string): Promise<Member[]> {
    const { nodes, clock } = this.#options;
    const asked = clock.monotonic();
    const rows = await nodes.list();
    const answered = clock.monotonic();
    this.#signs.see(
      rows.map(({ id, heartbeat }) => ({ id, sign: heartbeat })),
      answered,
    );
    const others = rows.filter((row) => row.id !== nodeId);
    const freed = this.#locks.observe(nodeId, rows, { asked, answered });
    const silent = new Set(this.#silence.observe(others, answered, asked).map((row) => row.id));
    const dead = await this.#bury(
      others.filter((row) => freed.has(row.id) || silent.has(row.id)),
      freed,
    );
    const living = rows.filter((row) => !dead.has(row.id));
    this.#roll.call(living, nodeId);
    return living;
  }

  async shards(): Promise<readonly ShardView[]> {
    const rows = await this.#table.read();
    if (this.#seen?.rows !== rows) {
      this.#seen = { rows, views: rows.map((row) => ({ ...row, promisedTo: row.owner })) };
    }
    return this.#seen.views;
  }

  take(nodeId: string, seen: readonly HeldShard[]): Promise<HeldShard[]> {
    return this.#options.shards.take(nodeId, seen);
  }

  async drop(nodeId: string, shards: readonly number[]): Promise<void> {
    await this.#options.shards.drop(nodeId, shards);
  }

  /** The lock goes last: nobody must take a clean end for a death. */
  async leave(nodeId: string): Promise<void> {
    const { shards, nodes, lock } = this.#options;
    await shards.release(nodeId);
    await nodes.remove(nodeId, null);
    await lock?.release();
  }

  /**
   * To the others this node looks dead until its lock or its next heartbeat is there, so it hurries; and what took its own
   * lock may have taken theirs.
   */
  #loseLock(): void {
    this.#locks.forget();
    this.#options.wake();
  }

  async #bury(rows: readonly NodeRow[], freed: ReadonlySet<string>): Promise<Set<string>> {
    const { nodes, onEvent } = this.#options;
    const buried = new Set<string>();
    for (const { id, name, heartbeat } of rows) {
      if (!(await nodes.remove(id, heartbeat))) continue;
      buried.add(id);
      this.#roll.strike(id);
      onEvent({ type: "node.dead", nodeId: id, name, by: freed.has(id) ? "freed_lock" : "silence" });
    }
    return buried;
  }
}
