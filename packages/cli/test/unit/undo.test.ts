import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { allCommands } from "../../src/nouns.js";
import { fakeIo } from "./fake-io.js";
import { notFound, serveBy } from "./fake-server.js";

const dir = mkdtempSync(join(tmpdir(), "carillon-undo-"));
afterAll(() => rmSync(dir, { recursive: true }));
afterEach(() => vi.unstubAllGlobals());

const at = "2030-01-01T00:00:00.000Z";

const commands = await allCommands();

/** An object with the fields of a job, a run, a queue and all others, which every command can print. */
const thing = (version: number) => ({
  id: "id_1",
  key: "k",
  name: "n",
  task: "echo",
  state: "paused",
  status: "queued",
  status_reason: null,
  version,
  schedule: { cron: "0 0 * * *", time_zone: "UTC" },
  retry: {},
  description: "Once",
  last_run: null,
  attempt: 1,
  max_attempts: 1,
  attempts: [],
  trigger: { kind: "once", id: null, scheduled_for: at },
  error: null,
  lag_ms: null,
  duration_ms: null,
  is_new: true,
  url: "https://example.com/it's",
  on: ["failed"],
  include: [],
  enabled: true,
  disabled_reason: null,
  failing_since: null,
  tasks: ["a", "b"],
  queues: ["c"],
  order: "fifo",
  bound: null,
  paused: true,
  pause: null,
  weight: 3,
  concurrency: null,
  rate_limit: { limit: 2, per: "1m" },
  rules: [{ weekdays: ["SAT"] }],
  labels: {},
  mode: "hold",
  versions: {},
  weights: {},
  job_id: "job_1",
  from: at,
  to: at,
  total: 1,
  made: 0,
  passed: 0,
  skipped: 0,
  reason: null,
  action: "retry",
  seen: 0,
  done: 1,
  failed: 0,
  failures: [],
  refused: 0,
  results: [{ id: "run_1" }],
  jobs: [],
  count: 1,
  more: false,
  missed: 0,
  next_page_token: null,
  job: { id: "id_1", task: "echo", status: "queued", last_run: null },
});

/** Each command that changes something, and the undo that it must print; null if there is none. */
const cases: Readonly<Record<string, [argv: string[], undo: string | null]>> = {
  "worker cordon": [["wrk_1"], "worker uncordon wrk_1"],
  "worker uncordon": [["wrk_1"], "worker cordon wrk_1"],
  "worker drain": [["wrk_1"], null],
  "job create": [["--task", "echo"], "job cancel @k"],
  "job apply": [["-f", "-"], "job cancel @k2"],
  "job update": [["@k", "{}"], "job rollback @k 1"],
  "job rollback": [["@k", "1"], "job rollback @k 1"],
  "job pause": [["@k"], "job resume @k"],
  "job resume": [["@k"], "job pause @k"],
  "job run": [["@k"], "run cancel id_1"],
  "job backfill": [["@k", "--from", at], "backfill abort id_1"],
  "job cancel": [["@k"], "job export id_1 | carillon job apply -f -"],
  "run cancel": [["run_1"], "run replay id_1"],
  "run retry": [["run_1"], "run cancel id_1"],
  "run replay": [["run_1"], "run cancel id_1"],
  "run bulk": [["retry", "--all"], "operation abort id_1"],
  "task run": [["echo"], "run cancel id_1"],
  "dead-letter redrive": [["run_1"], "run cancel id_1"],
  "dead-letter discard": [["--all"], null],
  "webhook create": [["https://example.com"], "webhook delete id_1"],
  "webhook update": [
    ["whk_1", "--disable"],
    String.raw`webhook update whk_1 --to 'https://example.com/it'\''s' --on failed --tasks a,b --queues c --include none --description Once --enable`,
  ],
  "webhook rotate": [["whk_1"], null],
  "webhook test": [["whk_1"], null],
  "webhook redeliver": [["whk_1", "run_1"], null],
  "webhook delete": [
    ["whk_1"],
    String.raw`webhook create 'https://example.com/it'\''s' --on failed --tasks a,b --queues c --include none --description Once`,
  ],
  "queue update": [["n", "--order", "edf"], "queue update n --order fifo --bound usual"],
  "queue pause": [["n"], "queue resume n"],
  "queue resume": [["n"], "queue pause n"],
  "queue purge": [["n"], null],
  "limit update": [["queue:n", "--limit", "5"], "limit delete queue:n --kind concurrency"],
  "limit delete": [["queue:n"], "limit update queue:n --limit 2 --per 1m"],
  "breaker reset": [["n"], null],
  "namespace create": [["n"], null],
  "namespace update": [["n", "--weight", "5"], "namespace update n --weight 3"],
  "backfill abort": [["bkf_1"], null],
  "operation abort": [["op_1"], null],
  "calendar apply": [["n", "{}"], `calendar apply n '{"rules":[{"weekdays":["SAT"]}]}'`],
  "calendar delete": [["n"], `calendar apply n '{"rules":[{"weekdays":["SAT"]}]}'`],
  "window apply": [["n", "{}"], `window apply n '{"mode":"hold","labels":{},"from":"${at}","to":"${at}"}'`],
  "window delete": [["n"], `window apply n '{"mode":"hold","labels":{},"from":"${at}","to":"${at}"}'`],
  "run import": [["-"], null],
  "import crontab": [["-", "--tz", "UTC", "--name", "tab"], "job cancel @tab-true"],
  init: [["new"], "cd new && rm package.json tasks.js jobs.yaml README.md"],
  login: [["http://127.0.0.1:8023", "--no-key"], "profile delete default"],
  "profile use": [["--none"], "profile use default"],
  "profile delete": [["default"], "login http://127.0.0.1:8023 --profile default"],
  api: [["-X", "POST", "/v1/jobs"], null],
};

