// Executes only the statement that completes, archives and claims: 500 runs per call over two connections, payloads of about 200 bytes.
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { loadStatements, migrate, openDatabase } from "../../packages/engine/dist/index.js";
import { systemClock, systemRandom, systemTimers } from "../../packages/core/dist/index.js";

const batch = 500;
const claimStatement = loadStatements("carillon").get("run.complete_and_claim");
const current = { changes: [], statement: (text) => text };

async function prepare(url, client, { layout, rows }) {
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  await migrate(database);
  await database.close();
  await client.query("create table carillon.run_history_all partition of carillon.run_history default");
  for (const text of layout.changes) await client.query(text);
  await client.query("insert into carillon.lane (queue, task) values ('q', 't')");
  await client.query(
    `insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                               trigger, task, queue, payload)
     select u, u, 1, g % 1024, 1, 'queued', 4, g, now(), now(), now(), 'once', 't', 'q', $2::json
     from (
       select (lpad(to_hex(g), 12, '0') || '7' || left(md5(g::text), 19))::uuid as u, g from generate_series(1, $1::int) g
     ) x`,
    [rows, JSON.stringify({ data: "x".repeat(180) })],
  );
}

/** With the settings of Carillon's own connections. */
async function connect(url) {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("set enable_seqscan = off");
  return client;
}

/** Completes the previous batch and claims the next one with each call, until no run is left. Returns the number of completed runs. */
async function drain(client, text, session) {
  const queueSlots = Array.from({ length: batch }, () => 1);
  let held = [];
  let low = -1;
  for (let ended = 0; ; ended += held.length) {
    const all = (value) => held.map(() => value);
    const values = claimStatement.values({
      ids: held.map((row) => row.id),
      fences: held.map((row) => row.fence ?? 1),
      sessionIds: all(session),
      outputs: all("null"),
      startedMs: all(Date.now()),
      waitingSessionIds: [session],
      slots: queueSlots,
      freeSlots: batch,
      lanes: [1],
      namespaceIds: [1],
      fromRanks: [low],
      maxRuns: [batch],
      solo: [false],
      gatewayId: session,
      limitsRevision: 0,
    });
    const { rows } = await client.query({ name: "complete_and_claim", text, values });
    const claimed = rows.filter((row) => row.id !== null);
    if (claimed.length + held.length === 0) return ended;
    for (const row of claimed) low = Math.max(low, Number(row.rank));
    held = claimed;
  }
}

/** Runs per second, and CPU time of PostgreSQL per run, with the table and the statement of a layout. */
export async function measureStatement(postgres, { rows, layout = current }) {
  return postgres.withDatabase(async ({ url, reader }) => {
    await prepare(url, reader, { layout, rows });
    const session = randomUUID();
    await reader.query(
      `insert into carillon.worker_session (id, namespace_id, name, queues, tasks, slots, gateway_id, started_at, heartbeat_at)
       values ($1, 1, 'bench', '{}', '{}', 1, $1, now(), now())`,
      [session],
    );
    const clients = await Promise.all([connect(url), connect(url)]);
    const cpu = postgres.cpuSeconds();
    const begin = performance.now();
    const text = layout.statement(claimStatement.text);
    const parts = await Promise.all(clients.map((client) => drain(client, text, session)));
    const ended = parts.reduce((sum, part) => sum + part);
    const seconds = (performance.now() - begin) / 1_000;
    if (ended !== rows) throw new Error(`${ended} of ${rows} runs ended`);
    const cpuUs = ((postgres.cpuSeconds() - cpu) * 1e6) / rows;
    for (const client of clients) await client.end();
    return { rate: rows / seconds, cpuUs };
  });
}
