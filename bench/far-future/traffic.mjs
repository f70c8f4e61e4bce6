// The hot path and the moves, over one connection each, with the product's own statements.
import { randomBytes } from "node:crypto";
import { makeUuidV7 } from "../../packages/core/dist/index.js";
import { payload, yearMs } from "./fill.mjs";
import { statements as loaded } from "./layouts.mjs";
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
  return loaded.get("run.insert").values({
    ids,
    jobIds: ids,
    namespaceIds: ones,
    shards,
    lanes: ones,
    priorities: all(4),
    ranks,
    runTimes: times,
    nominalTimes: times,
    triggers: all("once"),
    tasks: all("send_email"),
    queues: all("default"),
    payloads: all(payload),
    policies: all(null),
    labels: all(null),
    owners: all(null),
    horizonMs,
    deadlines: all(null),
  });
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

const slots = Array.from({ length: 500 }, () => 1);

async function finishAndClaim(client, text, session, held) {
  const all = (value) => held.map(() => value);
  const values = loaded.get("run.complete_and_claim").values({
    ids: held.map((row) => row.id),
    fences: held.map((row) => row.fence ?? 1),
    sessionIds: all(session),
    outputs: all("null"),
    startedMs: all(Date.now()),
    waitingSessionIds: [session],
    slots,
    freeSlots: 500,
    lanes: [1],
    namespaceIds: [1],
    fromRanks: ["-9007199254740991"],
    maxRuns: [500],
    solo: [false],
    gatewayId: session,
    limitsRevision: 0,
  });
  const { rows } = await client.query({ name: "complete_and_claim", text, values });
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
      const values = loaded.get("far_future.promote").values({
        shards,
        epochs: shards.map(() => 1),
        node: owner,
        startsAt: starts,
        until,
        limitPerShard: 32,
      });
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
  const startsAt = shards.map((shard) => iso(from.get(shard) ?? 0));
  const values = loaded.get("far_future.scan").values({ shards, startsAt, until: iso(until) });
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
  const find = () => {
    const values = loaded.get("run.find").values({ namespaceId: 1, ids: [ids[next++ % ids.length]] });
    return client.query({ name: "find", text: statements["run.find"], values });
  };
  const bounds = { limit: 51, maxScanned: 10_000, maxScannedOfAll: 20_000 };
  // Absent members of the filter are null.
  const list = loaded.get("run.list").values({ namespaceId: 1, oneOffOnly: false, ...bounds });
  const values = list.map((value) => value ?? null);
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
