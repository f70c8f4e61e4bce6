import { createHash } from "node:crypto";
import { CarillonError, type DurationMs, type Instant } from "@carillon/core";
import type { Database, DedicatedSession } from "../db/database.js";
import { classifyPgError, sqlStateOf } from "../db/errors.js";
import { pause } from "../db/health.js";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { qualify, quotedSchema, splitStatements } from "../sql/sql-text.js";
import { type AppliedMigration, type Migration, migrationLabel, planMigrations, readMigrations } from "./migration.js";

export interface MigrateOptions {
  /** Lists the migrations that would run, and runs none. */
  readonly dryRun?: boolean;
  /** Recorded as the time of each migration instead of the database's clock. */
  readonly now?: Instant;
  /** How long to wait for another node that migrates, or for a table that a long statement holds. */
  readonly waitMs?: DurationMs;
  /** Called with the reason before each wait. */
  readonly onWait?: (reason: string) => void;
  readonly onApplied?: (label: string) => void;
  /** Used instead of the package's own migrations. */
  readonly files?: readonly Migration[];
}

export interface MigrateReport {
  /** Labels of the migrations that this call ran; another node may have run the rest. */
  readonly applied: readonly string[];
  /** Labels of the migrations that are left: empty, except in a dry run. */
  readonly pending: readonly string[];
}

/** Brings the schema to the newest migration. Safe from any number of nodes at once, and after a kill at any moment. */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<MigrateReport> {
  const files = options.files ?? readMigrations();
  if (options.dryRun === true) {
    const applied = await new MigrationTable(database.schema).read(database);
    return { applied: [], pending: planMigrations(files, applied).map(migrationLabel) };
  }
  return database.dedicated((session) => new Migrator(database, session, files, options).run());
}

/** Labels of the migrations that an empty database needs. */
export function allMigrations(): readonly string[] {
  return readMigrations().map(migrationLabel);
}

/** Refuses a schema that this version cannot work with: newer, older, or created by other migrations. */
export async function checkSchema(database: Database, files: readonly Migration[] = readMigrations()): Promise<void> {
  const applied = await new MigrationTable(database.schema).read(database);
  const [next] = planMigrations(files, applied);
  if (next === undefined) return;
  throw new CarillonError(
    "schema_too_old",
    `The schema ${database.schema} lacks migration ${migrationLabel(next)}. Run: carillon server migrate`,
  );
}

/** While DDL waits for a table that a long transaction holds, every other session waits behind it: not for longer than this. */
const lockTimeoutMs = 3_000;
const lockNotAvailable = "55P03";
/** A statement has no time limit; a node that stopped in the middle of a migration has this one. */
const idleTimeoutMs = 60_000;
const defaultWaitMs = 300_000;
const begin = `begin; set local statement_timeout = 0; set local lock_timeout = ${lockTimeoutMs};
  set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`;

/** The result of one step; after the last two the migrator has to wait. */
type Step = "done" | "again" | "another node is migrating" | "a transaction holds a lock that the migration needs";

/** One migration after the other: each step takes the lock, reads which migrations are left, runs the first and records it. */
class Migrator {
  readonly #schema: string;
  readonly #ports: Database["ports"];
  readonly #session: DedicatedSession;
  readonly #files: readonly Migration[];
  readonly #options: MigrateOptions;
  readonly #table: MigrationTable;
  readonly #lock: MigrationLock;
  readonly #applied: string[] = [];

  constructor(database: Database, session: DedicatedSession, files: readonly Migration[], options: MigrateOptions) {
    this.#schema = database.schema;
    this.#ports = database.ports;
    this.#session = session;
    this.#files = files;
    this.#options = options;
    this.#table = new MigrationTable(database.schema);
    this.#lock = new MigrationLock(database.schema);
  }

