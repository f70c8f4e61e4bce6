import type { DurationMs, Instant } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** What signs callbacks to addresses, one for each namespace. */
export interface CallbackSecrets {
  /** One, or two while it changes; `fresh` is stored where there is none. */
  signing(namespaceId: number, fresh: string): Promise<readonly string[]>;
  find(namespaceId: number): Promise<CallbackSecretView | null>;
  rotate(namespaceId: number, secret: string, overlapMs: DurationMs): Promise<CallbackSecretView>;
}

export function callbackSecrets(db: Queryable, statements: Statements): CallbackSecrets {
  const sql = (name: string) => statements.get(`callback_secret.${name}`);
  const [signing, make, find, rotate] = [sql("signing"), sql("make"), sql("find"), sql("rotate")];
  type Secrets = { readonly secret: string; readonly old_secret: string | null };
  const read = async (namespaceId: number): Promise<Secrets | undefined> =>
    (await db.query<Secrets>(signing, [namespaceId])).rows[0];
  return {
    async signing(namespaceId, fresh) {
      let found = await read(namespaceId);
      if (found === undefined) {
        await db.query(make, [namespaceId, fresh]);
        found = await read(namespaceId);
      }
      if (found === undefined) throw new Error("the secret of callbacks was stored and cannot be found");
      return found.old_secret === null ? [found.secret] : [found.secret, found.old_secret];
    },
    async find(namespaceId) {
      const [row] = (await db.query<Row>(find, [namespaceId])).rows;
      return row === undefined ? null : toView(row);
    },
    async rotate(namespaceId, secret, overlapMs) {
      const [row] = (await db.query<Row>(rotate, [namespaceId, secret, overlapMs])).rows;
      if (row === undefined) throw new Error("a secret of callbacks was stored and not answered");
      return toView(row);
    },
  };
}

/** The secret that signs callbacks to addresses; what it is, is said when it is made. */
export interface CallbackSecretView {
  readonly madeAt: Instant;
  /** Until then the secret before signs as well. */
  readonly oldSecretUntil: Instant | null;
}

interface Row {
  readonly made_at: Instant;
  readonly old_secret_until: Instant | null;
}

function toView({ made_at: madeAt, old_secret_until: oldSecretUntil }: Row): CallbackSecretView {
  return { madeAt, oldSecretUntil };
}
