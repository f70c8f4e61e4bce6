// One process of the benchmark: runs a queue system on commands from its parent. The same code measures all systems; only
// bench/queue/systems/*.mjs differ. Usage: fork("child.mjs", [name of the system]).
import { PerformanceObserver } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { steadyMs } from "./child-process.mjs";

const { open } = await import(`./systems/${process.argv[2]}.mjs`);
let system;
let counts = { done: 0, lastAt: 0 };
let onRun = () => {};

/** Garbage collection pauses since the last `pauses` command, in ms. */
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

  /** Bulk enqueue, with as few calls as the system allows. */
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

  /** So many callers with one call in flight each; a run is durable when its call returns. */
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

  /** Enqueues at a steady rate; each payload carries the time of its call. Returns the number of calls and how long they took. */
  async pace({ rate, ms }) {
    const begin = performance.now();
    const calls = [];
    let made = 0;
    for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - begin) {
      for (const due = Math.floor((Math.min(elapsed, ms) * rate) / 1_000); made < due; made++) {
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
