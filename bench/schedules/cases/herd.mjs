// All jobs due in the same second, again and again. The runs of a herd are ended before the next one comes.
import { nextHerd, secondAfter, until, untilInserted } from "../herds.mjs";
import { median, result, say } from "../results.mjs";
import { finishRuns, judgeHerd, latenessOf, runsInserted } from "../rows.mjs";
import { ServerProcess } from "../server-process.mjs";
import { cronOf, register } from "../workload.mjs";

const everySeconds = 20;
/** What is due within it is in the node's memory before it is due. */
const settleMs = 4_000;

/** Starts one node with `count` jobs and observes some herds; the figures are medians over the herds. */
export async function herdCase(site, { count, herds, floor, nodeFlags, targets }) {
  const name = `${count.toLocaleString("en")} due at once`;
  return site.withDatabase(async ({ url, reader }) => {
    const node = await ServerProcess.start({ name: "node-0", url, nodeFlags });
    try {
      const rule = { second: secondAfter((count / 20_000) * 1_000 + settleMs), everySeconds };
      const { ms } = await register(url, { kind: "herd", count, ...rule });
      say(`${name}: registered in ${Math.round(ms)} ms`);
      const seen = [];
      for (let herd = 0; herd < herds; herd += 1) seen.push(await observeHerd({ site, reader, rule, count, node }));
      return [...judged(name, seen, targets), ...figures(name, seen, floor)];
    } finally {
      await node.end();
    }
  });
}

export async function observeHerd({ site, reader, rule, count, node, during = async () => undefined }) {
  const nominal = nextHerd(rule, settleMs / 2);
  await until(nominal - 1_500);
  await finishRuns(reader);
  const before = await runsInserted(reader);
  const cpuBefore = { node: node.cpuSeconds(), postgres: site.cpuSeconds() };
  await until(nominal);
  await during(nominal);
  await untilInserted(reader, before, count);
  const cpuMs = Math.round((node.cpuSeconds() - cpuBefore.node) * 1_000);
  const postgresMs = Math.round((site.cpuSeconds() - cpuBefore.postgres) * 1_000);
  const all = await latenessOf(reader, { from: nominal });
  const high = await latenessOf(reader, { from: nominal, leastPriority: 7 });
  const verdict = await judgeHerd(reader, nominal, cronOf({ kind: "herd", ...rule }));
  say(
    `herd of ${count}: ${all.count} runs, p50 ${ms(all.p50)}, p99 ${ms(all.p99)}, max ${ms(all.max)}, seen by ${ms(all.seenMost)}; ` +
      `high p99 ${ms(high.p99)}, max ${ms(high.max)}; CPU: node ${cpuMs} ms, PostgreSQL ${postgresMs} ms; ${JSON.stringify(verdict)}`,
  );
  return { nominal, all, high, verdict, cpuMs, postgresMs };
}

const ms = (value) => `${Math.round(value)} ms`;

function judged(name, seen, targets) {
  const of = (pick) => median(seen.map(pick));
  const lines = [
    { metric: "lateness p50", ours: of((one) => one.all.p50) },
    { metric: "lateness p99", ours: of((one) => one.all.p99), atMost: targets.p99 },
    { metric: "lateness of the last", ours: of((one) => one.all.max), atMost: targets.last },
    { metric: "lateness of high priority p99", ours: of((one) => one.high.p99), atMost: targets.high99 },
    { metric: "lateness of the last, until it could be seen", ours: of((one) => one.all.seenMost) },
  ];
  const wrong = seen.reduce((sum, { verdict }) => sum + verdict.doubles + verdict.missed + verdict.ledger, 0);
  return [
    ...lines.map((line) => result({ name, unit: "ms", ...line })),
    result({ name, metric: "missed, double or skipped", unit: "runs", ours: wrong, atMost: 0 }),
  ];
}

function figures(name, seen, floor) {
  const rate = median(seen.map((one) => (one.all.count / one.all.max) * 1_000));
  const perFire = (pick) => median(seen.map((one) => (pick(one) / one.all.count) * 1_000));
  const unit = "µs per fire";
  return [
    result({ name, metric: "fires from the instant to the last", unit: "fires/s", ours: rate, floor: floor.two }),
    result({ name, metric: "CPU of the node", unit, ours: perFire((one) => one.cpuMs) }),
    result({ name, metric: "CPU of PostgreSQL", unit, ours: perFire((one) => one.postgresMs) }),
  ];
}
