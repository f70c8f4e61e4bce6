// The timing wheel compared with a binary heap: `node --expose-gc bench/wheel/bench.mjs [--quick] [--json]`.
// Timers are due at random within a minute, like the window of a scheduler. All are inserted, a random half is cancelled, and the clock
// then advances over the minute in steps of 10 ms. Each figure is the median over rounds, in nanoseconds per timer. The cancel of the heap
// only marks the timer and pays when it is due, so "total" is the fair comparison.
import { TimingWheel } from "../../packages/core/dist/index.js";
import { describeMachine, printTable, readOptions } from "../report.mjs";
import { BinaryHeap } from "./binary-heap.mjs";

const { quick, json } = readOptions("bench:wheel", {});

const WINDOW_MS = 60_000;
const STEP_MS = 10;
const START = Date.UTC(2026, 2, 1);
const MILLION = 1_000_000;
const MEMORY_TARGET_MB = 100;
const SIZES = [10_000, 100_000, MILLION];
/** Small sizes take many rounds, so that each figure covers enough work for the clock. */
const roundsFor = (size) => Math.max(3, Math.min(quick ? 9 : 25, Math.floor((quick ? 300_000 : 3_000_000) / size)));

const makers = {
  ours: () => new TimingWheel({ startMs: START }),
  "binary heap": () => new BinaryHeap(),
};

/** The same numbers in every run (xorshift). */
function seededRandom(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

function workload(size) {
  const random = seededRandom(20_260_301);
  const dues = Float64Array.from({ length: size }, () => START + Math.floor(random() * WINDOW_MS));
  const cancelled = Uint32Array.from({ length: size }, (_, index) => index);
  for (let index = size - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [cancelled[index], cancelled[other]] = [cancelled[other], cancelled[index]];
  }
  return { dues, cancelled: cancelled.subarray(0, size / 2) };
}

function oneRound(make, { dues, cancelled }) {
  const timers = make();
  const handles = Array.from({ length: dues.length });
  const times = [performance.now()];
  for (let index = 0; index < dues.length; index++) handles[index] = timers.insert(dues[index], index);
  times.push(performance.now());
  for (const index of cancelled) timers.cancel(handles[index]);
  times.push(performance.now());
  let fired = 0;
  for (let now = START; now <= START + WINDOW_MS; now += STEP_MS) fired += timers.advance(now).length;
  times.push(performance.now());
  if (fired !== dues.length - cancelled.length) throw new Error(`${fired} timers fired`);
  const perTimer = (step, count) => ((times[step + 1] - times[step]) * 1e6) / count;
  return {
    insert: perTimer(0, dues.length),
    cancel: perTimer(1, cancelled.length),
    advance: perTimer(2, fired),
    total: ((times[3] - times[0]) * 1e6) / dues.length,
  };
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Measures both in turns, so that a slow moment of the machine affects both. */
function compare(size) {
  const work = workload(size);
  const rounds = { ours: [], "binary heap": [] };
  for (let round = -1; round < roundsFor(size); round++) {
    for (const [name, make] of Object.entries(makers)) {
      const result = oneRound(make, work);
      if (round >= 0) rounds[name].push(result);
    }
  }
  return ["insert", "cancel", "advance", "total"].map((metric) => {
    const of = (name) => median(rounds[name].map((result) => result[metric]));
    const [ours, heap] = [of("ours"), of("binary heap")];
    const base = {
      case: `${size.toLocaleString("en")} timers`,
      metric,
      unit: "ns",
      ours,
      peers: { "binary heap": heap },
    };
    return { ...base, floor: null, ratio: heap / ours, target: null, met: null };
  });
}

/** Megabytes of live objects. Buffers are released in a later turn of the event loop. */
async function usedMb() {
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

async function memoryOf(make, dues) {
  const before = await usedMb();
  const timers = make();
  for (let index = 0; index < dues.length; index++) timers.insert(dues[index], index);
  const used = (await usedMb()) - before;
  // Keeps the timers alive until here.
  timers.advance(START);
  return used;
}

async function memoryResult() {
  const { dues } = workload(MILLION);
  const ours = await memoryOf(makers.ours, dues);
  const heap = await memoryOf(makers["binary heap"], dues);
  const base = { case: "1,000,000 timers", metric: "memory", unit: "MB", ours, peers: { "binary heap": heap } };
  return { ...base, floor: null, ratio: heap / ours, target: MEMORY_TARGET_MB, met: ours < MEMORY_TARGET_MB };
}

if (typeof globalThis.gc !== "function") throw new Error("memory can be measured only with node --expose-gc");
const memory = await memoryResult();
const results = [...SIZES.flatMap(compare), memory];
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = results.every((result) => result.met !== false) ? 0 : 1;
