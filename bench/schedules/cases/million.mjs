// A million registered jobs: spread over the hour, or all due at one instant.
import { setTimeout as sleep } from "node:timers/promises";
import { result, say } from "../../report.mjs";
import { ServerProcess } from "../../server-process.mjs";
import { verifyHerd, readLateness, runsInserted, until, untilInserted } from "../herds.mjs";
import { cronOf, register } from "../workload.mjs";

const registerTarget = 20_000;
const memoryTargetMb = 500;
const settleMs = 20_000;

/** Registers `count` jobs that are spread over the hour, and observes their fires for a while. */
export async function spreadCase(postgres, { count, watchMs, nodeFlags }) {
  const name = `${count.toLocaleString("en")} spread over the hour`;
  return postgres.withDatabase(async ({ url, reader }) => {
    const node = await ServerProcess.start({ name: "node-0", url, nodeFlags });
    try {
      const { ms } = await register(url, { kind: "spread", count });
      const rate = (count / ms) * 1_000;
      say(`${name}: registered ${Math.round(rate)} jobs/s`);
      await sleep(settleMs);
      const from = Date.now();
      await sleep(watchMs);
      const all = await readLateness(reader, { from, to: from + watchMs - 2_000 });
      const memory = node.memoryMb();
      say(`${name}: ${all.count} fires, p50 ${all.p50}, p99 ${all.p99}, max ${all.max} ms; ${JSON.stringify(memory)}`);
      const lines = [
        { metric: "registration", unit: "jobs/s", ours: rate, atLeast: registerTarget },
        { metric: "peak memory of the node", unit: "MB", ours: memory.peak, atMost: memoryTargetMb },
        { metric: "current memory of the node", unit: "MB", ours: memory.now },
        { metric: `fires in ${Math.round(watchMs / 1_000)} s`, unit: "runs", ours: all.count },
        { metric: "lateness p50", unit: "ms", ours: all.p50 },
        { metric: "lateness p99", unit: "ms", ours: all.p99, atMost: 250 },
        { metric: "lateness max", unit: "ms", ours: all.max, atMost: 1_000 },
      ];
      return lines.map((line) => result({ name, ...line }));
    } finally {
      await node.end();
    }
  });
}

/** All jobs are due at one instant, some time after the last one was registered. */
export async function instantCase(postgres, { count, floor, nodeFlags }) {
  const name = `${count.toLocaleString("en")} due at one instant`;
  return postgres.withDatabase(async ({ url, reader }) => {
    const node = await ServerProcess.start({ name: "node-0", url, nodeFlags });
    try {
      const at = await chooseInstant(url, count);
      const { ms } = await register(url, { kind: "instant", count, at });
      say(`${name}: registered in ${Math.round(ms)} ms, ${at - Date.now()} ms before the instant`);
      if (Date.now() > at - settleMs / 2) throw new Error(`the registration took ${ms} ms, too long for the instant`);
      const before = await runsInserted(reader);
      await until(at);
      const cpuBefore = { node: node.cpuSeconds(), postgres: postgres.cpuSeconds() };
      await untilInserted(reader, before, count);
      const cpuMs = (node.cpuSeconds() - cpuBefore.node) * 1_000;
      const postgresMs = (postgres.cpuSeconds() - cpuBefore.postgres) * 1_000;
      return toResults(name, { reader, at, count, floor, cpuMs, postgresMs, memory: node.memoryMb() });
    } finally {
      await node.end();
    }
  });
}

/** Chooses an instant after the registration, estimated from the registration of a few jobs that are due much later. */
async function chooseInstant(url, count) {
  const few = Math.ceil(count / 50);
  const { ms } = await register(url, { kind: "instant", count: few, at: Date.now() + 12 * 3_600_000 });
  const prepareMs = (ms / few) * count * 1.5 + settleMs;
  return Math.ceil((Date.now() + prepareMs) / 1_000) * 1_000;
}

async function toResults(name, { reader, at, count, floor, cpuMs, postgresMs, memory }) {
  const all = await readLateness(reader, { from: at });
  const high = await readLateness(reader, { from: at, minPriority: 7 });
  const verdict = await verifyHerd(reader, at, cronOf({ kind: "instant", at }));
  const rate = (all.count / all.max) * 1_000;
  say(
    `${name}: ${all.count} runs, ${Math.round(rate)} fires/s; high max ${high.max} ms; ${JSON.stringify({ verdict, memory, cpuMs, postgresMs })}`,
  );
  const lines = [
    { metric: "fires from the instant to the last", unit: "fires/s", ours: rate, floor: floor.two, atLeast: 30_000 },
    { metric: "lateness of high priority p99", unit: "ms", ours: high.p99, atMost: 1_000 },
    { metric: "lateness of high priority max", unit: "ms", ours: high.max, atMost: 1_000 },
    { metric: "not fired", unit: "runs", ours: count - all.jobs, atMost: 0 },
    {
      metric: "missed, duplicate or skipped",
      unit: "runs",
      ours: verdict.duplicates + verdict.missed + verdict.ledger,
      atMost: 0,
    },
    { metric: "peak memory of the node", unit: "MB", ours: memory.peak, atMost: memoryTargetMb },
    { metric: "CPU of the node", unit: "µs per fire", ours: (cpuMs / count) * 1_000 },
    { metric: "CPU of PostgreSQL", unit: "µs per fire", ours: (postgresMs / count) * 1_000 },
  ];
  return lines.map((line) => result({ name, ...line }));
}
