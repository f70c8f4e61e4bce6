import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** Secrets of the cluster, created with the schema. */
export interface SecretStore {
  find(name: "direct_dispatch"): Promise<Buffer>;
}

export function secretStore(db: Queryable, statements: Statements): SecretStore {
  const find = statements.get("secret.find");
  return {
    async find(name) {
      const [row] = (await db.query<{ value: string }>(find, find.values({ name }))).rows;
      if (row === undefined) throw new Error(`The schema has no secret ${name}: was a row of carillon.secret deleted?`);
      return Buffer.from(row.value, "base64");
    },
  };
}
