import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { type FreshDatabase, freshDatabase } from "../../src/index.js";

async function query(url: string, text: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const tables = "select count(*)::int as tables from pg_tables where schemaname = 'carillon'";

describe("a fresh database", () => {
  it("a fresh database is empty and not shared", async () => {
    const [one, other] = await Promise.all([freshDatabase(), freshDatabase()]);
    await query(one.url, "create table mine ()");
    expect(await query(other.url, "select from pg_tables where tablename = 'mine'")).toEqual([]);
    expect(await query(other.url, tables)).toEqual([{ tables: 0 }]);
    await Promise.all([one.drop(), other.drop()]);
  });

  it("a fresh database has the newest schema if requested, for concurrent requests too", async () => {
    const made = await Promise.all(Array.from({ length: 4 }, () => freshDatabase({ migrated: true })));
    const counts = await Promise.all(made.map(({ url }) => query(url, tables)));
    expect(new Set(counts.map((rows) => JSON.stringify(rows))).size).toBe(1);
    expect(counts[0]).not.toEqual([{ tables: 0 }]);
    await Promise.all(made.map(({ drop }) => drop()));
  });

  it("is dropped under open sessions, and twice without harm", async () => {
    const database: FreshDatabase = await freshDatabase();
    const client = new Client({ connectionString: database.url });
    const ended = new Promise((resolve) => client.on("error", resolve));
    await client.connect();
    await database.drop();
    expect(await ended).toMatchObject({ code: "57P01" });
    await database.drop();
    await expect(query(database.url, "select 1")).rejects.toMatchObject({ code: "3D000" });
  });
});
