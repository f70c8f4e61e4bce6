import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { ownLimitsOf } from "../../limits/own-limits.js";
import type { OwnLimits } from "./limit-rows.js";
import { columns } from "./parameters.js";
import { growRevisions } from "./revisions.js";

/** A queue with limits of its own, or a namespace (queue null). */
export interface LimitOwner {
  readonly namespaceId: number;
  readonly queue: string | null;
}

export interface KnownOwners {
  readonly revision: number;
  readonly owners: readonly LimitOwner[];
}

/** Call in the transaction of the change, after the row was written. */
export type ChangeOwnLimits = (
  tx: Queryable,
  owner: LimitOwner,
  change: { readonly before: OwnLimits | null; readonly after: OwnLimits | null },
) => Promise<void>;

const fields = ["concurrency", "rateLimit"] as const;

/** Who has limits of its own. */
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
 * Limits hold from the commit that sets them: claims and admissions under way end first, those that come later need to know of it, and
 * nothing is admitted before who is at work already was counted.
 */
export function changeOwnLimits(statements: Statements): ChangeOwnLimits {
  const grow = growRevisions(statements);
  const [lockQueue, lockNamespace] = [statements.get("queue.lock"), statements.get("namespace.lock")];
  const [fence, recount] = [statements.get("limit.fence"), statements.get("limit.recount")];
  const dismiss = statements.get("limit.dismiss");
  return async (tx, { namespaceId, queue }, { before, after }) => {
    const set = Object.fromEntries(
      fields.flatMap((field) => {
        const limit = after?.[field];
        return limit === undefined || before?.[field] !== undefined ? [] : [[field, limit]];
      }),
    ) as OwnLimits;
    const gone = fields.filter((field) => after?.[field] === undefined && before?.[field] !== undefined);
    const [scope, name] = queue === null ? (["namespace", ""] as const) : (["queue", queue] as const);
    const added = ownLimitsOf(set, scope, name);
    if (added.length + gone.length === 0) return;
    if (queue === null) await tx.query(lockNamespace, [namespaceId]);
    else await tx.query(lockQueue, [namespaceId, queue]);
    await grow(tx, ["limits"]);
    if (gone.length > 0) {
      const kinds = gone.map((field) => (field === "rateLimit" ? "rate" : field));
      await tx.query(dismiss, [namespaceId, scope, name, kinds]);
    }
    if (added.length === 0) return;
    await tx.query(fence);
    const values = columns(added, [
      (limit) => limit.kind,
      (limit) => limit.limit,
      (limit) => limit.perMs,
      (limit) => limit.burst,
    ]);
    await tx.query(recount, [namespaceId, scope, name, ...values]);
  };
}
