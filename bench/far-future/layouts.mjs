// Layouts of far_future_run: as the product has it, and partitioned by due time.
import { loadStatements } from "../../packages/engine/dist/index.js";
import { pickLines } from "../../packages/store/dist/sql/statements.js";

const dayMs = 86_400_000;
export const statements = loadStatements("carillon");
/** Of the list the lines for the newest runs first; the other statements have no optional lines. */
const textOf = (name) => pickLines(statements.get(name), "newest_first").text;

const sameRow =
  "(far_future_run.namespace_id, far_future_run.id, far_future_run.run_at) = (locked.namespace_id, locked.id, locked.run_at)";

/** A statement of the product with parts of its text replaced. */
function changed(name, ...replacements) {
  return replacements.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${name} does not contain: ${from}`);
    return text.replace(from, to);
  }, textOf(name));
}

/** As migrated. */
const plain = {
  name: "one table",
  prepare: async () => {},
  statements: Object.fromEntries(
    ["run.insert", "run.list", "far_future.scan", "far_future.promote", "run.find"].map((name) => [name, textOf(name)]),
  ),
  drop: null,
};

const promoteByKey = changed(
  "far_future.promote",
  ["select first_runs.tuple_id\n", "select first_runs.*\n"],
  ["ctid as tuple_id", "namespace_id, id, run_at"],
  [
    "where ctid = any (array(select tuple_id from locked)) returning *",
    `using locked where ${sameRow} returning far_future_run.*`,
  ],
);

/** A unique key must contain the due time, and a row's place says nothing without its partition. */
const partitioned = (name, days) => ({
  name,
  prepare: async (client) => {
    await client.query("drop table carillon.far_future_run");
    await client.query(`
      create table carillon.far_future_run (
        id uuid not null, run_at timestamptz not null, created_at timestamptz not null, rank bigint not null,
        namespace_id int not null, lane int not null, shard smallint not null, priority smallint not null,
        payload json, policy json, labels jsonb, owner text, deadline_at timestamptz, primary key (namespace_id, id, run_at)
      ) partition by range (run_at);
      create index far_future_run_due on carillon.far_future_run (shard, run_at);`);
    for (let part = 0; part * days < 367; part++) {
      const [from, to] = [part, part + 1].map((n) => new Date(today() + n * days * dayMs).toISOString());
      await client.query(
        `create table carillon.far_future_run_${part} partition of carillon.far_future_run for values from ('${from}') to ('${to}')`,
      );
    }
  },
  statements: {
    ...plain.statements,
    "run.insert": changed("run.insert", ["on conflict (namespace_id, id) do nothing", "on conflict do nothing"]),
    "far_future.promote": promoteByKey,
  },
  /** Drops the partitions that end before an instant. */
  drop: async (client, before) => {
    const whole = Math.floor((before - today()) / (days * dayMs));
    for (let part = 0; part < whole; part++) await client.query(`drop table carillon.far_future_run_${part}`);
  },
});

function today() {
  return Math.floor(Date.now() / dayMs) * dayMs;
}

export const layouts = { plain, byDay: partitioned("by due day", 1), byMonth: partitioned("by due month", 31) };
