// History as years of use leave it: 14 days, a few common tasks and many rare ones, some owners, labels, failures, two namespaces.

const days = 14;
const dayMs = 86_400_000;
const sessions = 100;
const recurring = 1_000;
export const ownerCount = 5_000;
export const teamCount = 50;

/** A UUIDv7 of a time, with what follows made from a number. */
const uuidAt = (ms, number) =>
  `(lpad(to_hex(floor(${ms})::bigint), 12, '0') || '7' || substr(md5((${number})::text), 1, 3) || '8' || substr(md5((${number})::text), 5, 15))::uuid`;

async function idsOf(reader, { prefix, count, beginMs }) {
  const { rows } = await reader.query(
    `select ${uuidAt("$1::float8", `'${prefix}' || n`)} as id from generate_series(1, $2::int) n`,
    [beginMs, count],
  );
  return rows.map((row) => row.id);
}

/** One day at a time into a table of its own, which gets its indexes when it becomes a partition. */
export async function fillHistory(reader, { rows, say }) {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const beginMs = today - days * dayMs;
  const sessionIds = await idsOf(reader, { prefix: "s", count: sessions, beginMs });
  const jobIds = await idsOf(reader, { prefix: "j", count: recurring, beginMs });
  await reader.query("set synchronous_commit = off");
  await reader.query("set maintenance_work_mem = '512MB'");
  await reader.query(
    "insert into carillon.lane (queue, task) select 'default', 'task_' || n from generate_series(0, 49) n",
  );
  await reader.query("insert into carillon.lane (queue, task) values ('rare', 'task_rare')");
  const perDay = Math.ceil(rows / days);
  for (let day = 0; day < days; day++) {
    const from = new Date(beginMs + day * dayMs);
    const table = `carillon.run_history_${from.toISOString().slice(0, 10).replaceAll("-", "")}`;
    await reader.query(`create table ${table} (like carillon.run_history including defaults including constraints)`);
    await reader.query(insertText(table), [
      day * perDay,
      (day + 1) * perDay - 1,
      beginMs,
      (dayMs * days) / (perDay * days),
      sessionIds,
      jobIds,
    ]);
    const to = new Date(from.getTime() + dayMs);
    await reader.query(
      `alter table carillon.run_history attach partition ${table} for values from ('${from.toISOString()}') to ('${to.toISOString()}')`,
    );
    say(`history: ${((day + 1) * perDay).toLocaleString("en")} runs`);
  }
  await reader.query(
    "insert into carillon.search_path (namespace_id, path) select id, 'customer.id' from carillon.namespace",
  );
  return { rows, jobIds, sessionIds, endMs: today };
}

/** Row n is made and ends at its place in time. Every figure follows from n, so that the cases know what is there. */
function insertText(table) {
  return `insert into ${table} (id, job_id, namespace_id, status, priority, run_at, nominal_at, created_at, trigger, task, queue, payload,
            labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output)
    select r.id, case when r.n % 10 < 3 then ($6::uuid[])[1 + r.n / 10 % ${recurring}] else r.id end,
           case when r.n % 1000 = 999 then 2 else 1 end,
           case when r.n % 100 = 7 then 'failed' when r.n % 200 = 11 then 'cancelled' else 'succeeded' end,
           4, r.at, r.at, r.at,
           case when r.n % 10 < 3 then 'schedule' when r.n % 500 = 13 then 'run_now:x' else 'once' end,
           case when r.n % 100000 = 5 then 'task_rare' when r.n % 2 = 0 then 'task_0' else 'task_' || r.n / 2 % 50 end,
           case when r.n % 100000 = 5 then 'rare' else 'default' end,
           json_build_object('n', r.n, 'text', repeat('x', 150)),
           case when r.n % 5 = 0 then jsonb_build_object('team', 't' || r.n / 5 % ${teamCount}, 'order', r.n::text)
                when r.n % 10 = 1 then jsonb_build_object('$.customer.id', (r.n / 10 % 20000)::text) end,
           case when r.n % 10 in (2, 5) then 'u' || r.n / 10 % ${ownerCount} end,
           1, 0, 1, ($5::uuid[])[1 + r.n % ${sessions}], r.at, r.at + $4::float8 * interval '0.5 milliseconds', 'null'
    from (
      select n, to_timestamp(($3::float8 + n * $4::float8) / 1000) as at, ${uuidAt("$3::float8 + n * $4::float8", "n")} as id
      from generate_series($1::int, $2::int) n
    ) r`;
}

export async function fillJobs(reader, { count, say }) {
  await reader.query(
    `insert into carillon.job (id, namespace_id, shard, lane, key, task, queue, priority, payload, schedule, labels, owner, created_at, updated_at)
     select ${uuidAt("1700000000000::float8 + n", "'k' || n")}, 1, n % 1024, 1, 'job-' || n,
            case when n % 10000 = 5 then 'task_rare' when n % 2 = 0 then 'task_0' else 'task_' || n / 2 % 50 end,
            case when n % 10000 = 5 then 'rare' else 'default' end, 4, '{}', '{"kind":"every","everyMs":86400000,"startsAt":0}',
            jsonb_build_object('team', 't' || n % ${teamCount}, 'order', n::text),
            case when n % 10 = 2 then 'u' || n / 10 % ${ownerCount} end, now(), now()
     from generate_series(1, $1::int) n`,
    [count],
  );
  await reader.query(
    `insert into carillon.job_due (job_id, namespace_id, shard, class, state, version, next_nominal_at, next_fire_at)
     select id, 1, shard, 1, 'active', 1, now() + interval '1 day', now() + interval '1 day' from carillon.job`,
  );
  say(`${count.toLocaleString("en")} jobs`);
}
