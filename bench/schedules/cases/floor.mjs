// The floor of this machine in this run: the fires per second of the statements alone.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { result, say } from "../../report.mjs";
import { ServerProcess } from "../../server-process.mjs";
import { register } from "../workload.mjs";

/** Returns the floor and its results. */
export async function floorCase(postgres, { count }) {
  return postgres.withDatabase(async ({ url, reader }) => {
    // A node creates the schema and stops, so that only the floor fires the jobs.
    const node = await ServerProcess.start({ name: "node-0", url });
    await node.end();
    await register(url, { kind: "spread", count });
    await reader.query("vacuum analyze");
    const floor = await measureFloor(url, reader);
    const name = "floor: statements alone";
    const results = [
      result({ name, metric: "fires, one connection", unit: "fires/s", ours: floor.one, floor: floor.one }),
      result({ name, metric: "fires, two connections", unit: "fires/s", ours: floor.two, floor: floor.two }),
    ];
    return { floor, results };
  });
}

/** A fire: a compare-and-set of the due row and the insert of its run, for a batch of jobs. */

const batch = 2_000;

const fire = {
  name: "floor.fire",
  text: `
    with input as materialized (
      select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) as i (job_id, nominal_at, run_id)
    ), pick as materialized (
      select d.job_id from carillon.job_due d join input i on i.job_id = d.job_id
      where d.next_nominal_at = i.nominal_at and d.version = 1 and d.state = 'active'
      order by d.job_id for update of d skip locked
    ), moved as (
      update carillon.job_due d
      set fired_through = i.nominal_at, fired_count = d.fired_count + 1,
          next_nominal_at = i.nominal_at + interval '1 hour', next_fire_at = i.nominal_at + interval '1 hour'
      from pick p join input i on i.job_id = p.job_id where d.job_id = p.job_id
    )
    insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                              trigger, task, queue, payload)
    select i.run_id, j.id, j.namespace_id, j.shard, j.lane, 'queued', j.priority, 0, i.nominal_at, i.nominal_at,
           clock_timestamp(), 'schedule', j.task, j.queue, j.payload
    from pick p join input i on i.job_id = p.job_id join carillon.job j on j.id = p.job_id`,
};

/** Fires per second with one connection and with two. The database must contain the jobs. */
async function measureFloor(url, reader) {
  const one = await drain(url, reader, 1);
  await sleep(2_000);
  const two = await drain(url, reader, 2);
  say(`floor: ${Math.round(one)} fires/s with one connection, ${Math.round(two)} with two`);
  return { one, two };
}

async function drain(url, reader, connections) {
  await reader.query("delete from carillon.run");
  const { rows } = await reader.query("select job_id, next_nominal_at from carillon.job_due order by shard, job_id");
  const batches = [];
  for (let first = 0; first < rows.length; first += batch) {
    const part = rows.slice(first, first + batch);
    const nominals = part.map((row) => row.next_nominal_at.toISOString());
    batches.push([part.map((row) => row.job_id), nominals, part.map(() => randomUUID())]);
  }
  const clients = Array.from({ length: connections }, () => new Client({ connectionString: url }));
  for (const client of clients) await client.connect();
  const begin = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      for (let values = batches.pop(); values !== undefined; values = batches.pop())
        await client.query({ ...fire, values });
    }),
  );
  const seconds = (performance.now() - begin) / 1_000;
  for (const client of clients) await client.end();
  return rows.length / seconds;
}
