import type { KeyedLimit } from "@carillon/core";
import { namedColumns } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";
import { type OwnLimits, ownLimitsOf } from "./limit-rows.js";

/** A queue with limits of its own, or a namespace (queue null). */
export interface LimitOwner {
  readonly namespaceId: number;
  readonly queue: string | null;
}

export interface KnownOwners {
  readonly revision: number;
  readonly owners: readonly LimitOwner[];
}

/** Call in the transaction of the change, before an existing row is written: a transaction that waits for it then reads the new limits. */
export type ChangeOwnLimits = (
  tx: Queryable,
  owner: LimitOwner,
  change: { readonly before: OwnLimits | null; readonly after: OwnLimits | null },
) => Promise<void>;

/** The queues and namespaces with limits of their own. */
export function limitOwners(db: Queryable, statements: Statements): () => Promise<KnownOwners> {
  const owners = statements.get("limit.owners");
  return async () => {
    type Row = { revision: number; namespace_id: number | null; queue: string | null };
    const { rows } = await db.query<Row>(owners);
    const found = rows.flatMap(({ namespace_id: namespaceId, queue }) =>
      namespaceId === null ? [] : [{ namespaceId, queue }],
    );
    return { revision: rows[0]?.revision ?? -1, owners: found };
  };
}

/**
 * Limits are in force from the commit that sets them: claims and admissions under way end first, later ones must have read them, and no
 * run is admitted before the running ones are counted. The limits are locked first and then their owner, as in an admission.
 */
export function changeOwnLimits(statements: Statements): ChangeOwnLimits {
  const grow = growRevisions(statements);
  const [lockQueue, lockNamespace] = [statements.get("queue.lock"), statements.get("namespace.lock")];
  const [declare, lock, fence] = [
    statements.get("limit.declare"),
    statements.get("limit.lock"),
    statements.get("limit.fence"),
  ];
  const [recount, stopCounting] = [statements.get("limit.recount"), statements.get("limit.stop_counting")];
  return async (tx, { namespaceId, queue }, { before, after }) => {
    const [scope, name] = queue === null ? (["namespace", ""] as const) : (["queue", queue] as const);
    const added = ownLimitsOf(
      only(after, (field) => before?.[field] === undefined),
      scope,
      name,
    );
    const gone = ownLimitsOf(
      only(before, (field) => after?.[field] === undefined),
      scope,
      name,
    );
    if (added.length + gone.length === 0) return;
    const owner = { namespaceId, scope, name };
    await tx.query(declare, declare.values({ ...owner, ...namedColumns(added, declaredColumns) }));
    const names = namedColumns([...added, ...gone], nameColumns(namespaceId));
    await tx.query(lock, lock.values({ ...names, ids: [] }));
    await tx.query(recount, recount.values({ ...owner, kinds: added.map((limit) => limit.kind) }));
    await tx.query(stopCounting, stopCounting.values({ ...owner, kinds: gone.map((limit) => limit.kind) }));
    if (queue === null) await tx.query(lockNamespace, lockNamespace.values({ id: namespaceId }));
    else await tx.query(lockQueue, lockQueue.values({ namespaceId, name: queue }));
    await grow(tx, ["limits"]);
    if (added.length > 0) await tx.query(fence);
  };
}

const declaredColumns = {
  kinds: (limit: KeyedLimit) => limit.kind,
  limits: (limit: KeyedLimit) => limit.limit,
  perMs: (limit: KeyedLimit) => limit.perMs,
  bursts: (limit: KeyedLimit) => limit.burst,
};

const nameColumns = (namespaceId: number) => ({
  namespaceIds: () => namespaceId,
  scopes: (limit: KeyedLimit) => limit.scope,
  kinds: (limit: KeyedLimit) => limit.kind,
  names: (limit: KeyedLimit) => limit.name,
});

function only(limits: OwnLimits | null, isWanted: (field: keyof OwnLimits) => boolean): OwnLimits {
  const { concurrency, rateLimit } = limits ?? {};
  return {
    ...(concurrency !== undefined && isWanted("concurrency") && { concurrency }),
    ...(rateLimit !== undefined && isWanted("rateLimit") && { rateLimit }),
  };
}

/**
 * Revisions of what nodes cache. A fire compares `windows`, which grows with calendars too, since its next time depends on them. A claim compares
 * `limits`: the queues and namespaces with limits of their own.
 */
export type RevisionName = "windows" | "calendars" | "limits";

/** Call in the transaction of the change. */
export type GrowRevisions = (tx: Queryable, names: readonly RevisionName[]) => Promise<void>;

export function growRevisions(statements: Statements): GrowRevisions {
  const grow = statements.get("revision.increment");
  return async (tx, names) => {
    const { rowCount } = await tx.query(grow, grow.values({ names }));
    if (rowCount !== names.length) throw new Error(`revision.increment changed ${rowCount} of ${names.length} rows`);
  };
}
