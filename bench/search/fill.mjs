// A history as after years of use: a partition per day, a few common tasks and many rare ones, owners, labels, failures, runs that were
// created weeks ahead, a large namespace, a small one and a tiny one.

const dayMs = 86_400_000;
const sessions = 100;
const recurring = 1_000;
export const ownerCount = 5_000;
export const teamCount = 50;

/** A UUIDv7 with this time, whose other bits are derived from a text. */
const uuidAt = (ms, text) =>
  `(lpad(to_hex(floor(${ms})::bigint), 12, '0') || '7' || substr(md5(${text}), 1, 3) || '8' || substr(md5(${text}), 5, 15))::uuid`;

async function makeIds(client, { prefix, count, beginMs }) {
  const { rows } = await client.query(
    `select ${uuidAt("$1::float8", `'${prefix}' || n`)} as id from generate_series(1, $2::int) n`,
    [beginMs, count],
  );
  return rows.map((row) => row.id);
}

/** `connect` opens another connection. Two connections load one day each at a time. */
export async function fillHistory(client, { rows, days, connect, say }) {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const beginMs = today - days * dayMs;
  const sessionIds = await makeIds(client, { prefix: "s", count: sessions, beginMs });
  const oldSessionIds = await makeIds(client, { prefix: "o", count: sessions, beginMs: today - (days / 2) * dayMs });
  const jobIds = await makeIds(client, { prefix: "j", count: recurring, beginMs });
  await client.query(
    "insert into carillon.lane (queue, task) select 'default', 'task_' || n from generate_series(0, 49) n",
  );
  await client.query("insert into carillon.lane (queue, task) values ('rare', 'task_rare')");
  const indexes = await readIndexes(client);
  const perDay = Math.ceil(rows / days);
  const plan = { beginMs, perDay, stepMs: dayMs / perDay, sessionIds, oldSessionIds, jobIds, indexes };
  const pendingDays = Array.from({ length: days }, (_, day) => day);
  let done = 0;
  const load = async () => {
    const loader = await connect();
    await loader.query("set synchronous_commit = off; set maintenance_work_mem = '256MB'; set work_mem = '64MB'");
    for (let day = pendingDays.shift(); day !== undefined; day = pendingDays.shift()) {
      await loadDay(loader, day, plan);
      done += 1;
      if (done % Math.ceil(days / 20) === 0) say(`history: ${(done * perDay).toLocaleString("en")} runs, ${done} days`);
    }
    await loader.end();
  };
  await Promise.all([load(), load()]);
  await client.query(
    "insert into carillon.search_path (namespace_id, path) select id, 'customer.id' from carillon.namespace",
  );
  return { rows, jobIds, sessionIds, oldSessionIds, endMs: today, days };
}

/** Functions that write the index definitions of the history for the table of a day. */
async function readIndexes(client) {
  const { rows } = await client.query(
    "select indexdef from pg_indexes where schemaname = 'carillon' and tablename = 'run_history' order by indexname",
  );
  return rows.map(
    ({ indexdef }) =>
      (table) =>
        indexdef.replace(/^CREATE INDEX \S+ ON ONLY \S+/, `create index on ${table}`),
  );
}

/** Loads a separate table, which gets its rows and indexes before it is attached as a partition. */
async function loadDay(loader, day, { beginMs, perDay, stepMs, sessionIds, oldSessionIds, jobIds, indexes }) {
  const from = new Date(beginMs + day * dayMs);
  const to = new Date(from.getTime() + dayMs);
  const table = `carillon.run_history_${from.toISOString().slice(0, 10).replaceAll("-", "")}`;
  await loader.query("begin");
  await loader.query(`create table ${table} (like carillon.run_history including defaults including constraints)`);
  const range = [day * perDay, (day + 1) * perDay - 1];
  await loader.query(insertText(table), [...range, beginMs, stepMs, sessionIds, jobIds, oldSessionIds]);
  for (const index of indexes) await loader.query(index(table));
  await loader.query("commit");
  await loader.query(
    `alter table carillon.run_history attach partition ${table} for values from ('${from.toISOString()}') to ('${to.toISOString()}')`,
  );
  await loader.query(`vacuum (analyze) ${table}`);
}

