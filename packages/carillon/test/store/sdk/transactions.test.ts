import { createRequire } from "node:module";
import { freshDatabase } from "@carillon/testkit";
import { Client, Pool } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { carillon, type LibraryApp, task, type TransactionOptions } from "../../../src/index.js";

/** Query builders and drivers, installed with the checking tools, so that users do not get them. */
const peer = createRequire(new URL("../../../../../tools/package.json", import.meta.url));

type Tx = NonNullable<TransactionOptions["tx"]>;
type Work = (tx: Tx) => Promise<void>;

let url: string;
let pool: Pool;
let app: LibraryApp;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase();
  ({ url } = fresh);
  drop = () => fresh.drop();
  pool = new Pool({ connectionString: url, max: 3 });
  app = carillon({ databaseUrl: url });
  await app.start();
  await pool.query("create table customer (name text)");
});
afterAll(async () => {
  await app.stop();
  await pool.end();
  await drop();
});
afterEach(async () => {
  await pool.query("delete from customer; delete from carillon.run; delete from carillon.dedupe");
});

const mail = task({ name: "mail", queue: "mail", run: (payload: { to: string }) => payload.to });

const stored = async (): Promise<unknown> =>
  (
    await pool.query(`select (select count(*)::int from customer) as customers,
      (select count(*)::int from carillon.run) as runs, (select count(*)::int from carillon.dedupe) as keys`)
  ).rows[0];

/** A transaction of each kind: the row that it writes itself and what `work` adds stand or fall together. */
const ways: Readonly<Record<string, (work: Work) => Promise<void>>> = {
  async "node-postgres"(work) {
    const client = await pool.connect();
    try {
      await client.query("begin");
      await client.query("insert into customer values ('a')");
      await work(client);
      await client.query("commit");
    } catch (error) {
      await client.query("rollback");
      throw error;
    } finally {
      client.release();
    }
  },

  async Kysely(work) {
    const { CompiledQuery, Kysely, PostgresDialect } = peer("kysely") as KyselyModule;
    const db = new Kysely({ dialect: new PostgresDialect({ pool: new Pool({ connectionString: url, max: 1 }) }) });
    try {
      await db.transaction().execute(async (trx) => {
        await trx.insertInto("customer").values({ name: "a" }).execute();
        await work({ query: (text, values) => trx.executeQuery(CompiledQuery.raw(text, values)) });
      });
    } finally {
      await db.destroy();
    }
  },

  async Drizzle(work) {
    const { drizzle } = peer("drizzle-orm/node-postgres") as { drizzle: (options: { client: Pool }) => Drizzle };
    const { sql } = peer("drizzle-orm") as { sql: DrizzleSql };
    const client = new Pool({ connectionString: url, max: 1 });
    try {
      await drizzle({ client }).transaction(async (tx) => {
        await tx.execute(sql.raw("insert into customer values ('a')"));
        // The values stand between the parts of the text, in their order.
        const query: Tx["query"] = (text, values) =>
          tx.execute(
            sql.join(
              text
                .split(/\$\d+/)
                .flatMap((part, at) => (at === 0 ? [sql.raw(part)] : [sql.param(values[at - 1]), sql.raw(part)])),
            ),
          );
        await work({ query });
      });
    } finally {
      await client.end();
    }
  },

  async Knex(work) {
    const knex = peer("knex") as (options: object) => Knex;
    const db = knex({ client: "pg", connection: url, pool: { min: 0, max: 1 } });
    try {
      await db.transaction(async (trx) => {
        await trx.raw("insert into customer values ('a')", []);
        await work({ query: (text, values) => trx.raw(text.replace(/\$\d+/g, "?"), values) });
      });
    } finally {
      await db.destroy();
    }
  },

  async "postgres.js"(work) {
    const postgres = peer("postgres") as (url: string, options: object) => PostgresJs;
    const db = postgres(url, { max: 1, onnotice: () => undefined });
    try {
      await db.begin(async (sql) => {
        await sql.unsafe("insert into customer values ('a')", []);
        await work({ query: (text, values) => sql.unsafe(text, values) });
      });
    } finally {
      await db.end();
    }
  },
};

