import type { Database } from "../db/database.js";
import { quotedSchema } from "../sql/sql-text.js";

/** Removes the schema with everything in it. For a database that one node alone uses: nobody may be at work in it. */
export async function dropSchema(database: Database): Promise<void> {
  await database.dedicated((session) =>
    session.query({ text: `drop schema if exists ${quotedSchema(database.schema)} cascade` }),
  );
}
