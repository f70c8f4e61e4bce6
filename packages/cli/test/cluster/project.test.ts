import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { freshDatabase } from "@carillon/testkit";
import { beforeEach, expect, it } from "vitest";
import { runCli } from "../../src/main.js";
import { CarillonProcess } from "../../../carillon/test/process/carillon-process.js";
import { scratchDir } from "../../../carillon/test/process/scratch.js";
import { fakeIo } from "../unit/fake-io.js";

let dir: string;
let url: string;
beforeEach(async () => {
  dir = await scratchDir();
});

/** Runs a command in the project's folder. */
async function carillon(argv: readonly string[], stdin = "") {
  const io = { ...fakeIo({ cwd: dir, env: { CARILLON_URL: url }, stdin: [stdin] }), sleep: (ms: number) => pause(ms) };
  const code = await runCli(argv, io);
  return { code, out: io.written(), said: io.said.join("\n") };
}

it("a new project runs, and applying its jobs, a crontab's or exported ones again changes nothing", async () => {
  url = "http://127.0.0.1:1";
  expect((await carillon(["init"])).code).toBe(0);
  // package.json names this checkout, so nothing is fetched.
  await promisify(execFile)("npm", ["install", "--offline", "--no-audit", "--no-fund"], { cwd: dir });
  const { url: databaseUrl, drop } = await freshDatabase();
  const tasks = join(dir, "tasks.js");
  const node = new CarillonProcess(["dev", tasks, "--database-url", databaseUrl, "--port", "0"], { cwd: dir });
  [, url = ""] = await node.line(/^ {2}URL +(\S+)$/);
  await node.line(/^carillon: serving greet on/);

  await writeFile(join(dir, "more.yaml"), more);
  const apply = ["job", "apply", "-f", "jobs.yaml", "more.yaml"];
  expect((await carillon([...apply, "--dry-run"])).code).toBe(9);
  expect(await carillon(apply)).toMatchObject({ code: 0, said: expect.stringContaining("4 created") });
  expect(await carillon([...apply, "--dry-run"])).toMatchObject({ code: 0, out: "" });
  const ran = await carillon(["job", "run", "@greet-every-minute", "--force", "--wait", "--json"]);
  expect(JSON.parse(ran.out)).toMatchObject({ status: "succeeded", output: "hello Carillon" });

  const { out: exported } = await carillon(["job", "export"]);
  expect(await carillon(["job", "apply", "-f", "-"], exported)).toMatchObject({
    code: 0,
    said: "carillon: 4 unchanged",
  });

  const changed = await readFile(join(dir, "more.yaml"), "utf8");
  await writeFile(join(dir, "more.yaml"), changed.replace("1h", "2h").replace(/^key: once[^]*/m, ""));
  const pruned = await carillon(["job", "apply", "-f", "more.yaml", "--prune", "-l", "app=more"]);
  expect(pruned).toMatchObject({ code: 0, said: expect.stringContaining("1 changed, 1 cancelled, 1 unchanged") });
  const [undo = ""] = /(?<=carillon )job rollback .*/.exec(pruned.said) ?? [];
  expect((await carillon(undo.split(" "))).code).toBe(0);
  expect(await carillon(["job", "apply", "-f", "more.yaml", "--dry-run"])).toMatchObject({
    code: 9,
    out: expect.stringContaining("1h → 2h"),
  });

  const crontab = ["import", "crontab", "-", "--tz", "Europe/Paris", "--name", "tab"];
  const lines = "0 5 */2 * 1 backup%yes\n@daily clean\n";
  expect(await carillon(crontab, lines)).toMatchObject({ code: 0, said: expect.stringContaining("2 created") });
  expect(await carillon([...crontab, "--prune"], lines)).toMatchObject({
    code: 0,
    said: expect.stringContaining("2 unchanged"),
  });

  const seen = JSON.parse((await carillon(["top", "--every", "500ms", "--json"])).out);
  expect(seen).toMatchObject({ ready: true, queues: [{ name: "default" }, { name: "other" }] });
  expect((await carillon(["api", "/v1/jobs/@unknown"])).code).toBe(3);
  await node.stop();
  await drop();
});

/** A definition with every field, in other spellings than the server's. */
const more = `
key: much
task: echo
schedule: { every: 1h, jitter: 30000ms, starts_at: "2030-01-01T00:00:00+01:00" }
payload: { x: 1 }
priority: 9
queue: other
retry: { max_attempts: 3, max: 500ms }
timeout: 90s
overlap: queue_one
misfire: run_all
concurrency: { limit: 2 }
rate_limit: { limit: 10, per: 60s }
ordering_key: "a:{payload.x}"
breaker: { min_calls: 3 }
callbacks: [{ on: [dead], url: "https://example.com/x" }]
requires: { gpu: a }
task_version: "2"
allow_spot: true
owner: me
labels: { app: more }
---
key: downstream
task: echo
schedule: { after: [{ job: "@much" }] }
labels: { app: more }
---
key: once
task: echo
schedule: { at: "2031-01-01T00:00:00+01:00" }
guarantee: at_most_once
labels: { app: more }
`;
