import { CarillonError, type DurationMs } from "@carillon/core";
import { loadStatements, pause, type Queryable, shardStore } from "@carillon/store";
import { DatabaseTimeline } from "./cluster/detection/database-timeline.js";
import { Engine } from "./engine.js";
import type { EngineOptions } from "./options.js";

const retryMs: DurationMs = 500;

/**
 * The engine of a process, always of the present history of its database. After a failover or a restore the rows are settled first; then
 * the engine is replaced by a new one with empty memory. The old one keeps a handle of the database that refuses all its calls, so nothing
 * that it remembers (ids, cursors, revisions, claims, queued writes) reaches the new history, and there is no list of caches to clear.
 */
export class EngineHost {
  readonly #options: EngineOptions;
  readonly #stopping = new AbortController();
  readonly #stopped: Promise<void>;
  #engine: Engine | null = null;
  #generation = -1;
  #replacing: Promise<void> | null = null;
  /** The highest high part of fences that this process has read. */
  #fences: number | null = null;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { signal } = this.#stopping;
    this.#stopped = new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }

  /** Throws database_unavailable while the engine is being replaced. */
  get engine(): Engine {
    if (this.#engine !== null) return this.#engine;
    throw new CarillonError(
      "database_unavailable",
      "The database was failed over or restored, and this node is reading it again. Repeat the call.",
    );
  }

  /** null: it is being replaced. */
  get held(): Engine | null {
    return this.#engine;
  }

  /** If the history is left meanwhile, it resolves with the engine of the next one, or while that is still being started. */
  async start(): Promise<void> {
    const { database } = this.#options;
    const { history } = database;
    const { generation } = history;
    history.settleBy(
      (session) => this.#checkTimeline(session),
      () => this.#replaceOnce(),
    );
    try {
      const engine = await this.#startEngine();
      if (generation === history.generation) this.#engine = engine;
      else await engine.abandon().catch(this.#report);
      await this.#checkTimeline(database);
    } catch (error) {
      // A replacement may be under way or done: the caller, who got no engine, could not stop it.
      await this.stop().catch(this.#report);
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#replacing;
    await this.#engine?.stop();
  }

  /** Voids the leases, sessions and claims of the lost history, unless another node has done so. */
  async #checkTimeline(session: Queryable): Promise<void> {
    const { database, onEvent = () => undefined } = this.#options;
    const shards = shardStore(session, loadStatements(database.schema));
    const timeline = new DatabaseTimeline(shards, onEvent, this.#fences);
    await timeline.check();
    this.#fences = timeline.fences;
  }

  #replaceOnce(): void {
    this.#replacing ??= this.#replace().finally(() => (this.#replacing = null));
  }

  async #replace(): Promise<void> {
    const { database, timers } = this.#options;
    while (!this.#stopping.signal.aborted && this.#generation !== database.history.generation) {
      const old = this.#engine;
      this.#engine = null;
      // Its handle is refused: what it could not end does not reach the rows.
      await old?.abandon().catch(this.#report);
      try {
        await Promise.race([database.waitUntilUp(), this.#stopped]);
        if (this.#stopping.signal.aborted) return;
        await database.clock.tick();
        this.#engine = await this.#startEngine();
      } catch (error) {
        this.#generation = -1;
        this.#report(error);
        await pause(retryMs, timers, this.#stopping.signal);
      }
    }
  }

  readonly #report = (error: unknown): void =>
    this.#options.onEvent?.({ type: "loop.failed", loop: "coordinator", error });

  async #startEngine(): Promise<Engine> {
    const { database } = this.#options;
    this.#generation = database.history.generation;
    const engine = new Engine({ ...this.#options, database: database.inHistory() });
    try {
      await engine.start();
    } catch (error) {
      await engine.abandon().catch(this.#report);
      throw error;
    }
    return engine;
  }
}

/** A view whose members are those of the value that `read` returns at each use: for holders that stay when the engine is replaced. */
export function live<Value extends object>(read: () => Value): Value {
  return new Proxy<Value>(Object.create(null), {
    get: (_, name) => {
      const value = read();
      const member: unknown = Reflect.get(value, name, value);
      return typeof member === "function" ? member.bind(value) : member;
    },
    has: (_, name) => Reflect.has(read(), name),
  });
}
