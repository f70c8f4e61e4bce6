import type { DurationMs } from "@carillon/core";
import { loadStatements, nodeLockStatements, type NodeView, type ShardView } from "@carillon/store";
import type { EngineContext } from "../context.js";
import { ClusterLevel, supportedLevel } from "./cluster-level.js";
import { EtcdClient } from "./etcd/etcd-client.js";
import { etcdCoordinator } from "./etcd/etcd-registry.js";
import { postgresCoordinator, SessionLock } from "./postgres/row-registry.js";
import type { Coordinator, ShardChange } from "./shards.js";

/** This node's membership in the cluster: paces the coordinator and publishes the shards that the node gained and lost. */
export class ClusterMembership {
  readonly #context: EngineContext;
  readonly #coordinator: Coordinator;
  readonly #level: ClusterLevel;
  #leaseAt: DurationMs | null = null;

  constructor(context: EngineContext) {
    this.#context = context;
    this.#coordinator = createCoordinator(context);
    this.#level = new ClusterLevel(context.store.nodes);
    const { loops, wakeups } = context;
    context.followMembership(() => this.#coordinator.membership);
    loops.register("coordinator", async () => {
      await this.#keepLease(() => this.#coordinator.tick());
      return this.#coordinator.idleMs;
    });
    wakeups.on("shards.moved", () => loops.wake("coordinator"));
  }

  /** Since the node last renewed its lease; null: it has none. */
  get leaseAgeMs(): DurationMs | null {
    return this.#leaseAt === null ? null : this.#context.clock.monotonic() - this.#leaseAt;
  }

  /** Whether every node of the cluster supports a feature. */
  get hasFeature(): ClusterLevel["has"] {
    return this.#level.has;
  }

  async join(): Promise<void> {
    await this.#keepLease(() => this.#coordinator.join());
    this.#context.wakeups.announce("shards.moved");
  }

  /** Ends the loops that write for shards, then releases the shards: other nodes fire while this one ends its other work. */
  async leave(): Promise<void> {
    const { loops, wakeups } = this.#context;
    await loops.stop(["coordinator", "scheduler", "far_future"]);
    try {
      await this.#coordinator.leave();
      wakeups.announce("shards.moved");
    } catch (error) {
      // Without a database no node can take them: the lease ends by itself.
      this.#context.loopFailed("coordinator", error);
    }
  }

  /** The lease counts from before it was requested. */
  async #keepLease(request: () => Promise<ShardChange>): Promise<void> {
    const { clock, emit, wakeups } = this.#context;
    const requestedAt = clock.monotonic();
    const { gained, lost } = await request();
    if (gained.length + lost.length > 0) wakeups.publish("shards.owned", { gained, lost });
    if (lost.length > 0) {
      wakeups.announce("shards.moved");
      emit({ type: "shards.lost", count: lost.length });
    }
    if (gained.length > 0) emit({ type: "shards.acquired", count: gained.length });
    this.#leaseAt = requestedAt;
    await this.#level.refresh();
  }
}

/** Membership in etcd if it is configured, otherwise in PostgreSQL. */
function createCoordinator(context: EngineContext): Coordinator {
  const { store, db, clock, newId, timers, loops, emit } = context;
  const { node, alone, etcd } = context.options;
  const { leaseMs, skewToleranceMs } = context.limits;
  const { nodes, shards } = store;
  const skew = () => ({ skewMs: db.clock.skewMs, uncertaintyMs: db.clock.uncertaintyMs });
  const onHistoryLost = () => db.history.leave(null);
  const member = { clock, newId, node, leaseMs, skew, skewToleranceMs, onHistoryLost, onEvent: emit };
  if (etcd !== undefined) {
    const client = new EtcdClient({ endpoints: etcd.endpoints, fetch, timers, timeoutMs: leaseMs / 2 });
    return etcdCoordinator({ ...member, etcd: client, prefix: etcd.prefix, nodes, shards });
  }
  const lock = db.capabilities.advisoryLocks
    ? new SessionLock(db, nodeLockStatements(loadStatements(db.schema)))
    : null;
  return postgresCoordinator({ ...member, nodes, shards, lock, alone, wake: () => loops.wake("coordinator") });
}

export interface ClusterView {
  /** The feature level in use, and the one that this version supports. */
  readonly level: { readonly inUse: number; readonly ofThisVersion: number };
  readonly nodes: readonly NodeView[];
  readonly shards: readonly ShardView[];
}

/** The nodes and shards of the cluster, as their rows show them. */
export class ClusterStatus {
  readonly #store: EngineContext["store"];

  constructor({ store }: Pick<EngineContext, "store">) {
    this.#store = store;
  }

  async get(): Promise<ClusterView> {
    const { catalogue, nodes } = this.#store;
    const { inUse } = await nodes.level();
    return {
      level: { inUse, ofThisVersion: supportedLevel },
      nodes: await catalogue.nodes(),
      shards: await catalogue.shards(),
    };
  }
}
