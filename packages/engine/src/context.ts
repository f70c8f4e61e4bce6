import { CarillonError, type Clock, type Instant, type Timers } from "@carillon/core";
import { createStore, type Database, type Random, type Store } from "@carillon/store";
import { EngineEvents, type OnEngineEvent } from "./events.js";
import { type LoopName, Loops } from "./loops/loops.js";
import { defaultLimits, type EngineLimits, type EngineOptions } from "./options.js";
import { Wakeups } from "./wakeups/wakeups.js";

/** The number of slices that jobs and runs are divided into; fixed when the schema is made. */
const shardCount = 1_024;

const noMembership: Membership = { nodeId: "", epochs: new Map(), shards: [] };

/** What every component of a node is given: options, the store, the clock, events, loops and wakeups. Holds no rule of its own. */
export class EngineContext {
  readonly options: EngineOptions;
  readonly limits: EngineLimits;
  readonly db: Database;
  readonly store: Store;
  /** The host's clock; `now` is the database's. */
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly newId: () => string;
  readonly shardCount = shardCount;
  readonly events: EngineEvents;
  readonly loops: Loops;
  readonly wakeups: Wakeups;
  #membership: () => Membership = () => noMembership;

  constructor(options: EngineOptions) {
    this.options = options;
    this.limits = { ...defaultLimits, ...options.limits };
    this.db = options.database;
    this.store = createStore(options.database);
    this.clock = options.clock;
    this.timers = options.timers;
    this.random = options.random;
    this.newId = options.newId;
    this.events = new EngineEvents(options.onEvent);
    this.loops = new Loops({ timers: options.timers, onError: this.loopFailed });
    this.wakeups = new Wakeups({
      database: options.database,
      timers: options.timers,
      now: this.now,
      ownsShard: (shard) => this.membership().epochs.has(shard),
      ownShards: this.ownShards,
    });
  }

  /** The database's clock, as this node estimates it. */
  readonly now = (): Instant => this.options.database.clock.now();

  readonly emit: OnEngineEvent = (event) => this.events.emit(event);

  readonly loopFailed = (loop: LoopName, error: unknown): void => this.emit({ type: "loop.failed", loop, error });

  /** Only an economy: every write for a shard compares owner and epoch in its statement. */
  readonly membership = (): Membership => this.#membership();

  readonly ownShards = (): readonly number[] => this.membership().shards;

  /** The coordinator says which shards the node owns. */
  followMembership(membership: () => Membership): void {
    this.#membership = membership;
  }

  /** Throws not_found for a namespace that does not exist. */
  readonly namespaceId = async (name: string): Promise<number> => {
    const id = await this.store.namespaces.find(name);
    if (id === null) throw new CarillonError("not_found", `There is no namespace ${JSON.stringify(name)}.`);
    return id;
  };

  /** Calls `work` with the id of a namespace. Throws not_found. */
  readonly inNamespace: InNamespace = async (name, work) => work(await this.namespaceId(name));
}

export type InNamespace = <Result>(name: string, work: (id: number) => Promise<Result>) => Promise<Result>;

export interface Membership {
  /** This incarnation of the node: new at every start, so that an old one cannot be mistaken for it. */
  readonly nodeId: string;
  /** The shards this node owns, each with the epoch under which it does. */
  readonly epochs: ReadonlyMap<number, number>;
  /** The same shards; the same array for as long as none is gained or lost. */
  readonly shards: readonly number[];
}