  async run(): Promise<MigrateReport> {
    const { clock, timers, random } = this.#ports;
    const waitMs = this.#options.waitMs ?? defaultWaitMs;
    const deadline = clock.monotonic() + waitMs;
    for (;;) {
      const step = await this.#step();
      if (step === "done") return { applied: this.#applied, pending: [] };
      if (step === "again") continue;
      if (clock.monotonic() >= deadline) {
        throw new CarillonError("database_timeout", `The migration gave up after ${waitMs} ms: ${step}.`);
      }
      this.#options.onWait?.(step);
      await pause(100 + random() * 200, timers);
    }
  }

  async #step(): Promise<Step> {
    const [next] = planMigrations(this.#files, await this.#table.read(this.#session));
    if (next === undefined) return "done";
    const work = next.transactional ? () => this.#inTransaction(next) : () => this.#inSession(next);
    try {
      return await work();
    } catch (error) {
      if (sqlStateOf(error) === lockNotAvailable || classifyPgError(error) === "serialization") {
        return "a transaction holds a lock that the migration needs";
      }
      throw error;
    }
  }

  async #inTransaction(next: Migration): Promise<Step> {
    await this.#session.query({ text: begin });
    try {
      if (!(await this.#lock.takeForTransaction(this.#session))) {
        await this.#session.query({ text: "rollback" });
        return "another node is migrating";
      }
      await this.#table.create(this.#session);
      const isNext = await this.#isNext(next);
      if (isNext) {
        await this.#session.query({ text: qualify(next.text, this.#schema) });
        await this.#table.record(this.#session, next, this.#options.now);
      }
      await this.#session.query({ text: "commit" });
      if (isNext) this.#done(next);
      return "again";
    } catch (error) {
      await this.#session.query({ text: "rollback" }).catch(() => undefined);
      throw error;
    }
  }

  /** Statement by statement. After a kill the file runs again from its start, so running it twice must do no harm. */
  async #inSession(next: Migration): Promise<Step> {
    if (!this.#session.keepsSession) {
      throw new CarillonError(
        "direct_url_needed",
        `Migration ${migrationLabel(next)} cannot run through a pooler: give the server's own address as the direct database URL.`,
      );
    }
    if (!(await this.#lock.takeForSession(this.#session))) return "another node is migrating";
    try {
      await this.#table.create(this.#session);
      if (await this.#isNext(next)) {
        for (const text of splitStatements(qualify(next.text, this.#schema))) await this.#session.query({ text });
        await this.#table.record(this.#session, next, this.#options.now);
        this.#done(next);
      }
      return "again";
    } finally {
      await this.#lock.releaseSession(this.#session).catch(() => undefined);
    }
  }

  /** Read again under the lock: another node may have run it before the lock was taken. */
  async #isNext(migration: Migration): Promise<boolean> {
    const [next] = planMigrations(this.#files, await this.#table.read(this.#session));
    return next?.number === migration.number;
  }

  #done(migration: Migration): void {
    const label = migrationLabel(migration);
    this.#applied.push(label);
    this.#options.onApplied?.(label);
  }
}

/**
 * The migration lock of a schema. It is tried, never waited for: a session that waits in pg_advisory_lock holds a snapshot, and CREATE
 * INDEX CONCURRENTLY waits for every snapshot, so the holder of the lock and the waiting session would wait for each other.
 */
class MigrationLock {
  readonly #key: string;

  constructor(schema: string) {
    this.#key = createHash("sha256").update(`carillon migrations of ${schema}`).digest().readBigInt64BE(0).toString();
  }

  /** Held until the end of the open transaction. Works through any pooler. */
  takeForTransaction(session: Queryable): Promise<boolean> {
    return this.#call(session, "pg_try_advisory_xact_lock");
  }

  /** Held until it is released or the session ends. Needs a connection that is one session. */
  takeForSession(session: Queryable): Promise<boolean> {
    return this.#call(session, "pg_try_advisory_lock");
  }

  async releaseSession(session: Queryable): Promise<void> {
    await this.#call(session, "pg_advisory_unlock");
  }

  async #call(session: Queryable, name: string): Promise<boolean> {
    const text = `select ${name}($1::bigint) as done`;
    return (await session.query<{ done: boolean }>({ text }, [this.#key])).rows[0]?.done === true;
  }
}

const insufficientPrivilege = "42501";

/** The applied migrations, recorded in the schema itself. The table is created before the first migration and is never migrated. */
class MigrationTable {
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

/** Drops the schema with everything in it. Only for a database in which no other node is at work. */
export async function dropSchema(database: Database): Promise<void> {
  await database.dedicated((session) =>
    session.query({ text: `drop schema if exists ${quotedSchema(database.schema)} cascade` }),
  );
}
