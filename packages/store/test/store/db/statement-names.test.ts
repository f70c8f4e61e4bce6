import { Pool } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { collectSources, makeStatements } from "../../../src/sql/statements.js";
import { fileUrl, open, text } from "./support.js";

const statements = makeStatements(
  collectSources(
    new Map([["t.sql", "-- name: t.add\n-- purpose: adds\n-- params: $1 int\nselect $1::int + 1 as sum"]]),
  ),
  "carillon",
);
const add = statements.get("t.add");
const lend = async (): Promise<Pool> => {
  const pool = new Pool({ connectionString: await fileUrl(), max: 1 });
  pool.on("error", () => undefined);
  onTestFinished(() => pool.end());
  return pool;
};
const prepared = text("select name from pg_prepared_statements order by name");

describe("loaded statements", () => {
  it("are sent by their prepared name on a direct connection", async () => {
    const { database } = await open({ url: await fileUrl(), poolSize: 4 });
    for (const way of [database, database.hot, database.reserved]) {
      expect((await way.query(add, [1])).rows).toEqual([{ sum: 2 }]);
      expect((await way.query(add, [2])).rows).toEqual([{ sum: 3 }]);
      expect((await way.query(prepared)).rows).toEqual([{ name: add.prepared }]);
    }
    expect(database.capabilities.preparedStatements).toBe(true);
  });

  it("are sent without a name when names are off", async () => {
    const { database } = await open({ url: await fileUrl(), poolSize: 4, statementNames: "off" });
    expect((await database.hot.query(add, [1])).rows).toEqual([{ sum: 2 }]);
    expect((await database.hot.query(prepared)).rows).toEqual([]);
    expect(database.capabilities.preparedStatements).toBe(false);
  });

  it("succeed after an application dropped all names of a session", async () => {
    const pool = await lend();
    const { database } = await open({ pool });
    for (let round = 0; round < 3; round++) {
      expect((await database.query(add, [round])).rows).toEqual([{ sum: round + 1 }]);
      await pool.query("discard all");
      await database.transaction(async (tx) =>
        expect((await tx.query(add, [round])).rows).toEqual([{ sum: round + 1 }]),
      );
    }
  });

  it("are sent without a name once names were lost too often", async () => {
    const pool = await lend();
    const { database, events } = await open({ pool });
    for (let round = 0; round < 60; round++) {
      await database.query(add, [round]);
      await pool.query("discard all");
    }
    await events.next("statement_names.off");
    expect((await database.query(prepared)).rows).toEqual([]);
  });
});
