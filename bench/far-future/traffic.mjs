// The hot path and the moves, over one connection each, with the product's own statements.
import { randomBytes } from "node:crypto";
import { makeUuidV7 } from "../../packages/core/dist/index.js";
import { payload, yearMs } from "./fill.mjs";
import { take } from "./stopwatch.mjs";

const newId = makeUuidV7({ now: Date.now, randomBytes });
const owner = newId();
const horizonMs = 630_000;

const iso = (ms) => new Date(ms).toISOString();
export const farAway = () => Math.floor(Date.now() + 3_600_000 + Math.random() * (yearMs - 7_200_000));
export const now = () => Date.now() - 1_000;

/** Parameters of run.insert. */
function insertValues(count, dueAt) {
  const rows = Array.from({ length: count }, () => ({ id: newId(), at: dueAt() }));
  const all = (value) => rows.map(() => value);
  const ids = rows.map((row) => row.id);
  const times = rows.map((row) => iso(row.at));
  const shards = ids.map((id) => Number.parseInt(id.slice(-6), 16) % 1_024);
  const [ranks, ones] = [rows.map((row) => row.at), all(1)];
  const names = [all("once"), all("send_email"), all("default"), all(payload), all(null), all(null), all(null)];
  return [ids, ids, ones, shards, ones, all(4), ranks, times, times, ...names, horizonMs, all(null)];
}

/** Inserts in batches; the parameters are made before the clock runs. Answers the time of all, and of one row. */
export async function insert(client, { statements }, { size, batches, dueAt }) {
  const values = Array.from({ length: batches }, () => insertValues(size, dueAt));
  const taken = await take(client, async () => {
    for (const one of values) {
      const { rowCount } = await client.query({ name: "insert", text: statements["run.insert"], values: one });
      if (rowCount !== size) throw new Error(`${rowCount} of ${size} rows were stored`);
    }
  });
  return perRow(taken, size * batches);
}

/** Finishes the last 500 and claims the next with each statement; `count` are queued before the clock runs. */
export async function drain(client, layout, completeAndClaim, count) {
  await insert(client, layout, { size: 1_000, batches: count / 1_000, dueAt: now });
  const session = newId();
  await client.query(
    `insert into carillon.worker_session (id, namespace_id, name, queues, tasks, slots, gateway_id, started_at, heartbeat_at)
     values ($1, 1, 'bench', '{}', '{}', 1, $1, now(), now())`,
    [session],
  );
  const taken = await take(client, async () => {
    let held = [];
    for (let left = count; left > 0; left -= held.length) {
      const claimed = await finishAndClaim(client, completeAndClaim, session, held);
      if (held.length === 0 && claimed.length === 0) throw new Error("nothing was claimed");
      held = claimed;
    }
    await finishAndClaim(client, completeAndClaim, session, held);
  });
  return perRow(taken, count);
}

const places = Array.from({ length: 500 }, () => 1);

async function finishAndClaim(client, text, session, held) {
  const all = (value) => held.map(() => value);
  const ended = [
    held.map((row) => row.id),
    held.map((row) => row.fence ?? 1),
    all(session),
    all("null"),
    all(Date.now()),
  ];
  const wanted = [[session], places, 500, [1], [1], ["-9007199254740991"], [500], [false], session, 0];
  const { rows } = await client.query({ name: "complete_and_claim", text, values: [...ended, ...wanted] });
  return rows.filter((row) => row.id !== null);
}

function perRow({ ms, cpuMs }, rows) {
  return { perSecond: (rows * 1_000) / ms, cpuUs: (cpuMs * 1_000) / rows };
}

export async function takeShards(client) {
  await client.query("update carillon.shard set owner = $1, epoch = 1", [owner]);
}

/** Promotes the first `count` rows as the product does: the shards that are due first, 64 at a time, 2,000 rows in all. */
export async function promote(client, { statements }, count) {
  const from = new Map(Array.from({ length: 1_024 }, (_, shard) => [shard, 0]));
  const until = iso(Date.now() + yearMs);
  let moved = 0;
  const taken = await take(client, async () => {
    while (moved < count) {
      const first = [...from].sort(([, a], [, b]) => a - b).slice(0, 64);
      const shards = first.map(([shard]) => shard);
      const starts = first.map(([, at]) => iso(at));
      const values = [shards, shards.map(() => 1), owner, starts, until, 32];
      const { rows } = await client.query({ name: "promote", text: statements["far_future.promote"], values });
      if (rows.length === 0) throw new Error("no row was promoted");
      for (const row of rows) from.set(row.shard, Math.max(from.get(row.shard), row.run_at.getTime()));
      moved += rows.length;
    }
  });
  return { ...perRow(taken, moved), moved, from, through: Math.min(...from.values()) };
}

/** Milliseconds of the processor for one scan of all shards. */
export async function scanMs(client, { statements }, from, until) {
  const shards = Array.from({ length: 1_024 }, (_, shard) => shard);
  const values = [shards, shards.map((shard) => iso(from.get(shard) ?? 0)), iso(until)];
  return cpuMsOf(client, 9, () => client.query({ name: "scan", text: statements["far_future.scan"], values }));
}

/** Milliseconds of the processor to find one run by its id, and for the first page of a list. */
export async function readTimes(client, { statements }, stored) {
  const percent = (100 * 1_000) / stored;
  const { rows } = await client.query(
    `select id from carillon.far_future_run tablesample bernoulli (${percent}) limit 500`,
  );
  const ids = rows.map((row) => row.id);
  let next = 0;
  const find = () =>
    client.query({ name: "find", text: statements["run.find"], values: [1, [ids[next++ % ids.length]]] });
  const noFilter = [null, null, null, null, null, null, false, null, null, null, null, null];
  const values = [1, ...noFilter, null, 51, 10_000, 20_000, null];
  const page = () => client.query({ name: "list", text: statements["run.list"], values });
  return { findMs: await cpuMsOf(client, ids.length, find), listMs: await cpuMsOf(client, 30, page) };
}

/** The first calls are left out: they plan, and they bring pages into memory. */
async function cpuMsOf(client, times, work) {
  const repeat = async (count) => {
    for (let round = 0; round < count; round++) await work();
  };
  await repeat(6);
  return (await take(client, () => repeat(times))).cpuMs / times;
}
