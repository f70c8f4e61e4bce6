// The measurements of one system. Each returns figures by name; bench.mjs compares them.
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "../report.mjs";
import { steadyMs } from "./child-process.mjs";
import { vacuumAnalyze } from "./systems.mjs";

const rateOf = (count, ms) => (count / ms) * 1_000;

/** Enqueues in bulk, and with 50 callers that each have one call in flight. */
export async function enqueue(runner, system, { bulk, singles }) {
  return runner.with(system, async ({ first }) => {
    await first.call("singles", { callers: 50, count: 500 });
    const single = rateOf(singles, await first.call("singles", { callers: 50, count: singles }));
    const many = rateOf(bulk, await first.call("load", { count: bulk }));
    say(`${system.name}: enqueue ${Math.round(single)} single, ${Math.round(many)} bulk`);
    return { single, bulk: many };
  });
}

/** Runs that are drained before the measurement: a system in use has warm code. */
export const drainWarmUpRuns = 20_000;

/**
 * Loads the runs, then lets so many warm processes drain them. Returns runs per second, from the start of the workers to the last run. With
 * `isUntouched` the tables are neither vacuumed nor analyzed after the load: autovacuum, which would do so at a random moment, is off.
 */
export async function drain(runner, system, { processes, isUntouched = false, ...options }) {
  return runner.with(system, async (place) => {
    const workers = [];
    while (workers.length < processes) workers.push(await place.start());
    const measure = async () => {
      await drainOnce(place, system, workers, { count: drainWarmUpRuns });
      return drainOnce(place, system, workers, options);
    };
    if (!isUntouched || place.reader === null) return measure();
    await setAutovacuum(place.reader, "off");
    try {
      return await measure();
    } finally {
      await setAutovacuum(place.reader, "on");
    }
  });
}

async function setAutovacuum(reader, value) {
  await reader.query(`alter system set autovacuum = ${value}`);
  await reader.query("select pg_reload_conf()");
}

export async function drainOnce(place, system, workers, { count, isLoaded = false, analysed = false, before }) {
  const { first, url } = place;
  if (!isLoaded) await first.call("load", { count });
  await sleep(500);
  if (analysed) await vacuumAnalyze(url);
  const after = (await before?.(place)) ?? (() => undefined);
  const begin = steadyMs();
  await Promise.all(workers.map((worker) => worker.call("work", { slots: system.slots, aim: "throughput" })));
  const lastAt = await untilDone(workers, count);
  const rate = rateOf(count, lastAt - begin);
  await Promise.all(workers.map((worker) => worker.call("stopWork")));
  await after();
  say(`${system.name}: drain by ${workers.length}${analysed ? ", analysed" : ""}: ${Math.round(rate)}/s`);
  return rate;
}

async function untilDone(workers, count, maxQuietMs = 60_000) {
  let last = -1;
  for (let quietMs = 0; quietMs < maxQuietMs; quietMs += 50) {
    await sleep(50);
    const counts = await Promise.all(workers.map((worker) => worker.call("counts")));
    const done = counts.reduce((sum, one) => sum + one.done, 0);
    if (done >= count) return Math.max(...counts.map((one) => one.lastAt));
    if (done !== last) [last, quietMs] = [done, 0];
  }
  throw new Error(`only ${last} of ${count} runs were executed`);
}

/**
 * Calls that are made before the measured ones. V8 recompiles the code of a call at about the 512th call, all at once: among 500 calls after
 * too short a warm-up, one always includes that, for every system.
 */
export const latencyWarmUp = { rate: 200, ms: 5_000 };

/** Time from an enqueue call to the start of its handler in another process, at a steady rate. */
export async function latency(runner, system, { rate, ms }) {
  return runner.with(system, async ({ start, first }) => {
    const worker = await start();
    await worker.call("work", { slots: system.slots, aim: "latency" });
    await first.call("pace", latencyWarmUp);
    await sleep(500);
    await worker.call("lateness");
    for (const child of [first, worker]) await child.call("pauses");
    const sent = await first.call("pace", { rate, ms });
    await sleep(1_000);
    const [callers, workers] = [await first.call("pauses"), await worker.call("pauses")];
    const figures = quantiles(await worker.call("lateness"));
    const sustained = rateOf(sent.made, sent.ms);
    say(`${system.name}: ${rate}/s, sustained ${Math.round(sustained)}: ${describe(figures)}`);
    say(`  garbage collections: caller ${describePauses(callers)}, worker ${describePauses(workers)}`);
    return { ...figures, sustained, lost: sent.made - figures.count };
  });
}

/** Lateness of delayed runs that are due at one instant or spread over a time. */
export async function delayed(runner, system, { count, overMs = 0 }) {
  return runner.with(system, async ({ start, first }) => {
    const worker = await start();
    await worker.call("work", { slots: system.slots, aim: "latency" });
    const warmUp = system.isSlow ? drainWarmUpRuns / 10 : drainWarmUpRuns;
    await first.call("load", { count: warmUp });
    await untilDone([worker], warmUp);
    const dueAt = Date.now() + 6_000;
    await first.call("load", { count, dueAt, overMs });
    if (Date.now() > dueAt - 1_000) throw new Error(`${system.name} took too long to store ${count} delayed runs`);
    await sleep(dueAt + overMs - Date.now());
    await untilDone([worker], warmUp + count);
    const figures = quantiles(await worker.call("lateness"));
    say(`${system.name}: ${count} delayed over ${overMs} ms: ${describe(figures)}`);
    return figures;
  });
}

export function quantiles(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

function describePauses(pauses) {
  const sum = pauses.reduce((total, one) => total + one, 0);
  return `${pauses.length} times, ${sum.toFixed(1)} ms, longest ${Math.max(0, ...pauses).toFixed(1)}`;
}

function describe({ p50, p95, p99, max }) {
  return `p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)}, p99 ${p99.toFixed(1)}, max ${max.toFixed(1)} ms`;
}