/** Commands that need a database are tested in the cluster tier. */
const elsewhere = ["server migrate"];

const input: Readonly<Record<string, string>> = {
  "job apply": "key: k2\ntask: echo\nschedule: { cron: '@daily' }\n",
  "run import": '{"task":"echo"}\n',
  "import crontab": "0 0 * * * true\n",
};

const changing = commands.filter(({ changes }) => changes === true).map(({ path }) => path.join(" "));
const known = new Set(commands.map(({ path }) => path.join(" ")));

describe("every command that changes something", () => {
  it("every command that changes something has a case here", () => {
    expect([...Object.keys(cases), ...elsewhere].sort()).toEqual([...changing].sort());
  });

  it.each(
    Object.entries(cases).flatMap(([name, [argv, undo]]) => (undo === null ? [] : [[name, argv, undo] as const])),
  )("%s prints its undo, with the flags that address the same server", async (name, argv, undo) => {
    const said = await undoOf(name, argv);
    const flags = isRemote(name) ? " --namespace billing" : "";
    const whole = `${undo.replaceAll(" | ", `${flags} | `)}${flags}`;
    expect(said).toContain(`undo with: ${name === "init" ? whole : `carillon ${whole}`}`);
    const parts = name === "init" ? [] : undo.split(" | carillon ");
    expect(parts.filter((part) => ![...known].some((one) => part.startsWith(one)))).toEqual([]);
  });

  it.each(Object.entries(cases).flatMap(([name, [argv, undo]]) => (undo === null ? [[name, argv] as const] : [])))(
    "%s prints that there is no undo",
    async (name, argv) => {
      expect(await undoOf(name, argv)).toContain("there is no undo");
    },
  );
});

describe("every other command", () => {
  /** They start a process, or run until they are stopped. */
  const lasting = new Set(["dev", "server start", "worker start", "events tail", "top", "run watch"]);
  const others = commands.filter(({ path, changes }) => changes !== true && !lasting.has(path.join(" ")));

  it.each(others.map(({ path }) => path.join(" ")))("%s sends only GET requests", async (name) => {
    const calls = serveBy(() => ({ body: thing(1) }));
    const help = fakeIo();
    await runCli([...name.split(" "), "--help"], help);
    const [usage = ""] = help.written().split("\n");
    const values = [...usage.matchAll(/<[^>]+>/g)].map(() => "x");
    await runCli([...name.split(" "), ...values], fakeIo());
    expect(calls.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});

const isRemote = (name: string): boolean => !/^(init|login|profile .*)$/.test(name);

/** The line about the undo. */
async function undoOf(name: string, argv: readonly string[]): Promise<string> {
  let version = 0;
  serveBy(({ url, body }) => {
    if (/%40(k2|tab-true)$/.test(url)) return notFound;
    version += 1;
    const key = (body as { key?: string } | undefined)?.key;
    const status = url.endsWith("runs/run_1:cancel") ? "cancelled" : "queued";
    return { body: { ...thing(version), status, ...(key !== undefined && { key }) } };
  });
  const io = fakeIo({ cwd: dir, env: { XDG_CONFIG_HOME: dir }, stdin: [input[name] ?? ""] });
  const remote = isRemote(name) ? ["--namespace", "billing"] : [];
  const code = await runCli([...name.split(" "), ...argv, ...remote], io);
  if (code !== 0) throw new Error(`it ended with ${code}: ${io.said.join("; ")}`);
  return io.said.find((line) => /undo with: |there is no undo/.test(line)) ?? "";
}
