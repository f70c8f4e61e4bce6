// Two of the ways in which a user performs the actions: curl, and the command line of the installed package. The third, the SDK, is
// project/code-way.mjs.
import { join } from "node:path";
import { runProgram } from "../pack/run-program.mjs";

export function curlWay(url) {
  const send = async (method, path, body) => {
    const sent = body === undefined ? [] : ["-H", "content-type: application/json", "-d", JSON.stringify(body)];
    const args = ["-sS", "-X", method, `${url}/v1${path}`, "-w", "\n%{http_code}", ...sent];
    const { code, stdout, stderr } = await runProgram("curl", args);
    if (code !== 0) throw new Error(`curl ${method} ${path}: ${stderr}`);
    const end = stdout.lastIndexOf("\n");
    return { status: Number(stdout.slice(end + 1)), answer: JSON.parse(stdout.slice(0, end)) };
  };
  const call = async (method, path, body) => {
    const { status, answer } = await send(method, path, body);
    if (status >= 300) throw new Error(`curl ${method} ${path}: ${status} ${answer.detail}`);
    return answer;
  };
  const get = (path) => call("GET", path);
  const post = (path, body) => call("POST", path, body);
  return {
    name: "curl",
    create: (job) => post("/jobs", job),
    job: (job) => get(`/jobs/${job}`),
    runsOf: async (id, status) => (await get(`/runs?job_id=${id}&status=${status}`)).runs,
    run: (id) => get(`/runs/${id}`),
    explain: (id) => get(`/runs/${id}/explain`),
    pause: (job, reason) => post(`/jobs/${job}:pause`, { reason }),
    resume: (job) => post(`/jobs/${job}:resume`, { missed: "none" }),
    runNow: (job) => post(`/jobs/${job}:runNow?wait=60s`),
    backfill: (job, from, to) => post(`/jobs/${job}:backfill`, { from, to }),
    backfillState: (id) => get(`/backfills/${id}`),
    cancel: (job) => post(`/jobs/${job}:cancel`),
    deadLetters: async (job) => (await get(`/dead-letters?job_id=${job}`)).dead_letters,
    retry: (id) => post(`/runs/${id}:retry`),
    jobsWith: async (selector) => (await get(`/jobs?label_selector=${encodeURIComponent(selector)}`)).jobs,
    runsWith: async (selector) => (await get(`/runs?label_selector=${encodeURIComponent(selector)}`)).runs,
    async followLogs(id, onLine) {
      for (let token = ""; token !== null;) {
        const page = await get(`/runs/${id}/logs?follow=true${token && `&page_token=${encodeURIComponent(token)}`}`);
        page.lines.forEach(onLine);
        token = page.next_page_token;
      }
    },
    async refused(body) {
      const { answer } = await send("POST", "/jobs", body);
      return { code: answer.code, pointers: answer.errors.map(({ pointer }) => pointer) };
    },
  };
}

export function cliWay(url, dir) {
  const env = { PATH: process.env.PATH, CARILLON_URL: url };
  const program = join(dir, "node_modules/.bin/carillon");
  const run = (args, onLine) => runProgram(program, args, { cwd: dir, env, onLine });
  const json = async (...args) => {
    const { code, stdout, stderr } = await run([...args, "--json"]);
    if (code !== 0) throw new Error(`carillon ${args.join(" ")}: exit code ${code}: ${stderr}`);
    return JSON.parse(stdout);
  };
  return {
    name: "cli",
    create: (job) => json("job", "create", ...jobFlags(job)),
    job: (job) => json("job", "get", job),
    runsOf: (job, status) => json("run", "list", "--job", job, "--status", status),
    run: (id) => json("run", "get", id),
    explain: (id) => json("run", "explain", id),
    pause: (job, reason) => json("job", "pause", job, "--reason", reason),
    resume: (job) => json("job", "resume", job, "--missed", "none"),
    runNow: (job) => json("job", "run", job, "--wait"),
    backfill: (job, from, to) => json("job", "backfill", job, "--from", from, "--to", to),
    backfillState: (id) => json("backfill", "get", id),
    cancel: (job) => json("job", "cancel", job),
    deadLetters: (job) => json("dead-letter", "list", "--job", job),
    retry: (id) => json("dead-letter", "redrive", id),
    jobsWith: (selector) => json("job", "list", "-l", selector),
    runsWith: (selector) => json("run", "list", "-l", selector),
    async followLogs(id, onLine) {
      await run(["run", "logs", "-f", id, "-o", "jsonl"], (line) => onLine(JSON.parse(line)));
    },
    async refused(job) {
      const { stderr } = await run(["job", "create", ...jobFlags(job), "--json"]);
      const pointers = [...stderr.matchAll(/^(?:carillon:| {2}-) (\/\S+):/gm)].map(([, pointer]) => pointer);
      return { code: /\((\w+)\)$/m.exec(stderr)?.[1], pointers };
    },
  };
}

function jobFlags({ key, task, payload, labels = {}, schedule = {} }) {
  const { time_zone: zone, ...when } = schedule;
  return [
    "--task",
    task,
    ...(key === undefined ? [] : ["--key", key]),
    ...(payload === undefined ? [] : ["--payload", JSON.stringify(payload)]),
    ...Object.entries(labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]),
    ...Object.entries(when).flatMap(([kind, value]) => [`--${kind}`, value]),
    ...(zone === undefined ? [] : ["--tz", zone]),
  ];
}