interface KyselyModule {
  readonly Kysely: new (options: object) => KyselyDb;
  readonly PostgresDialect: new (options: object) => object;
  readonly CompiledQuery: { raw(text: string, values: unknown[]): unknown };
}
interface KyselyDb {
  transaction(): { execute(work: (trx: KyselyDb) => Promise<void>): Promise<void> };
  insertInto(table: string): { values(row: object): { execute(): Promise<unknown> } };
  executeQuery(query: unknown): Promise<unknown>;
  destroy(): Promise<void>;
}
interface Drizzle {
  transaction(work: (tx: Drizzle) => Promise<void>): Promise<void>;
  execute(query: unknown): Promise<unknown>;
}
interface DrizzleSql {
  raw(text: string): unknown;
  param(value: unknown): unknown;
  join(parts: unknown[]): unknown;
}
interface Knex {
  transaction(work: (trx: Knex) => Promise<void>): Promise<void>;
  raw(text: string, values: unknown[]): Promise<unknown>;
  destroy(): Promise<void>;
}
interface PostgresJs {
  begin(work: (sql: PostgresJs) => Promise<void>): Promise<void>;
  unsafe(text: string, values: unknown[]): Promise<unknown>;
  end(): Promise<void>;
}

describe.each(Object.keys(ways))("a run that is enqueued in a transaction of %s", (name) => {
  const inTransaction = (work: Work): Promise<void> => ways[name]?.(work) ?? Promise.reject(new Error("unknown"));

  it("is stored if the transaction commits, and reports whether it is new", async () => {
    const options = { labels: { a: "b" }, priority: 7, dedupe: { key: "k", window: "1h" } } as const;
    const answers: unknown[] = [];
    await inTransaction(async (tx) => {
      answers.push(await app.enqueue(mail, { to: "x" }, { ...options, tx }));
      answers.push(await app.enqueue(mail, { to: "y" }, { ...options, tx }));
    });
    expect(answers).toMatchObject([{ id: expect.stringMatching(/^run_/), isNew: true }, { isNew: false }]);
    expect(await stored()).toEqual({ customers: 1, runs: 1, keys: 1 });
    const { rows } = await pool.query(
      "select r.task, queue, payload, priority, labels, window_ms::int from carillon.run r, carillon.dedupe",
    );
    expect(rows).toEqual([
      { task: "mail", queue: "mail", payload: { to: "x" }, priority: 7, labels: { a: "b" }, window_ms: 3_600_000 },
    ]);
  });

  it("is not stored if the transaction is rolled back", async () => {
    const failed = inTransaction(async (tx) => {
      await app.enqueue(mail, { to: "x" }, { dedupe: { key: "k" }, tx });
      throw new Error("the order was not placed");
    });
    await expect(failed).rejects.toThrow("the order was not placed");
    expect(await stored()).toEqual({ customers: 0, runs: 0, keys: 0 });
  });

  it("leaves the transaction usable if it is refused", async () => {
    await inTransaction(async (tx) => {
      await app.enqueue(mail, { to: "x" }, { dedupe: { key: "k" }, tx });
      const again = app.enqueue(mail, { to: "x" }, { dedupe: { key: "k", on: "reject" }, tx });
      await expect(again).rejects.toMatchObject({ code: "run_duplicate" });
    });
    expect(await stored()).toEqual({ customers: 1, runs: 1, keys: 1 });
  });
});

describe("a worker", () => {
  it("a worker gets the runs of a transaction after its commit, immediately with notify, else by its next poll", async () => {
    const seen: string[] = [];
    let onSeen = (): void => undefined;
    const listen = task({
      name: "listen",
      run: (payload: string) => {
        seen.push(payload);
        onSeen();
      },
    });
    await app.worker({ tasks: [listen], signals: false }).start();
    const client = new Client(url);
    await client.connect();
    for (const notify of [true, false]) {
      const handled = new Promise<void>((resolve) => (onSeen = resolve));
      await client.query("begin");
      await app.enqueue(listen, `notify: ${notify}`, { tx: client, notify });
      await app.enqueue("unserved", null);
      expect(seen).toHaveLength(notify ? 0 : 1);
      await client.query("commit");
      await handled;
    }
    expect(seen).toEqual(["notify: true", "notify: false"]);
    await client.end();
  });
});
