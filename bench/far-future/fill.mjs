// One-off jobs with a payload of 200 bytes, due at random within a year, made by the server itself.
import { Client } from "pg";

export const payload = JSON.stringify({ text: "x".repeat(189) });
export const yearMs = 365 * 86_400_000;

const far = `
  select uuidv7() as id, $3::timestamptz + random() * ($4::timestamptz - $3::timestamptz) as run_at,
         (random() * 1023)::smallint as shard
  from generate_series(1, $1::int)`;

const into = {
  far_future_run: `insert into carillon.far_future_run (id, run_at, created_at, rank, namespace_id, lane, shard, priority, payload)
    select id, run_at, clock_timestamp(), extract(epoch from run_at)::bigint * 1000, 1, 1, shard, 4, $2::json from (${far}) as f`,
  run: `insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                                  trigger, task, queue, payload)
    select id, id, 1, shard, 1, 'scheduled', 4, extract(epoch from run_at)::bigint * 1000, run_at, run_at, clock_timestamp(),
           'once', 'send_email', 'default', $2::json from (${far}) as f`,
};

/** Due from an hour on, so that all of them belong into far_future_run. Over two connections, 50,000 rows at a time, which is how an index grows in real life: at random places. */
export async function fill(url, table, rows, from = Date.now() + 3_600_000) {
  const per = Math.min(50_000, rows);
  const span = [new Date(from), new Date(Date.now() + yearMs - 86_400_000)];
  let left = rows;
  const feed = async () => {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    await client.connect();
    while (left > 0) {
      left -= per;
      await client.query(into[table], [per, payload, ...span]);
    }
    await client.end();
  };
  await Promise.all([feed(), feed()]);
}

/** Bytes of a table and of each of its indexes, partitions included. */
export async function sizeOf(client, table) {
  const { rows } = await client.query(
    `with parts as (select relid from pg_partition_tree($1::regclass) where isleaf
                    union select $1::regclass)
     select coalesce(sum(pg_table_size(relid)), 0)::float8 as heap, coalesce(sum(pg_indexes_size(relid)), 0)::float8 as indexes
     from parts`,
    [`carillon.${table}`],
  );
  const { heap, indexes } = rows[0];
  return { heap, indexes, all: heap + indexes };
}
