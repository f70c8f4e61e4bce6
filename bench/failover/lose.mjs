// Loses one of two nodes repeatedly and reads from the rows how long the interruption lasted.
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "../report.mjs";
import { ServerProcess } from "../server-process.mjs";

/** Due every second; enough that about half of them are in the shards that move. */
const jobs = 100;
const pollMs = 20;
/** The passes of a node are one second apart; the loss happens at a random moment between them. */
const passIntervalMs = 1_000;

/** Returns for each loss the milliseconds until all shards were owned again, and until the first fire of a moved shard. */
export async function measureLosses(postgres, scenario, times) {
  return postgres.withDatabase(async ({ url: direct, reader }) => {
    const { url, settings, stop } = await scenario.between(direct);
    const start = (name) => ServerProcess.start({ name, url, settings: { "worker-slots": 20, ...settings } });
    const survivor = await start("survivor");
    const losses = [];
    try {
      await register(survivor.url);
      for (let time = 1; time <= times; time++) losses.push(await loseOne({ reader, scenario, start, time }));
    } finally {
      await survivor.end();
      await stop();
    }
    return losses;
  });
}

async function register(url) {
  const body = JSON.stringify({ task: "echo", schedule: { cron: "* * * * * *" } });
  for (let count = 0; count < jobs; count++) {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/v1/jobs`, { method: "POST", headers, body });
    if (answer.status !== 201) throw new Error(`a job was refused: ${answer.status} ${await answer.text()}`);
  }
}

async function loseOne({ reader, scenario, start, time }) {
  const name = `victim-${time}`;
  const victim = await start(name);
  try {
    const moved = await untilBalanced(reader, name);
    await sleep(Math.random() * passIntervalMs);
    const lostAt = Date.now();
    await scenario.lose(victim);
    const { first, last } = await untilOwned(reader, moved);
    const ownedMs = last - lostAt;
    const firedMs = (await untilFired(reader, moved, first)) - lostAt;
    say(
      `${scenario.name} ${time}: ${Math.round(ownedMs)} ms until owned, ${Math.round(firedMs)} ms until the first fire`,
    );
    return { ownedMs, firedMs };
  } finally {
    await victim.end("SIGKILL");
  }
}

/** Resolves with the ids of the victim's shards when it has owned half of them for several heartbeats of all nodes. */
async function untilBalanced(reader, name) {
  const mine = "select s.id from carillon.shard s join carillon.node n on n.id = s.owner where n.name = $1";
  const heartbeats = "select string_agg(heartbeat_at::text, ' ' order by id) as seen from carillon.node";
  for (let passes = 0, last = ""; ; await sleep(pollMs)) {
    const shards = (await reader.query(mine, [name])).rows.map(({ id }) => id);
    if (shards.length !== 512) continue;
    const { seen } = (await reader.query(heartbeats)).rows[0];
    if (seen !== last) passes += 1;
    last = seen;
    if (passes >= 8) return shards;
  }
}

/** When the first and the last of these shards got their new owner, by the commits of their rows. */
async function untilOwned(reader, moved) {
  const owned = `
    select count(*)::int as count,
      extract(epoch from min(pg_xact_commit_timestamp(s.xmin)))::float8 * 1000 as first,
      extract(epoch from max(pg_xact_commit_timestamp(s.xmin)))::float8 * 1000 as last
    from carillon.shard s join carillon.node n on n.id = s.owner
    where s.id = any ($1) and n.name = 'survivor'`;
  for (;;) {
    const { count, first, last } = (await reader.query(owned, [moved])).rows[0];
    if (count === moved.length) return { first, last };
    await sleep(pollMs);
  }
}

/** When the new owner created the first run for a job of these shards. */
async function untilFired(reader, moved, ownedAt) {
  const fired = `
    select extract(epoch from min(r.created_at))::float8 * 1000 as at
    from (
      select job_id, created_at from carillon.run union all select job_id, created_at from carillon.run_history
    ) r join carillon.job_due d on d.job_id = r.job_id
    where d.shard = any ($1) and r.created_at > $2`;
  for (;;) {
    const { at } = (await reader.query(fired, [moved, new Date(ownedAt)])).rows[0];
    if (at !== null) return at;
    await sleep(pollMs);
  }
}
