import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/db/database.js";
import { checkSchema, migrate } from "../../../src/migrations/migrate.js";
import { readMigrations, toMigration, type Migration } from "../../../src/migrations/migration.js";
import { eventually, fileUrl, open, outsider, text } from "../db/support.js";

const step = (number: number, sql = `create table carillon.t${number} (id int)`): Migration =>
  toMigration(number, `step_${number}`, sql);
const labels = (count: number): string[] => Array.from({ length: count }, (_, n) => `000${n + 1}_step_${n + 1}`);

/** A node's database with a schema that only this test uses. */
const node = async (
  schema = `s_${randomBytes(5).toString("hex")}`,
): Promise<{ database: Database; schema: string }> => {
  const { database } = await open({ url: await fileUrl(), schema, poolSize: 4 });
  return { database, schema };
};

const recorded = async (database: Database): Promise<number[]> => {
  const { rows } = await database.query<{ number: number }>(
    text(`select number from ${database.schema}.migration order by number`),
  );
  return rows.map(({ number }) => number);
};

const tablesOf = async (database: Database): Promise<string[]> => {
  const { rows } = await database.query<{ name: string }>(
    { text: "select tablename as name from pg_tables where schemaname = $1 order by 1" },
    [database.schema],
  );
  return rows.map(({ name }) => name);
};

