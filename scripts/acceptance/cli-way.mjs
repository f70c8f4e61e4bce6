// Everything by the command line of the installed package.
import { join } from "node:path";
import { runProgram } from "../pack/run-program.mjs";

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
