// One process of the benchmark: a queue system, told what to do by messages. The same code measures all of them; only
// bench/queue/systems/*.mjs differ. Usage: fork("child.mjs", [name of the system]).
import { PerformanceObserver } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { steadyMs } from "./clock.mjs";

const { open } = await import(`./systems/${process.argv[2]}.mjs`);
let system;
let counts = { done: 0, lastAt: 0 };
let onRun = () => {};

/** Pauses for collecting garbage since it was last asked for them, in ms. */
let pauses = [];
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) pauses.push(duration);
}).observe({ entryTypes: ["gc"] });

const payloadOf = (extra) => ({ ...extra, data: "x".repeat(160) });

const commands = {
  async open(options) {
    system = await open(options);
  },

  async install() {
    await system.install();
  },

  /** Bulk: as few calls as the system likes. */
  async load({ count, dueAt, overMs = 0 }) {
    const items = Array.from({ length: count }, (_, index) => ({
      payload: payloadOf({ index }),
      dueAt: dueAt === undefined ? null : Math.round(dueAt + (overMs * index) / count),
    }));
    for (const item of items) if (item.dueAt !== null) item.payload.dueAt = item.dueAt;
    const begin = performance.now();
    for (let first = 0; first < count; first += system.perCall) {
      await system.addMany(items.slice(first, first + system.perCall));
    }
    return performance.now() - begin;
  },

  /** So many callers, each with one call at a time, each durable when it returns. */
  async singles({ callers, count }) {
    let left = count;
    const begin = performance.now();
    await Promise.all(
      Array.from({ length: callers }, async () => {
        while (left-- > 0) await system.add(payloadOf({ left }));
      }),
    );
    return performance.now() - begin;
  },

  async work({ slots, aim }) {
    counts = { done: 0, lastAt: 0 };
    const lateness = [];
    onRun = (payload) => {
      counts.done++;
      counts.lastAt = steadyMs();
      if (payload.sentAt !== undefined) lateness.push(counts.lastAt - payload.sentAt);
      else if (payload.dueAt !== undefined) lateness.push(Date.now() - payload.dueAt);
    };
    commands.lateness = async () => lateness.splice(0);
    await system.work((payload) => onRun(payload), { slots, aim });
  },

  async counts() {
    return counts;
  },

  /** Calls at a steady rate; each carries when it was made. Answers how many were made and how long that took. */
  async pace({ rate, ms }) {
    const begin = performance.now();
    const calls = [];
    let made = 0;
    for (let passed = 0; passed < ms; passed = performance.now() - begin) {
      for (const due = Math.floor((Math.min(passed, ms) * rate) / 1_000); made < due; made++) {
        calls.push(system.add(payloadOf({ sentAt: steadyMs() })));
      }
      await sleep(1);
    }
    await Promise.all(calls);
    return { made, ms: performance.now() - begin };
  },

  async stopWork() {
    await system.stopWork();
  },

  async close() {
    await system.close();
  },

  async pauses() {
    const since = pauses;
    pauses = [];
    return since;
  },

  async cpu() {
    const { user, system: kernel } = process.cpuUsage();
    return (user + kernel) / 1e6;
  },
};

process.on("message", ({ id, command, args }) => {
  commands[command](args ?? {}).then(
    (answer) => process.send({ id, answer }),
    (error) => process.send({ id, error: String(error?.stack ?? error) }),
  );
});
process.on("disconnect", () => process.exit(0));
process.send({ ready: true });
