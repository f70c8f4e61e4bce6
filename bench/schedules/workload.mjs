// The jobs of a case. One in a hundred has high priority; every payload has 200 bytes.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const payload = { text: "x".repeat(187) };
const high = 9;
const usual = 4;

/** herd: all due together every `everySeconds`. spread: evenly over the hour. instant: all due once, at `at`. */
export function cronOf({ kind, ...rule }, index) {
  return { herd, spread, instant }[kind](rule, index);
}

export function specOf(workload, index) {
  return {
    task: workload.task ?? "bench.nobody",
    queue: "default",
    priority: index % 100 === 0 ? high : usual,
    payload,
    schedule: { kind: "cron", cron: cronOf(workload, index), timeZone: "UTC" },
    policy: {},
    labels: {},
  };
}

const herd = ({ second, everySeconds }) => `${second % everySeconds}/${everySeconds} * * * * *`;

function spread(_rule, index) {
  // A step that shares no factor with 3,600 visits every second of the hour, and neighbours lie far apart.
  const second = (index * 1_009) % 3_600;
  return `${second % 60} ${Math.floor(second / 60)} * * * *`;
}

function instant({ at }) {
  const time = new Date(at);
  return `${time.getUTCSeconds()} ${time.getUTCMinutes()} ${time.getUTCHours()} * * *`;
}

/** Registers the jobs from a process of its own; answers how long that took. */
export function register(url, workload) {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL("registrar.mjs", import.meta.url)), { execArgv: [] });
    child.once("message", (answer) => ("error" in answer ? reject(new Error(answer.error)) : resolve(answer)));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the registrar ended with ${code}`)));
    child.send({ url, workload });
  });
}
