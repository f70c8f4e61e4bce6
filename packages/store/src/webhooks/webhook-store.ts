import { isDeepStrictEqual } from "node:util";
import type { CallbackMoment, CallbackPart, DurationMs, Instant } from "@carillon/core";
import type { Database } from "../db/database.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** The part of an endpoint that decides which messages it gets. */
export interface WebhookWish {
  readonly id: string;
  readonly namespaceId: number;
  readonly on: readonly CallbackMoment[];
  readonly tasks: readonly string[] | null;
  readonly queues: readonly string[] | null;
  readonly include: readonly CallbackPart[];
}

/** The end of a run about which messages may be due. */
export interface RunNotice {
  readonly runId: string;
  readonly namespaceId: number;
  readonly endedAt: Instant;
}

export interface WebhookState extends WebhookSpec {
  readonly isEnabled: boolean;
  readonly disabledReason: WebhookView["disabledReason"];
}

export interface WebhookStore {
  insert(namespaceId: number, id: string, spec: WebhookSpec, secret: string, tx?: Queryable): Promise<WebhookView>;
  find(namespaceId: number, id: string): Promise<WebhookView | null>;
  list(namespaceId: number, before: string | null, limit: number): Promise<WebhookView[]>;
  /** `decide` receives the stored endpoint; null: there is none. A state that it has already makes no version. */
  change(namespaceId: number, id: string, decide: (before: WebhookView) => WebhookState): Promise<WebhookView | null>;
  rotate(
    namespaceId: number,
    id: string,
    secret: string,
    overlapMs: DurationMs,
    tx?: Queryable,
  ): Promise<WebhookView | null>;
  delete(namespaceId: number, id: string): Promise<boolean>;
  target(id: string): Promise<WebhookTarget | null>;
  delivered(id: string): Promise<void>;
  /** Returns whether it is still enabled; null: it was disabled before. */
  failed(id: string, isGone: boolean, maxFailingMs: DurationMs): Promise<boolean | null>;
  enabled(db: Queryable, namespaceIds: readonly number[] | null): Promise<WebhookWish[]>;
  takeNotices(tx: Queryable, limit: number): Promise<RunNotice[]>;
}

/** Further endpoints get no messages: that many receivers need a message bus. */
const maxEndpoints = 10_000;

interface Row {
  id: string;
  namespace_id: number;
  url: string;
  types: CallbackMoment[];
  tasks: string[] | null;
  queues: string[] | null;
  description: string | null;
  include: CallbackPart[];
  old_secret_until: Instant | null;
  is_enabled: boolean;
  disabled_reason: WebhookView["disabledReason"];
  failing_since: Instant | null;
  version: number;
  created_at: Instant;
  updated_at: Instant;
}

export function webhookStore(db: Database, statements: Statements): WebhookStore {
  const one = (rows: readonly Row[]): WebhookView | null => (rows[0] === undefined ? null : toView(rows[0]));
  const insert = statements.get("webhook.insert");
  const find = statements.get("webhook.find");
  const list = statements.get("webhook.list");
  const lock = statements.get("webhook.lock");
  const replace = statements.get("webhook.replace");
  const rotate = statements.get("webhook.rotate");
  const remove = statements.get("webhook.delete");
  return {
    ...deliveryCalls(db, statements),
    async insert(namespaceId, id, { on: types, ...spec }, secret, tx = db) {
      const values = insert.values({ id, namespaceId, types, ...spec, secret });
      const made = one((await tx.query<Row>(insert, values)).rows);
      if (made === null) throw new Error("webhook.insert stored an endpoint and returned no row");
      return made;
    },
    find: async (namespaceId, id) => one((await db.query<Row>(find, find.values({ namespaceId, id }))).rows),
    list: async (namespaceId, before, limit) =>
      (await db.query<Row>(list, list.values({ namespaceId, beforeId: before, limit }))).rows.map(toView),
    change: (namespaceId, id, decide) =>
      db.transaction(async (tx) => {
        const before = one((await tx.query<Row>(lock, lock.values({ namespaceId, id }))).rows);
        if (before === null) return null;
        const { on: types, ...state } = decide(before);
        if (isDeepStrictEqual({ ...before, ...state, on: types }, before)) return before;
        return one((await tx.query<Row>(replace, replace.values({ ...state, id, types }))).rows);
      }),
    rotate: async (namespaceId, id, secret, overlapMs, tx = db) =>
      one((await tx.query<Row>(rotate, rotate.values({ namespaceId, id, secret, overlapMs }))).rows),
    delete: async (namespaceId, id) => (await db.query(remove, remove.values({ namespaceId, id }))).rows.length > 0,
  };
}

