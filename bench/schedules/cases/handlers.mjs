// The same herds with somebody who does the work: the node that fires them executes them too.
import { setTimeout as sleep } from "node:timers/promises";
import { nextHerd, secondAfter, until } from "../herds.mjs";
import { median, result, say } from "../results.mjs";
import { startsOf } from "../rows.mjs";
import { ServerProcess } from "../server-process.mjs";
import { register } from "../workload.mjs";

const everySeconds = 30;
const settleMs = 4_000;
const slots = 200;

/** From the instant to the start of each run's handler, by history. */
export async function handlersCase(site, { count, herds, nodeFlags, targets }) {
  const name = `${count.toLocaleString("en")} due at once, with handlers`;
  return site.withDatabase(async ({ url, reader }) => {
    const node = await ServerProcess.start({ name: "node-0", url, nodeFlags, settings: { "worker-slots": slots } });
    try {
      const rule = { second: secondAfter((count / 15_000) * 1_000 + settleMs), everySeconds };
      await register(url, { kind: "herd", task: "echo", count, ...rule });
      // The first herd of a node that has just started finds its code cold. It is told apart, as drains have their warm-up.
      const first = await observe(reader, rule, count);
      const seen = [];
      for (let herd = 0; herd < herds; herd += 1) seen.push(await observe(reader, rule, count));
      const of = (pick) => median(seen.map(pick));
      const lines = [
        { metric: "start of the handler p50", ours: of((one) => one.p50) },
        { metric: "start of the handler p99", ours: of((one) => one.p99), atMost: targets.p99 },
        { metric: "start of the last handler", ours: of((one) => one.max), atMost: targets.last },
        { metric: "first herd of a new node, start p99", ours: first.p99 },
        { metric: "first herd of a new node, last start", ours: first.max },
      ];
      const wrong = [first, ...seen].reduce(
        (sum, one) => sum + Math.abs(count - one.count) + (one.count - one.jobs),
        0,
      );
      return [
        ...lines.map((line) => result({ name, unit: "ms", ...line })),
        result({ name, metric: "not done, or done twice", unit: "runs", ours: wrong, atMost: 0 }),
      ];
    } finally {
      await node.end();
    }
  });
}

async function observe(reader, rule, count) {
  const nominal = nextHerd(rule, settleMs / 2);
  await until(nominal);
  let seen = { count: 0 };
  for (let tries = 0; tries < 25 && seen.count < count; tries++) {
    await sleep(1_000);
    seen = await startsOf(reader, nominal);
  }
  const at = (value) => `${Math.round(value)} ms`;
  say(
    `herd of ${count}: ${seen.count} done; handlers started p50 ${at(seen.p50)}, p99 ${at(seen.p99)}, max ${at(seen.max)}`,
  );
  return seen;
}
