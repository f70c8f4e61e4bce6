import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { dumpSchema } from "./dump-schema.js";
import { migrate } from "../../../src/migrations/migrate.js";
import { toMigration } from "../../../src/migrations/migration.js";
import { fileUrl, freshUrl, open, text } from "../db/support.js";

const file = fileURLToPath(new URL("../../../schema.sql", import.meta.url));

describe("schema dump", () => {
  it("schema.sql equals the schema that the migrations create (npm run schema updates it)", async () => {
    const { database } = await open({ url: await freshUrl(), poolSize: 4 });
    await migrate(database);
    const dump = await dumpSchema(database, "carillon");
    if (process.env["CARILLON_WRITE_SCHEMA"] === "1") writeFileSync(file, dump);
    expect(dump).toBe(readFileSync(file, "utf8"));
  });

  it("the dump contains objects of every known kind and no partitions", async () => {
    const { database } = await open({ url: await fileUrl(), schema: "everything", poolSize: 4 });
    const sql = `create type carillon.mood as enum ('good', 'bad');
      create sequence carillon.counter;
      create table carillon.a (
        id int generated always as identity primary key,
        n int not null default 3 check (n > 0),
        twice int generated always as (n * 2) stored,
        mood carillon.mood,
        c text collate "C"
      ) with (fillfactor = 50);
      create table carillon.p (at timestamptz not null, a_id int references carillon.a (id)) partition by range (at);
      create table carillon.p1 partition of carillon.p for values from ('2026-01-01') to ('2026-01-02');
      create index a_n on carillon.a (n) where n > 1;
      create index p_at on carillon.p (at);
      create function carillon.f() returns trigger language plpgsql as $$ begin return new; end $$;
      create trigger a_f before insert on carillon.a for each row execute function carillon.f();
      comment on table carillon.a is 'It''s a table';
      comment on column carillon.a.n is 'A number'`;
    await migrate(database, { files: [toMigration(1, "everything", sql)] });
    const dump = await dumpSchema(database, "everything");
    for (const part of [
      "create type everything.mood as enum ('good', 'bad');",
      "create sequence everything.counter;",
      "  id integer not null generated always as identity,",
      "  n integer not null default 3,",
      "  twice integer generated always as ((n * 2)) stored,",
      "  mood everything.mood,",
      '  c text collate "C",',
      "  constraint a_pkey PRIMARY KEY (id),",
      "  constraint a_n_check CHECK ((n > 0))",
      "fillfactor=50",
      "REFERENCES everything.a(id)",
      ") partition by RANGE (at);",
      "CREATE INDEX a_n ON everything.a USING btree (n) WHERE (n > 1);",
      "CREATE INDEX p_at ON ONLY everything.p USING btree (at);",
      "CREATE OR REPLACE FUNCTION everything.f()",
      "CREATE TRIGGER a_f BEFORE INSERT ON everything.a",
      "comment on table everything.a is 'It''s a table';",
      "comment on column everything.a.n is 'A number';",
    ]) {
      expect(dump).toContain(part);
    }
    expect(dump).not.toContain("p1");
  });

  it("the dump refuses a relation of an unknown kind instead of leaving it out", async () => {
    const { database } = await open({ url: await fileUrl(), schema: "viewed", poolSize: 4 });
    await database.query(text("create schema viewed; create view viewed.v as select 1"));
    await expect(dumpSchema(database, "viewed")).rejects.toThrow(/does not know relations of kind v: v/);
  });
});
