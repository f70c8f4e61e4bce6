// The same herds with execution: the node that fires the runs also executes them.
import { setTimeout as sleep } from "node:timers/promises";
import { median, result, say } from "../../report.mjs";
import { ServerProcess } from "../../server-process.mjs";
import { nextHerd, secondAfter, handlerStarts, until } from "../herds.mjs";
import { register } from "../workload.mjs";

const everySeconds = 30;
const settleMs = 4_000;
const slots = 200;

/** Measures from the due time to the start of each run's handler, from history. */
export async function handlersCase(postgres, { count, herds, nodeFlags, targets }) {
  const name = `${count.toLocaleString("en")} due at once, with handlers`;
  return postgres.withDatabase(async ({ url, reader }) => {
    const node = await ServerProcess.start({ name: "node-0", url, nodeFlags, settings: { "worker-slots": slots } });
    try {
      const rule = { second: secondAfter((count / 15_000) * 1_000 + settleMs), everySeconds };
      await register(url, { kind: "herd", task: "echo", count, ...rule });
      // The first herd of a new node runs cold code; it is reported separately.
      const first = await observe(reader, rule, count);
      const observed = [];
      for (let herd = 0; herd < herds; herd += 1) observed.push(await observe(reader, rule, count));
      const of = (pick) => median(observed.map(pick));
      const lines = [
        { metric: "start of the handler p50", ours: of((one) => one.p50) },
        { metric: "start of the handler p99", ours: of((one) => one.p99), atMost: targets.p99 },
        { metric: "start of the last handler", ours: of((one) => one.max), atMost: targets.last },
        { metric: "first herd of a new node, start p99", ours: first.p99 },
        { metric: "first herd of a new node, last start", ours: first.max },
      ];
      const wrong = [first, ...observed].reduce(
        (sum, one) => sum + Math.abs(count - one.count) + (one.count - one.jobs),
        0,
      );
      return [
        ...lines.map((line) => result({ name, unit: "ms", ...line })),
        result({ name, metric: "missing or executed twice", unit: "runs", ours: wrong, atMost: 0 }),
      ];
    } finally {
      await node.end();
    }
  });
}

async function observe(reader, rule, count) {
  const nominal = nextHerd(rule, settleMs / 2);
  await until(nominal);
  let observed = { count: 0 };
  for (let tries = 0; tries < 25 && observed.count < count; tries++) {
    await sleep(1_000);
    observed = await handlerStarts(reader, nominal);
  }
  const at = (value) => `${Math.round(value)} ms`;
  say(
    `herd of ${count}: ${observed.count} executed; handlers started p50 ${at(observed.p50)}, p99 ${at(observed.p99)}, max ${at(observed.max)}`,
  );
  return observed;
}
