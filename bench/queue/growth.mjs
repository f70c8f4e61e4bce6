// Compares drains and single enqueues with an empty database and with one that has ten million runs in history and a million schedules
// that are not due.
import { median, say } from "../report.mjs";
import { register } from "../schedules/workload.mjs";
import { drainOnce } from "./cases.mjs";
import { rateResult } from "./results.mjs";
import { vacuumAnalyze } from "./systems.mjs";

const perInsert = 1_000_000;
const farAwayMs = 12 * 3_600_000;

export async function growth(runner, ours, { history, schedules, count, rounds }) {
  const empty = await measure(runner, ours, { count, rounds });
  const full = await measure(runner, ours, { count, rounds, fill: (place) => fill(place, { history, schedules }) });
  const name = `${history.toLocaleString("en")} in history, ${schedules.toLocaleString("en")} schedules`;
  const line = (metric, before, after) => [
    rateResult(name, `${metric}, empty`, { ours: before, peers: {} }),
    rateResult(name, `${metric}, full`, { ours: after, peers: {} }, { atLeast: before * 0.9 }),
  ];
  return [
    ...line("drain by 2 processes", empty.drain, full.drain),
    ...line("enqueue by 50 single callers", empty.single, full.single),
  ];
}

async function measure(runner, ours, { count, rounds, fill: prepare = async () => undefined }) {
  return runner.with(ours, async (place) => {
    await prepare(place);
    const workers = [await place.start(), await place.start()];
    const drains = [];
    const singles = [];
    for (let round = 0; round < rounds; round++) {
      drains.push(await drainOnce(place, ours, workers, { count }));
      singles.push((count / (await place.first.call("singles", { callers: 50, count }))) * 1_000);
      await drainOnce(place, ours, workers, { count, isLoaded: true });
    }
    return { drain: median(drains), single: median(singles) };
  });
}

/** Puts all of history into one day, which is worse than what retention leaves. */
async function fill({ reader, url }, { history, schedules }) {
  for (let first = 0; first < history; first += perInsert) {
    const size = Math.min(perInsert, history - first);
    await reader.query(
      `insert into carillon.run_history (id, job_id, namespace_id, status, priority, run_at, nominal_at, created_at, trigger, task,
                                         queue, payload, attempt, losses, fence, started_at, finished_at, output)
       select u, u, 1, 'succeeded', 4, now(), now(), now(), 'once', 'noop', 'default', $2::json, 1, 0,
              1, now(), now(), 'null'
       from (
         select (lpad(to_hex(g), 12, '0') || '7' || left(md5(g::text), 19))::uuid as u
         from generate_series($3::int, $3::int + $1::int - 1) as g
       ) as ids`,
      [size, JSON.stringify({ data: "x".repeat(160) }), first + 1],
    );
    say(`history: ${(first + size).toLocaleString("en")} runs`);
  }
  const { ms } = await register(url, { kind: "instant", count: schedules, at: Date.now() + farAwayMs });
  say(`${schedules.toLocaleString("en")} schedules registered in ${Math.round(ms)} ms`);
  await vacuumAnalyze(url);
}
