// All jobs are due in the same second, repeatedly. The runs of a herd are removed before the next herd.
import { median, result, say } from "../../report.mjs";
import { ServerProcess } from "../../server-process.mjs";
import {
  removeRuns,
  verifyHerd,
  readLateness,
  nextHerd,
  runsInserted,
  secondAfter,
  until,
  untilInserted,
} from "../herds.mjs";
import { cronOf, register } from "../workload.mjs";

const everySeconds = 20;
/** Time for the node to load the due jobs into memory before they are due. */
const settleMs = 4_000;

/** Starts one node with `count` jobs and observes some herds; the results are medians over the herds. */
export async function herdCase(postgres, { count, herds, floor, nodeFlags, targets }) {
  const name = `${count.toLocaleString("en")} due at once`;
  return postgres.withDatabase(async ({ url, reader }) => {
    const node = await ServerProcess.start({ name: "node-0", url, nodeFlags });
    try {
      const rule = { second: secondAfter((count / 20_000) * 1_000 + settleMs), everySeconds };
      const { ms } = await register(url, { kind: "herd", count, ...rule });
      say(`${name}: registered in ${Math.round(ms)} ms`);
      const observed = [];
      for (let herd = 0; herd < herds; herd += 1)
        observed.push(await observeHerd({ postgres, reader, rule, count, node }));
      return [...latenessResults(name, observed, targets), ...costResults(name, observed, floor)];
    } finally {
      await node.end();
    }
  });
}

export async function observeHerd({ postgres, reader, rule, count, node, during = async () => undefined }) {
  const nominal = nextHerd(rule, settleMs / 2);
  await until(nominal - 1_500);
  await removeRuns(reader);
  const before = await runsInserted(reader);
  const cpuBefore = { node: node.cpuSeconds(), postgres: postgres.cpuSeconds() };
  await until(nominal);
  await during(nominal);
  await untilInserted(reader, before, count);
  const cpuMs = Math.round((node.cpuSeconds() - cpuBefore.node) * 1_000);
  const postgresMs = Math.round((postgres.cpuSeconds() - cpuBefore.postgres) * 1_000);
  const all = await readLateness(reader, { from: nominal });
  const high = await readLateness(reader, { from: nominal, minPriority: 7 });
  const verdict = await verifyHerd(reader, nominal, cronOf({ kind: "herd", ...rule }));
  say(
    `herd of ${count}: ${all.count} runs, p50 ${ms(all.p50)}, p99 ${ms(all.p99)}, max ${ms(all.max)}, visible by ${ms(all.visibleMax)}; ` +
      `high p99 ${ms(high.p99)}, max ${ms(high.max)}; CPU: node ${cpuMs} ms, PostgreSQL ${postgresMs} ms; ${JSON.stringify(verdict)}`,
  );
  return { nominal, all, high, verdict, cpuMs, postgresMs };
}

const ms = (value) => `${Math.round(value)} ms`;

function latenessResults(name, observed, targets) {
  const of = (pick) => median(observed.map(pick));
  const lines = [
    { metric: "lateness p50", ours: of((one) => one.all.p50) },
    { metric: "lateness p99", ours: of((one) => one.all.p99), atMost: targets.p99 },
    { metric: "lateness of the last", ours: of((one) => one.all.max), atMost: targets.last },
    { metric: "lateness of high priority p99", ours: of((one) => one.high.p99), atMost: targets.high99 },
    { metric: "lateness of the last, until visible", ours: of((one) => one.all.visibleMax) },
  ];
  const wrong = observed.reduce((sum, { verdict }) => sum + verdict.duplicates + verdict.missed + verdict.ledger, 0);
  return [
    ...lines.map((line) => result({ name, unit: "ms", ...line })),
    result({ name, metric: "missed, duplicate or skipped", unit: "runs", ours: wrong, atMost: 0 }),
  ];
}

function costResults(name, observed, floor) {
  const rate = median(observed.map((one) => (one.all.count / one.all.max) * 1_000));
  const perFire = (pick) => median(observed.map((one) => (pick(one) / one.all.count) * 1_000));
  const unit = "µs per fire";
  return [
    result({ name, metric: "fires from the instant to the last", unit: "fires/s", ours: rate, floor: floor.two }),
    result({ name, metric: "CPU of the node", unit, ours: perFire((one) => one.cpuMs) }),
    result({ name, metric: "CPU of PostgreSQL", unit, ours: perFire((one) => one.postgresMs) }),
  ];
}
