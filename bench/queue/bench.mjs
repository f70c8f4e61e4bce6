// The queue compared with its peers in one run: `npm run bench:queue [-- --quick] [-- --json] [-- --only drain,latency,…]
// [-- --systems carillon,pg-boss] [-- --rounds 1]`. Every system runs in its own processes under the same Node.js (24, which the newest peers
// require) with an empty database of the same embedded PostgreSQL, fsync and synchronous_commit on; payloads of 200 bytes.
import { describeMachine, median, printTable, readOptions, say } from "../report.mjs";
import { BenchPostgres } from "../bench-postgres.mjs";
import { measureStatement } from "../claims/measure.mjs";
import { delayed, drain, enqueue, latency } from "./cases.mjs";
import { growth } from "./growth.mjs";
import { heldSnapshot } from "./held-snapshot.mjs";
import { latencyFloor } from "./latency-floor.mjs";
import { drainOverHttp, idleWorkers } from "./over-http.mjs";
import { installPeers, startRedis } from "./peers.mjs";
import { compare, inRounds, rateResult, timeResult } from "./results.mjs";
import { systems, SystemRunner } from "./systems.mjs";

const {
  quick,
  json,
  only,
  systems: wanted,
  rounds: fullRounds = 3,
} = readOptions("bench:queue", {
  only: {
    value: "LIST",
    choices: ["enqueue", "drain", "http", "latency", "delayed", "snapshot", "growth"],
    doc: "these cases",
  },
  systems: { value: "LIST", choices: systems.map(({ name }) => name), doc: "these systems" },
  rounds: { value: "COUNT", doc: "rounds of each case, 3 by default" },
});
const rounds = quick ? 1 : fullRounds;
// Large enough that a new process warms up long before the end.
const size = quick ? 20_000 : 200_000;

async function medianOf(work) {
  const values = [];
  for (let round = 0; round < rounds; round++) values.push(await work());
  return median(values);
}

/** Measures the systems in turns. */
const inTurns = (each, work, applies) => inRounds(rounds, () => each(work, applies));