/**
 * Row n ends at its place in time and was created just before; one of a hundred was created up to 30 days before. All values are derived
 * from n, so that the cases know which rows exist.
 */
function insertText(table) {
  return `insert into ${table} (id, job_id, namespace_id, status, priority, run_at, nominal_at, created_at, trigger, task, queue, payload,
            labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output)
    select r.id, case when r.n % 10 < 3 then ($6::uuid[])[1 + r.n / 10 % ${recurring}] else r.id end,
           case when r.n % 1000 = 999 then 2 when r.n % 1000000 = 17 then 3 else 1 end,
           case when r.n % 100 = 7 then 'failed' when r.n % 200 = 11 then 'cancelled' else 'succeeded' end,
           4, r.at, r.at, to_timestamp(r.created_ms / 1000),
           case when r.n % 10 < 3 then 'schedule' when r.n % 500 = 13 then 'run_now:x' else 'once' end,
           case when r.n % 100000 = 5 then 'task_rare' when r.n % 2 = 0 then 'task_0' else 'task_' || r.n / 2 % 50 end,
           case when r.n % 100000 = 5 then 'rare' else 'default' end,
           ('{"n":' || r.n || ',"text":"' || repeat('x', 150) || '"}')::json,
           case when r.n % 5 = 0 then jsonb_build_object('team', 't' || r.n / 5 % ${teamCount}, 'order', r.n::text)
                when r.n % 10 = 1 then jsonb_build_object('$.customer.id', (r.n / 10 % 20000)::text) end,
           case when r.n % 10 in (2, 5) then 'u' || r.n / 10 % ${ownerCount} end,
           1, 0, 1,
           case when r.n % 3000 = 19 and r.created_ms between s.begin_ms and s.begin_ms + ${dayMs}
                then ($7::uuid[])[1 + r.n / 3000 % ${sessions}] else ($5::uuid[])[1 + r.n % ${sessions}] end,
           r.at, r.at + $4::float8 * interval '0.5 milliseconds', 'null'
    from (
      select n, to_timestamp(($3::float8 + n * $4::float8) / 1000) as at, m.created_ms, ${uuidAt("m.created_ms", "n::text")} as id
      from generate_series($1::int, $2::int) n
      cross join lateral (
        select $3::float8 + n * $4::float8 - case when n % 100 = 50 then n / 100 % 30 * ${dayMs}::float8 else 0 end as created_ms
      ) m
    ) r
    cross join (
      select ('x' || substr(replace(($7::uuid[])[1]::text, '-', ''), 1, 12))::bit(48)::bigint::float8 as begin_ms
    ) s`;
}

export async function fillJobs(client, { count, say }) {
  await client.query(
    `insert into carillon.job (id, namespace_id, shard, lane, key, task, queue, priority, payload, schedule, labels, owner, created_at, updated_at)
     select ${uuidAt("1700000000000::float8 + n", "'k' || n")}, 1, n % 1024, 1, 'job-' || n,
            case when n % 10000 = 5 then 'task_rare' when n % 2 = 0 then 'task_0' else 'task_' || n / 2 % 50 end,
            case when n % 10000 = 5 then 'rare' else 'default' end, 4, '{}', '{"kind":"every","everyMs":86400000,"startsAt":0}',
            jsonb_build_object('team', 't' || n % ${teamCount}, 'order', n::text),
            case when n % 10 = 2 then 'u' || n / 10 % ${ownerCount} end, now(), now()
     from generate_series(1, $1::int) n`,
    [count],
  );
  await client.query(
    `insert into carillon.job_due (job_id, namespace_id, shard, class, state, version, next_nominal_at, next_fire_at)
     select id, 1, shard, 1, 'active', 1, now() + interval '1 day', now() + interval '1 day' from carillon.job`,
  );
  await client.query("vacuum (analyze) carillon.job, carillon.job_due");
  say(`${count.toLocaleString("en")} jobs`);
}
