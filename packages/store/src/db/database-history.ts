import { CarillonError } from "@carillon/core";
import type { Queryable } from "./queryable.js";
import type { OnDatabaseEvent } from "./options.js";

/**
 * The history of writes that a server continues. A promoted standby begins a new timeline: what the primary had not sent to it is lost,
 * and the two histories differ from there on.
 */
export interface ServerHistory {
  /** The system identifier of the files, and the database. */
  readonly system: string;
  /** Grows with every promotion and every restore to a point in time. */
  readonly timeline: number;
}

/** Voids what the rows of the new history have of the lost one. Runs before any other statement reaches the server. */
export type SettleHistory = (session: Queryable) => Promise<void>;

/**
 * Holds this process to one history of the database at a time. When a server with another history is found, every connection is ended and
 * every call is refused until the rows are settled; calls that began before, and handles made before (`inHistory`), stay refused for good,
 * because ids, revisions and claims that they remember may be of the lost history.
 */
export class DatabaseHistory {
  readonly #onEvent: OnDatabaseEvent;
  readonly #refused = new Set<string>();
  #present: ServerHistory | null = null;
  #next: ServerHistory | null = null;
  #newestTimeline = 0;
  #generation = 0;
  #isSettled = true;
  #settle: SettleHistory | null = null;
  #onLeft: () => void = () => undefined;
  #onAdmitting: () => void = () => undefined;

  constructor(onEvent: OnDatabaseEvent) {
    this.#onEvent = onEvent;
  }

  /** Grows whenever a history was left. */
  get generation(): number {
    return this.#generation;
  }

  /** False: a history was left, and the rows of the next one are not settled yet. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Called at once when the history is left: ends the connections. */
  onLeft(listener: () => void): void {
    this.#onLeft = listener;
  }

  /** The work that settles the rows, and a call when calls are admitted again. */
  settleBy(settle: SettleHistory, onAdmitting: () => void): void {
    this.#settle = settle;
    this.#onAdmitting = onAdmitting;
  }

  /** Throws for a call that began in a history that was left. */
  assertIs(generation: number): void {
    if (generation !== this.#generation) throw historyLeft();
  }

  /** Compares the server behind a new connection; throws if the connection must not be used. null: the server does not show its history. */
  admit(server: ServerHistory | null, host: string, isForSettling: boolean): void {
    if (server === null) return;
    this.#present ??= this.#remember(server);
    if (this.#isReplaced(server)) throw this.#refuse(server, host);
    this.#refused.delete(host);
    if (this.#isSettled && isSame(server, this.#present)) return;
    if (this.#isSettled) this.leave(server);
    if (!isForSettling) throw historyLeft();
    this.#next = this.#remember(server);
  }

  /** Another host of the URL was found to continue a later timeline: the server in use was replaced. */
  observe(server: ServerHistory | null): void {
    const present = this.#present;
    if (server === null || present === null || server.system !== present.system) return;
    if (server.timeline > Math.max(present.timeline, this.#newestTimeline)) this.leave(server);
  }

  /** The present history ends here: its connections are ended, and what was remembered of it is void. */
  leave(next: ServerHistory | null): void {
    if (next !== null) this.#remember(next);
    this.#generation++;
    if (!this.#isSettled) return;
    this.#isSettled = false;
    this.#onEvent({
      type: "database.history_left",
      timeline: this.#present?.timeline ?? null,
      nextTimeline: next?.timeline ?? null,
    });
    this.#onLeft();
  }

  /** Settles the rows over a connection that `admit` let through for it. */
  async settle(session: Queryable): Promise<void> {
    const generation = this.#generation;
    await this.#settle?.(session);
    this.assertIs(generation);
    this.#present = this.#next ?? this.#present;
    this.#next = null;
    this.#isSettled = true;
  }

  /** Calls are admitted again. */
  settled(): void {
    this.#onAdmitting();
  }

  #remember(server: ServerHistory): ServerHistory {
    const present = this.#present;
    const isOfSystem = present === null || present.system === server.system;
    this.#newestTimeline = isOfSystem ? Math.max(this.#newestTimeline, server.timeline) : server.timeline;
    return server;
  }

  #isReplaced(server: ServerHistory): boolean {
    return server.system === this.#present?.system && server.timeline < this.#newestTimeline;
  }

  #refuse({ timeline }: ServerHistory, host: string): CarillonError {
    const newest = this.#newestTimeline;
    if (!this.#refused.has(host))
      this.#onEvent({ type: "database.server_replaced", host, timeline, newestTimeline: newest });
    this.#refused.add(host);
    return new CarillonError(
      "database_unavailable",
      `The server at ${host} was replaced by a failover: it is on timeline ${timeline}, and this node has seen timeline ${newest}. Stop it, or rebuild it as a standby of the new primary.`,
    );
  }
}

const isSame = (a: ServerHistory, b: ServerHistory): boolean => a.system === b.system && a.timeline === b.timeline;

function historyLeft(): CarillonError {
  return new CarillonError(
    "database_unavailable",
    "The database was failed over or restored. What was not replicated is lost; this node begins again with what the database has now. Repeat the call.",
  );
}
