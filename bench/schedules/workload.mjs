// The jobs of a case. One in a hundred has high priority; every payload has 200 bytes.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const payload = { text: "x".repeat(187) };
const high = 9;
const normal = 4;

/** herd: all are due together every `everySeconds`. spread: evenly over the hour. instant: all are due once, at `at`. */
export function cronOf({ kind, ...rule }, index) {
  return { herd, spread, instant }[kind](rule, index);
}

export function toSpec(workload, index) {
  return {
    task: workload.task ?? "bench.unserved",
    queue: "default",
    priority: index % 100 === 0 ? high : normal,
    payload,
    schedule: { kind: "cron", cron: cronOf(workload, index), timeZone: "UTC" },
    policy: {},
    labels: {},
  };
}

const herd = ({ second, everySeconds }) => `${second % everySeconds}/${everySeconds} * * * * *`;

function spread(_rule, index) {
  // The step is coprime to 3,600, so it visits every second of the hour, and consecutive jobs are far apart.
  const second = (index * 1_009) % 3_600;
  return `${second % 60} ${Math.floor(second / 60)} * * * *`;
}

function instant({ at }) {
  const time = new Date(at);
  return `${time.getUTCSeconds()} ${time.getUTCMinutes()} ${time.getUTCHours()} * * *`;
}

/** Registers the jobs from a separate process; returns how long that took. */
export function register(url, workload) {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL("registrar.mjs", import.meta.url)), { execArgv: [] });
    child.once("message", (answer) => ("error" in answer ? reject(new Error(answer.error)) : resolve(answer)));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the registrar ended with ${code}`)));
    child.send({ url, workload });
  });
}
