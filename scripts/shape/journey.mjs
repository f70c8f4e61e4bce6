// Traces the journey of a cron job through the sources: create → fire → claim → handler → complete → GET.
//
// A real node (`carillon dev --ephemeral`: embedded PostgreSQL, HTTP API and a worker in one process) runs with V8's precise coverage, which
// records every function that is entered. The journey is: POST a job with a cron expression that fires each second, wait until a run has
// ended, GET that run. Only these functions are taken: loading a module does not count, nor does the request that looks up the run's id.
//
// The node's loops (heartbeats, clock, polls, shard leases) run during the journey too, so functions that an idle node enters are
// subtracted. A file stays when the journey enters one of its functions that an idle node does not. This leaves out the part of the journey
// that goes only through such functions, for example the connection pool; `tracedFiles` reports those files separately.
//
// The journey is repeated with new jobs and queues, and a file counts when every journey enters it. A loop with a long period or the
// creation of a cache then makes no difference, and repeated calls return the same files.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const journeys = 3;
/** Longer than the period of every loop that an idle node runs often. */
const idleMs = 15_000;
/** A job fires within a second and its run ends within milliseconds. Each idle interval between two journeys is as long as a journey. */
const journeyMs = 2_500;

/**
 * Functions entered in some interval, by file.
 * @typedef {Record<string, readonly string[]>} Entered
 */

/**
 * The files of the journey, and those that it enters only through functions that an idle node enters as well.
 * @param {readonly Entered[]} idle intervals without a journey
 * @param {readonly Entered[]} traced one for each journey
 * @returns {{ files: string[], sharedWithIdle: string[] }}
 */
export function tracedFiles(idle, traced) {
  const idleFunctions = new Set(idle.flatMap(functionsOf));
  const inEvery = (filesOf) => {
    const [first, ...others] = traced.map((entered) => new Set(filesOf(entered)));
    return [...first].filter((file) => others.every((files) => files.has(file))).toSorted((a, b) => (a < b ? -1 : 1));
  };
  const files = inEvery((entered) =>
    Object.keys(entered).filter((file) => entered[file].some((name) => !idleFunctions.has(`${file} ${name}`))),
  );
  return { files, sharedWithIdle: inEvery(Object.keys).filter((file) => !files.includes(file)) };
}

const functionsOf = (entered) =>
  Object.entries(entered).flatMap(([file, names]) => names.map((name) => `${file} ${name}`));

/** Runs the journeys on a new node; takes about 40 seconds. The packages must be built. */
export async function traceJourney() {
  const node = await startNode();
  const idle = [];
  const traced = [];
  try {
    await sleep(journeyMs);
    await node.takeEntered();
    await sleep(idleMs - journeyMs);
    for (let number = 1; number <= journeys; number += 1) {
      await sleep(journeyMs);
      idle.push(await node.takeEntered());
      traced.push(await travel(node, number));
      await sleep(journeyMs);
      await node.takeEntered();
    }
  } finally {
    await node.stop();
  }
  return tracedFiles(idle, traced);
}

/** One journey. Cancels the job at the end, untraced. */
async function travel({ call, takeEntered }, number) {
  const schedule = { cron: "* * * * * *", time_zone: "Europe/Paris" };
  const job = await call("POST", "/jobs", { key: `journey-${number}`, queue: `q${number}`, task: "echo", schedule });
  await sleep(journeyMs);
  const created = await takeEntered();
  const [run] = (await call("GET", `/runs?job_id=${job.id}&status=succeeded`)).runs;
  if (run === undefined) throw new Error(`no run of the job succeeded within ${journeyMs} ms`);
  await takeEntered();
  await call("GET", `/runs/${run.id}`);
  const read = await takeEntered();
  await call("POST", `/jobs/${job.id}:cancel`);
  const files = new Set([...Object.keys(created), ...Object.keys(read)]);
  return Object.fromEntries([...files].map((file) => [file, [...(created[file] ?? []), ...(read[file] ?? [])]]));
}

async function startNode() {
  const preload = new URL("record-functions.mjs", import.meta.url).href;
  const args = ["--import", preload, "packages/carillon/bin/carillon.js", "dev", "--ephemeral", "--port", "0"];
  const env = { ...process.env, CARILLON_SKIP_BUILD: "1", CARILLON_LOG_LEVEL: "error" };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const ended = once(child, "exit");
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [found] = /http:\/\/\S+:\d+/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then(([code]) => reject(new Error(`the node ended with exit code ${code} before it listened`)));
  });
  return {
    async call(method, path, body) {
      const content = body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const response = await fetch(`${url}/v1${path}`, { method, ...content });
      const answer = await response.json();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer.detail}`);
      return answer;
    },
    /** @returns {Promise<Entered>} the functions entered since the previous call */
    async takeEntered() {
      const answer = once(child, "message");
      child.send("take");
      return (await answer)[0];
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
