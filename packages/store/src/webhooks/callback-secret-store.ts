import type { DurationMs, Instant } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** The secrets that sign callbacks to addresses, one for each namespace. */
export interface CallbackSecrets {
  /** One, or two while it changes; `fresh` is stored if there is none. */
  signing(namespaceId: number, fresh: string): Promise<readonly string[]>;
  find(namespaceId: number): Promise<CallbackSecretView | null>;
  rotate(namespaceId: number, secret: string, overlapMs: DurationMs, tx?: Queryable): Promise<CallbackSecretView>;
}

export function callbackSecrets(db: Queryable, statements: Statements): CallbackSecrets {
  const signing = statements.get("callback_secret.signing");
  const create = statements.get("callback_secret.create");
  const find = statements.get("callback_secret.find");
  const rotate = statements.get("callback_secret.rotate");
  type Secrets = { readonly secret: string; readonly old_secret: string | null };
  const read = async (namespaceId: number): Promise<Secrets | undefined> =>
    (await db.query<Secrets>(signing, signing.values({ namespaceId }))).rows[0];
  return {
    async signing(namespaceId, fresh) {
      let found = await read(namespaceId);
      if (found === undefined) {
        await db.query(create, create.values({ namespaceId, secret: fresh }));
        found = await read(namespaceId);
      }
      if (found === undefined) throw new Error("The secret that signs callbacks was stored and cannot be found.");
      return found.old_secret === null ? [found.secret] : [found.secret, found.old_secret];
    },
    async find(namespaceId) {
      const [row] = (await db.query<Row>(find, find.values({ namespaceId }))).rows;
      return row === undefined ? null : toView(row);
    },
    async rotate(namespaceId, secret, overlapMs, tx = db) {
      const [row] = (await tx.query<Row>(rotate, rotate.values({ namespaceId, secret, overlapMs }))).rows;
      if (row === undefined) throw new Error("The statement that rotates the secret of callbacks returned no row.");
      return toView(row);
    },
  };
}

/** The times of the secret that signs callbacks to addresses; only the call that creates the secret returns it. */
export interface CallbackSecretView {
  readonly madeAt: Instant;
  /** Until then the previous secret signs too. */
  readonly oldSecretUntil: Instant | null;
}

interface Row {
  readonly made_at: Instant;
  readonly old_secret_until: Instant | null;
}

function toView({ made_at: madeAt, old_secret_until: oldSecretUntil }: Row): CallbackSecretView {
  return { madeAt, oldSecretUntil };
}
