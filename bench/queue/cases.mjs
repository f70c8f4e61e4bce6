// What is measured of one system. Each answers figures by name; bench.mjs puts them side by side.
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "../schedules/results.mjs";
import { steadyMs } from "./clock.mjs";
import { analyse } from "./field.mjs";

const rateOf = (count, ms) => (count / ms) * 1_000;

/** Bulk, and by 50 callers with one call each. */
export async function enqueue(field, system, { bulk, singles }) {
  return field.with(system, async ({ first }) => {
    await first.call("singles", { callers: 50, count: 500 });
    const single = rateOf(singles, await first.call("singles", { callers: 50, count: singles }));
    const many = rateOf(bulk, await first.call("load", { count: bulk }));
    say(`${system.name}: enqueue ${Math.round(single)} single, ${Math.round(many)} bulk`);
    return { single, bulk: many };
  });
}

/** So many runs before what is measured: code that runs for the first time says nothing about days of it. */
export const warmUpOfDrain = 20_000;

/**
 * Loads, then lets so many processes that are warm empty it. Answers runs per second, from the start of the workers to the last run. What is untouched has
 * been neither vacuumed nor analysed since it was loaded: autovacuum would do either at a moment of its own choosing.
 */
export async function drain(field, system, { processes, isUntouched = false, ...options }) {
  return field.with(system, async (place) => {
    const workers = [];
    while (workers.length < processes) workers.push(await place.start());
    const measure = async () => {
      await drainOnce(place, system, workers, { count: warmUpOfDrain });
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
  if (analysed) await analyse(url);
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

async function untilDone(workers, count, patienceMs = 60_000) {
  let last = -1;
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 50) {
    await sleep(50);
    const counts = await Promise.all(workers.map((worker) => worker.call("counts")));
    const done = counts.reduce((sum, one) => sum + one.done, 0);
    if (done >= count) return Math.max(...counts.map((one) => one.lastAt));
    if (done !== last) [last, waitedMs] = [done, 0];
  }
  throw new Error(`only ${last} of ${count} runs were done`);
}

/**
 * Calls before those that count, at this pace. V8 compiles all that each call needs anew at about the 512th, at once: of 500 calls that
 * follow too few others, one always has that in it, whichever system is measured.
 */
export const warmUpOfLatency = { rate: 200, ms: 5_000 };

/** From the call to the start of its handler, in another process, at a steady rate. */
export async function latency(field, system, { rate, ms }) {
  return field.with(system, async ({ start, first }) => {
    const worker = await start();
    await worker.call("work", { slots: system.slots, aim: "latency" });
    await first.call("pace", warmUpOfLatency);
    await sleep(500);
    await worker.call("lateness");
    for (const child of [first, worker]) await child.call("pauses");
    const sent = await first.call("pace", { rate, ms });
    await sleep(1_000);
    const [callers, workers] = [await first.call("pauses"), await worker.call("pauses")];
    const figures = quantiles(await worker.call("lateness"));
    const held = rateOf(sent.made, sent.ms);
    say(`${system.name}: ${rate}/s, held ${Math.round(held)}: ${describe(figures)}`);
    say(`  collecting garbage: the caller ${describePauses(callers)}, the worker ${describePauses(workers)}`);
    return { ...figures, held, lost: sent.made - figures.count };
  });
}

/** Delayed runs: all due at one instant, or spread over a while. */
export async function delayed(field, system, { count, overMs = 0 }) {
  return field.with(system, async ({ start, first }) => {
    const worker = await start();
    await worker.call("work", { slots: system.slots, aim: "latency" });
    const warmUp = system.isSlow ? warmUpOfDrain / 10 : warmUpOfDrain;
    await first.call("load", { count: warmUp });
    await untilDone([worker], warmUp);
    const dueAt = Date.now() + 6_000;
    await first.call("load", { count, dueAt, overMs });
    if (Date.now() > dueAt - 1_000) throw new Error(`${system.name} took too long to take ${count} delayed runs`);
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
