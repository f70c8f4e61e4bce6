import type { Clock, DurationMs } from "@carillon/core";
import type {
  Database,
  HeldShard,
  Listening,
  NodeLockStatements,
  NodeReport,
  NodeRow,
  NodeStore,
  ShardRow,
  ShardStore,
} from "@carillon/store";
import { supportedLevel } from "../cluster-level.js";
import type { OnEngineEvent } from "../../events.js";
import { ClusterMember, type MemberOptions } from "../cluster-member.js";
import { DatabaseTimeline } from "../detection/database-timeline.js";
import { HeartbeatHistory, HeartbeatMonitor } from "../detection/heartbeat-monitor.js";
import { SessionLockMonitor } from "../detection/session-lock-monitor.js";
import { type Member, MemberChanges, type Registry, type ShardView } from "../registry.js";
import { type Coordinator, ShardTable } from "../shards.js";

/** A lock that is held for as long as the session of an incarnation's process lasts. */
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
  /** null: there is no lasting session, and heartbeats alone decide which nodes are dead. */
  readonly lock: IncarnationLock | null;
  /** No other node can be alive: an embedded database has one owner, known by its data folder. Saves the lease time after a crash. */
  readonly alone: boolean;
  /** Requests a pass now. */
  readonly wake: () => void;
  readonly onHistoryLost: () => void;
  readonly onEvent: OnEngineEvent;
}

/** Membership and ownership as rows: one heartbeat row per node, a shard row changes only when it moves. */
export class RowRegistry implements Registry {
  readonly #options: RowRegistryOptions;
  readonly #heartbeats: HeartbeatMonitor;
  readonly #locks = new SessionLockMonitor();
  readonly #history: HeartbeatHistory;
  readonly #changes: MemberChanges;
  readonly #timeline: DatabaseTimeline;
  readonly #table: ShardTable;
  /** The rows that were last read, and their views. */
  #seen: { readonly rows: readonly ShardRow[]; readonly views: readonly ShardView[] } | null = null;

  constructor(options: RowRegistryOptions) {
    const { leaseMs, shards, onEvent } = options;
    this.#options = options;
    this.#heartbeats = new HeartbeatMonitor({ limitMs: leaseMs, maxGapMs: leaseMs / 2 });
    this.#history = new HeartbeatHistory(10 * leaseMs);
    this.#changes = new MemberChanges(onEvent);
    this.#timeline = new DatabaseTimeline(shards, onEvent);
    this.#table = new ShardTable(shards);
  }

  get nextCheckMs(): DurationMs | null {
    return this.#locks.nextCheckMs(this.#options.clock.monotonic());
  }

  lastHeartbeatAt(nodeId: string): DurationMs | undefined {
    return this.#history.lastChangeAt(nodeId);
  }

  forget(): void {
    this.#heartbeats.forget();
    this.#locks.forget();
  }

  async announce(nodeId: string, report: NodeReport): Promise<void> {
    const { nodes, node, lock, alone } = this.#options;
    await this.#isHistoryLost();
    await nodes.register({ id: nodeId, ...node, level: supportedLevel });
    await nodes.heartbeat(nodeId, report);
    await lock?.hold(nodeId, () => this.#loseLock());
    if (!alone) return;
    for (const other of await nodes.list()) if (other.id !== nodeId) await nodes.remove(other.id, null);
  }

  /** The heartbeat is sent first: it has a connection of its own and must not wait for statements that have none. */
  async renew(nodeId: string, report: NodeReport): Promise<boolean> {
    if (!(await this.#options.nodes.heartbeat(nodeId, report))) return false;
    return !(await this.#isHistoryLost());
  }

  async members(nodeId: string): Promise<Member[]> {
    const { nodes, clock } = this.#options;
    const asked = clock.monotonic();
    const rows = await nodes.list();
    const answered = clock.monotonic();
    this.#history.record(rows, answered);
    const others = rows.filter((row) => row.id !== nodeId);
    const freed = this.#locks.observe(nodeId, rows, { asked, answered });
    const stale = new Set(this.#heartbeats.observe(others, answered, asked).map((row) => row.id));
    const dead = await this.#removeDead(
      others.filter((row) => freed.has(row.id) || stale.has(row.id)),
      freed,
    );
    const living = rows.filter((row) => !dead.has(row.id));
    this.#changes.update(living, nodeId);
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

  /** Releases the lock last, so that no node takes a clean stop for a death. */
  async leave(nodeId: string): Promise<void> {
    const { shards, nodes, lock } = this.#options;
    try {
      await shards.release(nodeId);
      await nodes.remove(nodeId, null);
    } finally {
      await lock?.release();
    }
  }

  async #isHistoryLost(): Promise<boolean> {
    const isLost = await this.#timeline.check();
    if (isLost) this.#options.onHistoryLost();
    return isLost;
  }

  /**
   * To other nodes this one seems dead until its lock is held again or its next heartbeat is stored, so it requests a pass now; and the
   * fault that freed its own lock may have freed theirs.
   */
  #loseLock(): void {
    this.#locks.forget();
    this.#options.wake();
  }

  async #removeDead(rows: readonly NodeRow[], freed: ReadonlySet<string>): Promise<Set<string>> {
    const { nodes, onEvent } = this.#options;
    const removed = new Set<string>();
    for (const { id, name, heartbeat } of rows) {
      if (!(await nodes.remove(id, heartbeat))) continue;
      removed.add(id);
      this.#changes.forget(id);
      const detection = freed.has(id) ? "session_lock_freed" : "heartbeat_timeout";
      onEvent({ type: "node.lost", nodeId: id, name, detection });
    }
    return removed;
  }
}

/** The lock of an incarnation on the direct connection; taken again on each new connection. */
export class SessionLock implements IncarnationLock {
  readonly #database: Pick<Database, "hold">;
  readonly #statements: NodeLockStatements;
  #holding: Listening | null = null;

  constructor(database: Pick<Database, "hold">, statements: NodeLockStatements) {
    this.#database = database;
    this.#statements = statements;
  }

  async hold(nodeId: string, onLost: () => void): Promise<void> {
    await this.release();
    const { lock, unlock } = this.#statements;
    this.#holding = this.#database.hold({
      setUp: async (session) => void (await session.query(lock, [nodeId])),
      takeDown: async (session) => void (await session?.query(unlock, [nodeId])),
      onHeld: () => undefined,
      onLost,
    });
  }

  async release(): Promise<void> {
    const holding = this.#holding;
    this.#holding = null;
    await holding?.stop();
  }
}

/** Membership and ownership in the same PostgreSQL that holds the work. */
export function postgresCoordinator(options: MemberOptions & RowRegistryOptions): Coordinator {
  return new ClusterMember(options, new RowRegistry(options));
}