const cases = {
  async enqueue(each) {
    const figures = await inTurns(each, (runner, system) =>
      enqueue(runner, system, { bulk: system.isSlow ? size / 5 : size, singles: singlesOf(system) }),
    );
    const single = compare(figures, (one) => one.single);
    const bulk = compare(figures, (one) => one.bulk);
    return [
      rateResult("enqueue", "bulk", bulk, { atLeastTimes: { of: "graphile-worker", times: 1.5 } }),
      rateResult("enqueue", "50 single callers", single, { atLeastTimes: { of: "best postgres", times: 10 } }),
      rateResult("enqueue", "50 single callers, compared with Redis", single, {
        atLeastTimes: { of: "bullmq redis aof", times: 1 },
      }),
    ];
  },

  async drain(each, { postgres }) {
    const results = [];
    for (const processes of [1, 2]) {
      const floors = [];
      const figures = await inRounds(rounds, async () => {
        floors.push(await drainFloor(postgres));
        return each(async (runner, system) => {
          const options = { count: sizeOf(system), processes };
          const loaded = await drain(runner, system, { ...options, isUntouched: true });
          if (system.on !== "postgres") return { loaded };
          return { loaded, analysed: await drain(runner, system, { ...options, analysed: true }) };
        });
      });
      const floor = median(floors);
      const loaded = compare(figures, (one) => one.loaded);
      const analysed = compare(new Map([...figures].filter(([, one]) => one.analysed)), (one) => one.analysed);
      const name = `drain, ${processes} process${processes === 1 ? "" : "es"}`;
      results.push(
        rateResult(name, "as loaded", loaded, { floor, atLeastTimes: { of: "best postgres", times: 1.5 } }),
        rateResult(name, "after VACUUM ANALYZE", analysed, { floor }),
        {
          ...rateResult(name, "compared with the floor", { ours: loaded.ours, peers: {} }, { floor }),
          ...floorTarget(loaded.ours, floor),
        },
      );
    }
    return results;
  },

  async http(_each, { runner }) {
    const [ours] = systems;
    const results = [];
    for (const processes of [1, 2]) {
      const inProcess = await medianOf(() => drain(runner, ours, { count: size, processes }));
      results.push(await drainOverHttp(runner, ours, { count: size, processes, rounds, inProcess }));
    }
    // A poll waits up to 20 s.
    const [count, warmMs, watchMs] = quick ? [200, 5_000, 5_000] : [2_000, 25_000, 40_000];
    results.push(await idleWorkers(runner, ours, { count, warmMs, watchMs }));
    return results;
  },

  async latency(each, { postgres }) {
    const results = [];
    const ms = quick ? 4_000 : 10_000;
    const floor = await latencyFloor(postgres, { rate: 50, ms });
    const aims = [
      { name: "latency, idle", rate: 50, p50: "graphile-worker", p99: 5, floor },
      { name: "latency, 2,000/s", rate: 2_000, p50: 3, p99: 15 },
      { name: "latency, 10,000/s", rate: 10_000, p99: 100, oursOnly: true },
    ];
    for (const { name, rate, p50, p99, oursOnly, floor: lowest = null } of aims) {
      const figures = await inTurns(
        each,
        (runner, system) => latency(runner, system, { rate, ms }),
        (system) => system.isOurs === true || (oursOnly !== true && !(system.isSlow && rate > 100)),
      );
      results.push(
        timeResult(
          name,
          "call to handler, p50",
          compare(figures, (one) => one.p50),
          p50,
          lowest?.p50,
        ),
        timeResult(
          name,
          "call to handler, p99",
          compare(figures, (one) => one.p99),
          p99,
          lowest?.p99,
        ),
        rateResult(
          name,
          "sustained rate",
          compare(figures, (one) => one.sustained),
          { atLeast: rate * 0.98 },
        ),
      );
    }
    return results;
  },

  async delayed(each) {
    const results = [];
    const aims = [
      { name: "5,000 delayed, one instant", overMs: 0, p50: 100, p99: 200 },
      { name: "5,000 delayed over 30 s", overMs: 30_000, p50: 3, p99: 15 },
    ];
    for (const { name, overMs, p50, p99 } of aims) {
      const figures = await inTurns(each, (runner, system) => delayed(runner, system, { count: 5_000, overMs }));
      results.push(
        timeResult(
          name,
          "lateness p50",
          compare(figures, (one) => one.p50),
          p50,
        ),
        timeResult(
          name,
          "lateness p99",
          compare(figures, (one) => one.p99),
          p99,
        ),
      );
    }
    return results;
  },

  async snapshot(each) {
    return heldSnapshot(each, quick ? 100_000 : 1_000_000);
  },

  async growth(_each, { runner }) {
    const [ours] = systems;
    const full = { history: 10_000_000, schedules: 1_000_000 };
    return growth(runner, ours, { ...(quick ? { history: 200_000, schedules: 20_000 } : full), count: size, rounds });
  },
};

const sizeOf = (system) => (system.isSlow ? size / 5 : size);
const singlesOf = (system) => (system.isOurs || system.on !== "postgres" ? size / 2 : size / 20);

/** The statement that completes, archives and claims, alone: 500 runs per call over two connections. */
async function drainFloor(postgres) {
  const { rate } = await measureStatement(postgres, { rows: size });
  say(`floor: ${Math.round(rate)} runs/s`);
  return rate;
}

function floorTarget(ours, floor) {
  return { target: Math.round(floor * 0.7), met: ours >= floor * 0.7 };
}

const execPath = installPeers();
const postgres = await BenchPostgres.start();
const redis = {};
let failed = false;
const results = [];
try {
  for (const [name, aof] of [
    ["redis aof", true],
    ["redis", false],
  ]) {
    const server = await startRedis({ aof });
    if (server === null) say(`Redis is not available: BullMQ on ${name} is skipped`);
    else redis[name] = server;
  }
  const runner = new SystemRunner({ postgres, redis, execPath });
  const present = systems.filter(
    (system) => runner.has(system) && (wanted === undefined || wanted.includes(system.name)),
  );
  /** Measures every system, one after the other. A peer that fails is skipped with a message. */
  const each = async (work, applies = () => true) => {
    const figures = new Map();
    for (const system of present.filter(applies)) {
      try {
        figures.set(system, await work(runner, system));
      } catch (error) {
        if (system.isOurs) throw error;
        say(`${system.name} failed and is skipped: ${error.message.split("\n")[0]}`);
      }
    }
    return figures;
  };
  for (const name of only ?? Object.keys(cases)) {
    say(`case ${name}`);
    results.push(...(await cases[name](each, { postgres, runner })));
  }
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  for (const server of Object.values(redis)) await server.stop();
  await postgres.stop();
}
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = failed || results.some((result) => result.met === false) ? 1 : 0;