type DeliveryCalls = Pick<WebhookStore, "target" | "delivered" | "failed" | "enabled" | "takeNotices">;

function deliveryCalls(db: Queryable, statements: Statements): DeliveryCalls {
  const target = statements.get("webhook.target");
  const delivered = statements.get("webhook.record_success");
  const failed = statements.get("webhook.record_failure");
  const enabled = statements.get("webhook.list_enabled");
  const takeNotices = statements.get("webhook.take_notices");
  return {
    async target(id) {
      type Target = { url: string; is_enabled: boolean; secret: string; old_secret: string | null };
      const [row] = (await db.query<Target>(target, target.values({ id }))).rows;
      if (row === undefined) return null;
      const secrets = row.old_secret === null ? [row.secret] : [row.secret, row.old_secret];
      return { url: row.url, isEnabled: row.is_enabled, secrets };
    },
    async delivered(id) {
      await db.query(delivered, delivered.values({ id }));
    },
    async failed(id, isGone, maxFailingMs) {
      const { rows } = await db.query<{ is_enabled: boolean }>(failed, failed.values({ id, isGone, maxFailingMs }));
      return rows[0]?.is_enabled ?? null;
    },
    async enabled(over, namespaceIds) {
      const { rows } = await over.query<Row>(enabled, enabled.values({ namespaceIds, limit: maxEndpoints }));
      return rows.map(({ id, namespace_id: namespaceId, types: on, tasks, queues, include }) => {
        return { id, namespaceId, on, tasks, queues, include };
      });
    },
    async takeNotices(tx, limit) {
      type Taken = { run_id: string; namespace_id: number; ended_at: Instant };
      const { rows } = await tx.query<Taken>(takeNotices, takeNotices.values({ limit }));
      return rows.map(({ run_id: runId, namespace_id: namespaceId, ended_at: endedAt }) => {
        return { runId, namespaceId, endedAt };
      });
    },
  };
}

function toView(row: Row): WebhookView {
  return {
    id: row.id,
    url: row.url,
    on: row.types,
    tasks: row.tasks,
    queues: row.queues,
    include: row.include,
    description: row.description,
    isEnabled: row.is_enabled,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since,
    oldSecretUntil: row.old_secret_until,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The URL of an endpoint, and the runs about which it gets messages. */
export interface WebhookSpec {
  readonly url: string;
  readonly on: readonly CallbackMoment[];
  /** null: of all. */
  readonly tasks: readonly string[] | null;
  readonly queues: readonly string[] | null;
  readonly include: readonly CallbackPart[];
  readonly description: string | null;
}

export interface WebhookView extends WebhookSpec {
  readonly id: string;
  readonly isEnabled: boolean;
  /** Why it is disabled: a caller disabled it, it responded that it is gone, or it failed for too long. */
  readonly disabledReason: "by_user" | "gone" | "failing" | null;
  /** No delivery has succeeded since; null: the last one succeeded. */
  readonly failingSince: Instant | null;
  /** Until then the old secret signs too. */
  readonly oldSecretUntil: Instant | null;
  readonly version: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The receiver of a delivery. */
export interface WebhookTarget {
  readonly url: string;
  readonly isEnabled: boolean;
  /** One, or two while the secret changes. */
  readonly secrets: readonly string[];
}
