import { isDeepStrictEqual } from "node:util";
import type { Instant } from "@carillon/core";
import type { Database } from "../db/database.js";
import { jsonParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { changeOwnLimits } from "../limits/limit-owners.js";
import type { Statements } from "../sql/statements.js";
import type { QueueLimits } from "./queue-store.js";
import type { OwnLimits } from "../limits/limit-rows.js";

export interface KnownNamespace {
  readonly id: number;
  readonly name: string;
  readonly weight: number;
  readonly version: number;
}

export interface NamespaceStore {
  /** null when there is none of that name. */
  find(name: string): Promise<number | null>;
  list(): Promise<KnownNamespace[]>;
  /** By name. */
  page(of: { after?: string; limit: number; only?: string }): Promise<NamespaceView[]>;
  /** null: the name is taken. */
  create(name: string, weight: number, tx?: Queryable): Promise<NamespaceView | null>;
  /** null: there is none, or it has another version. */
  change(name: string, change: NamespaceChange, ifVersion: number | null): Promise<NamespaceView | null>;
}

interface ViewRow {
  readonly name: string;
  readonly weight: number;
  readonly limits: OwnLimits | null;
  readonly version: number;
  readonly created_at: Instant;
  readonly updated_at: Instant;
}

/** Namespaces are few and their ids never change, so a name that was found once is cached. */
export function namespaceStore(db: Database, statements: Statements): NamespaceStore {
  const known = new Map<string, number>();
  /** Concurrent callers share one query. */
  const asked = new Map<string, Promise<number | null>>();
  const [find, list] = [statements.get("namespace.find"), statements.get("namespace.list")];
  const [page, create] = [statements.get("namespace.page"), statements.get("namespace.create")];
  const [change, readForChange] = [statements.get("namespace.change"), statements.get("namespace.read_for_change")];
  const changeLimits = changeOwnLimits(statements);
  async function ask(name: string): Promise<number | null> {
    try {
      const { rows } = await db.query<{ id: number }>(find, find.values({ name }));
      const id = rows[0]?.id ?? null;
      if (id !== null) known.set(name, id);
      return id;
    } finally {
      asked.delete(name);
    }
  }
  return {
    async find(name) {
      const seen = known.get(name);
      if (seen !== undefined) return seen;
      const answer = asked.get(name) ?? ask(name);
      asked.set(name, answer);
      return answer;
    },
    async list() {
      const { rows } = await db.query<KnownNamespace>(list);
      for (const row of rows) known.set(row.name, row.id);
      return rows;
    },
    page: async ({ after = null, limit, only = null }) =>
      (await db.query<ViewRow>(page, page.values({ after, limit, only }))).rows.map(toView),
    async create(name, weight, tx = db) {
      const [row] = (await tx.query<ViewRow>(create, create.values({ name, weight }))).rows;
      return row === undefined ? null : toView(row);
    },
    async change(name, { weight, concurrency, rateLimit }, ifVersion) {
      const limits = Object.entries({ concurrency, rateLimit });
      const set = Object.fromEntries(limits.filter(([, limit]) => limit !== undefined && limit !== null));
      const gone = limits.filter(([, limit]) => limit === null).map(([kind]) => kind);
      const values = change.values({
        name,
        ifVersion,
        weight: weight ?? null,
        limits: jsonParam(set),
        removedLimits: gone,
      });
      return db.transaction(async (tx) => {
        const [before] = (await tx.query<ViewRow & { id: number }>(readForChange, readForChange.values({ name }))).rows;
        if (before === undefined || (ifVersion !== null && ifVersion !== before.version)) return null;
        const after = Object.fromEntries(
          Object.entries({ ...before.limits, ...set }).filter(([kind]) => !gone.includes(kind)),
        );
        const isSame = isDeepStrictEqual(after, before.limits ?? {}) && (weight ?? before.weight) === before.weight;
        if (isSame) return toView(before);
        await changeLimits(tx, { namespaceId: before.id, queue: null }, { before: before.limits, after });
        const [row] = (await tx.query<ViewRow>(change, values)).rows;
        if (row === undefined) throw new Error(`The statement that changes the namespace ${name} returned no row.`);
        return toView(row);
      });
    },
  };
}

function toView(row: ViewRow): NamespaceView {
  const { name, weight, limits, version, created_at: createdAt, updated_at: updatedAt } = row;
  return { name, weight, limits, version, createdAt, updatedAt };
}

export interface NamespaceView {
  readonly name: string;
  /** Its share of the workers that serve several namespaces, in proportion to the weights of the others that have work. */
  readonly weight: number;
  /** At most so many of its runs at a time, and so many starts in any window; null: none. */
  readonly limits: QueueLimits | null;
  readonly version: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** What a change says; absent members stay. */
export interface NamespaceChange {
  readonly weight?: number;
  /** null takes the limit away. */
  readonly concurrency?: QueueLimits["concurrency"] | null;
  readonly rateLimit?: QueueLimits["rateLimit"] | null;
}