describe("migrate", () => {
  it("creates the schema, runs every migration once and none the second time", async () => {
    const { database } = await node();
    const files = [step(1), step(2)];
    expect(await migrate(database, { files, now: 1_000 })).toEqual({ applied: labels(2), pending: [] });
    expect(await migrate(database, { files })).toEqual({ applied: [], pending: [] });
    expect(await tablesOf(database)).toEqual(["migration", "t1", "t2"]);
    const { rows } = await database.query(text(`select * from ${database.schema}.migration order by number`));
    expect(rows[0]).toEqual({ number: 1, name: "step_1", sha256: files[0]?.sha256, applied_at: 1_000 });
  });

  it("runs the package's own migrations into a schema of any name", async () => {
    const { database } = await node();
    await migrate(database);
    expect(await recorded(database)).toEqual(readMigrations().map(({ number }) => number));
    await checkSchema(database);
  });

  it("runs each migration once when several nodes start together", async () => {
    const { database, schema } = await node();
    const nodes = [database, ...(await Promise.all([1, 2, 3].map(() => node(schema)))).map((made) => made.database)];
    const files = [step(1), step(2), step(3), step(4)];
    const reports = await Promise.all(nodes.map((one) => migrate(one, { files })));
    expect(reports.flatMap(({ applied }) => applied).sort()).toEqual(labels(4));
    expect(await recorded(database)).toEqual([1, 2, 3, 4]);
  });

  it("a dry run lists the pending migrations and runs none", async () => {
    const { database } = await node();
    const files = [step(1), step(2)];
    expect(await migrate(database, { files, dryRun: true })).toEqual({ applied: [], pending: labels(2) });
    expect(await tablesOf(database)).toEqual([]);
    await migrate(database, { files: files.slice(0, 1) });
    expect(await migrate(database, { files, dryRun: true })).toEqual({ applied: [], pending: ["0002_step_2"] });
  });

  it("a migration that fails leaves nothing behind, and runs once its file is repaired", async () => {
    const { database } = await node();
    const broken = step(2, "create table carillon.t2 (id int); select 1/0");
    await expect(migrate(database, { files: [step(1), broken] })).rejects.toMatchObject({ code: "22012" });
    expect(await tablesOf(database)).toEqual(["migration", "t1"]);
    expect((await migrate(database, { files: [step(1), step(2)] })).applied).toEqual(["0002_step_2"]);
  });

  it("a node that is killed in the middle of a migration leaves it to the next node", async () => {
    const { database, schema } = await node();
    const admin = await outsider(await fileUrl());
    const slow = step(2, `create table carillon.t2 (id int); select pg_sleep(60) as ${schema}`);
    const killed = migrate(database, { files: [step(1), slow] }).catch((error: unknown) => error);
    await eventually(async () => {
      const { rowCount } = await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and query like $1",
        [`%${schema}%`],
      );
      return rowCount === 1;
    });
    expect(await killed).toMatchObject({ code: "database_unavailable" });
    expect(await tablesOf(database)).toEqual(["migration", "t1"]);
    const next = await node(schema);
    expect((await migrate(next.database, { files: [step(1), step(2)] })).applied).toEqual(["0002_step_2"]);
  });

  it("waits while another node holds the lock, and reports the reason", async () => {
    const { database, schema } = await node();
    const other = await node(schema);
    let letGo: () => void = () => undefined;
    const waited = new Promise<void>((resolve) => (letGo = resolve));
    const files = [step(1, `select pg_advisory_lock_shared(77); create table carillon.t1 (id int)`)];
    const admin = await outsider(await fileUrl());
    await admin.query("select pg_advisory_lock(77)");
    const reasons: string[] = [];
    const onWait = (reason: string): void => {
      reasons.push(reason);
      letGo();
    };
    const both = Promise.all([migrate(database, { files, onWait }), migrate(other.database, { files, onWait })]);
    await waited;
    await admin.query("select pg_advisory_unlock(77)");
    expect((await both).flatMap(({ applied }) => applied)).toEqual(["0001_step_1"]);
    expect(reasons[0]).toBe("another node is migrating");
  });

  it("gives up when the time to wait is over", async () => {
    const { database } = await node();
    const admin = await outsider(await fileUrl());
    await migrate(database, { files: [step(1)] });
    await admin.query("begin");
    await admin.query(`lock table ${database.schema}.t1`);
    const files = [step(1), step(2, "set local lock_timeout = 10; alter table carillon.t1 add column n int")];
    await expect(migrate(database, { files, waitMs: 0 })).rejects.toMatchObject({
      code: "database_timeout",
      message: expect.stringContaining("a transaction holds a lock"),
    });
    await admin.query("rollback");
    expect((await migrate(database, { files })).applied).toEqual(["0002_step_2"]);
  });

  it("runs a no-transaction file outside a transaction, also while other nodes wait", async () => {
    const { database, schema } = await node();
    const files = [
      step(1),
      step(
        2,
        "-- no-transaction\ncreate index concurrently a on carillon.t1 (id);\ncreate index concurrently b on carillon.t1 (id);",
      ),
      step(3),
    ];
    const nodes = [database, ...(await Promise.all([1, 2, 3].map(() => node(schema)))).map((made) => made.database)];
    const reports = await Promise.all(nodes.map((one) => migrate(one, { files })));
    expect(reports.flatMap(({ applied }) => applied).sort()).toEqual(labels(3));
    const { rows } = await database.query(
      { text: "select indexname as name from pg_indexes where schemaname = $1 and tablename = 't1' order by 1" },
      [schema],
    );
    expect(rows).toEqual([{ name: "a" }, { name: "b" }]);
  });

  it("runs a no-transaction file again from its start after it failed in the middle", async () => {
    const { database } = await node();
    const half = (end: string): Migration =>
      step(1, `-- no-transaction\ncreate table if not exists carillon.t1 (id int);\n${end}`);
    await expect(migrate(database, { files: [half("select 1/0")] })).rejects.toMatchObject({ code: "22012" });
    expect(await recorded(database)).toEqual([]);
    expect((await migrate(database, { files: [half("select 1")] })).applied).toEqual(["0001_step_1"]);
  });

  it("refuses a migration whose file changed after it was applied", async () => {
    const { database } = await node();
    await migrate(database, { files: [step(1)] });
    const changed = [step(1, "create table carillon.other (id int)"), step(2)];
    await expect(migrate(database, { files: changed })).rejects.toMatchObject({ code: "migration_changed" });
    await expect(checkSchema(database, changed)).rejects.toMatchObject({ code: "migration_changed" });
    expect(await recorded(database)).toEqual([1]);
  });

  it("says how an administrator creates a schema that the user may not create", async () => {
    const url = await fileUrl();
    const admin = await outsider(url);
    const role = `r_${randomBytes(5).toString("hex")}`;
    await admin.query(`create role ${role} login password 'x'`);
    const poor = new URL(url);
    poor.username = role;
    poor.password = "x";
    const { database } = await open({ url: poor.href, schema: role, poolSize: 4 });
    await expect(migrate(database, { files: [step(1)] })).rejects.toMatchObject({
      code: "schema_not_permitted",
      message: expect.stringContaining(`create schema "${role}" authorization`),
    });
    await admin.query(`create schema ${role} authorization ${role}`);
    expect((await migrate(database, { files: [step(1)] })).applied).toEqual(["0001_step_1"]);
    await database.close();
    await admin.query(`drop owned by ${role} cascade; drop role ${role}`);
  });
});

describe("checkSchema", () => {
  it("refuses a schema that lacks migrations and names the first one and the command", async () => {
    const { database } = await node();
    await migrate(database, { files: [step(1)] });
    await expect(checkSchema(database, [step(1), step(2)])).rejects.toMatchObject({
      code: "schema_too_old",
      message: expect.stringMatching(/0002_step_2.*carillon server migrate/),
    });
  });

  it("refuses a schema that is newer than this version, as migrate does", async () => {
    const { database } = await node();
    await migrate(database, { files: [step(1), step(2)] });
    await expect(checkSchema(database, [step(1)])).rejects.toMatchObject({ code: "schema_too_new" });
    await expect(migrate(database, { files: [step(1)] })).rejects.toMatchObject({ code: "schema_too_new" });
  });
});
