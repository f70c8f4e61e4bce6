import { CarillonError, type Instant } from "@carillon/core";
import { sqlStateOf } from "../db/errors.js";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { quotedSchema } from "../sql/sql-text.js";
import type { AppliedMigration, Migration } from "./migration.js";

const insufficientPrivilege = "42501";

/** The applied migrations, recorded in the schema itself. The table is created before the first migration and is never migrated. */
export class MigrationTable {
  readonly #schema: string;
  readonly #table: string;

  constructor(schema: string) {
    this.#schema = schema;
    this.#table = `${quotedSchema(schema)}.migration`;
  }

  async exists(session: Queryable): Promise<boolean> {
    const { rows } = await session.query<{ found: boolean }>({ text: "select to_regclass($1) is not null as found" }, [
      this.#table,
    ]);
    return rows[0]?.found === true;
  }

  /** Creates the schema and the table where they are missing. Runs under the migration lock. */
  async create(session: Queryable): Promise<void> {
    await this.#permitted(async () => {
      const { rowCount } = await session.query({ text: "select from pg_namespace where nspname = $1" }, [this.#schema]);
      // Not "create schema if not exists": that needs the right to create even where the schema exists.
      if (rowCount === 0) await session.query({ text: `create schema ${quotedSchema(this.#schema)}` });
      await session.query({
        text: `create table if not exists ${this.#table} (
          number int primary key check (number > 0),
          name text not null,
          sha256 text not null,
          applied_at timestamptz not null
        )`,
      });
    });
  }

  /** In the order of their numbers. Empty for a schema that was never migrated. */
  async read(session: Queryable): Promise<readonly AppliedMigration[]> {
    if (!(await this.exists(session))) return [];
    return this.#permitted(async () => {
      const text = `select number, name, sha256 from ${this.#table} order by number`;
      return (await session.query<AppliedMigration>({ text })).rows;
    });
  }

  async record(session: Queryable, migration: Migration, now?: Instant): Promise<void> {
    await session.query(
      {
        text: `insert into ${this.#table} (number, name, sha256, applied_at)
          values ($1, $2, $3, coalesce($4, clock_timestamp()))`,
      },
      [migration.number, migration.name, migration.sha256, now === undefined ? null : timestampParam(now)],
    );
  }

  async #permitted<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (sqlStateOf(error) !== insufficientPrivilege) throw error;
      throw new CarillonError(
        "schema_not_permitted",
        `The database user may not create or use the schema ${this.#schema}. Let an administrator run: create schema ${quotedSchema(this.#schema)} authorization <this user>`,
        { cause: error },
      );
    }
  }
}
