import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PassThrough } from "node:stream";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { notFound, serveBy } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

/** A job as the server returns it, with all defaults. */
const stored = (over: object) => ({
  id: "job_1",
  key: "nightly",
  task: "echo",
  payload: null,
  schedule: { cron: "0 2 * * *", time_zone: "UTC" },
  retry: {
    max_attempts: 5,
    backoff: "exponential",
    initial: "1s",
    factor: 2,
    max: "1h",
    jitter: "full",
    non_retryable: [],
  },
  timeout: null,
  deadline: null,
  guarantee: "at_least_once",
  requires: {},
  concurrency: null,
  rate_limit: null,
  ordering_key: null,
  ordering_on_failure: null,
  task_version: null,
  breaker: null,
  allow_spot: false,
  callbacks: [],
  priority: 4,
  queue: "default",
  overlap: "skip",
  misfire: "run_once",
  misfire_threshold: "1m",
  catchup_window: "1d",
  catchup_limit: 1_000,
  catchup_rate: 10,
  labels: {},
  owner: null,
  state: "active",
  version: 7,
  ...over,
});

/** Serves these jobs by their keys, in one list, and accepts every change. */
function serveJobs(...jobs: ReturnType<typeof stored>[]) {
  return serveBy(({ method, url, body }) => {
    const { pathname, searchParams } = new URL(url);
    const name = decodeURIComponent(/jobs\/([^:]*)/.exec(pathname)?.[1] ?? "");
    const found = jobs.find(({ key, id }) => name === `@${key}` || name === id);
    const keys = searchParams.get("key")?.split(",");
    const live = jobs.filter(({ key, state }) => state !== "cancelled" && keys?.includes(key));
    if (method === "GET" && name === "")
      return { body: { jobs: keys === undefined ? jobs : live, next_page_token: null } };
    if (method === "GET") return found === undefined ? notFound : { body: found };
    return {
      body: {
        ...stored({ id: "job_new", version: 1 }),
        ...found,
        ...(body as object),
        version: (found?.version ?? 0) + 1,
      },
    };
  });
}

/** Serves the same, and the defaults that the worker of every task registered. */
function serveTasks(defaults: object, ...jobs: ReturnType<typeof stored>[]) {
  return serveBy(({ url }) =>
    url.includes("/tasks/") ? { body: { name: "echo", defaults } } : { body: { jobs, next_page_token: null } },
  );
}

async function apply(files: string, ...argv: string[]) {
  const io = fakeIo({ stdin: [files] });
  const code = await runCli(["job", "apply", "-f", "-", ...argv], io);
  return { code, out: io.written(), said: io.said.join("\n") };
}

const nightly = "key: nightly\ntask: echo\nschedule:\n  cron: 0 2 * * *\n";

describe("job apply", () => {
  it("job apply leaves a job unchanged that equals the file in another spelling", async () => {
    const calls = serveJobs(stored({}));
    const words = `${nightly}  time_zone: UTC\npriority: 4\nretry: { initial: 1000ms }\npayload: null\nlabels: {}\n`;
    expect(await apply(words)).toEqual({ code: 0, out: "", said: "carillon: 1 unchanged" });
    expect(calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("job apply prints each difference, changes the job only at the version that it compared, and prints the undo", async () => {
    const calls: string[] = [];
    serveBy(({ method, headers, body }) => {
      calls.push(`${method} ${headers.get("if-match") ?? ""} ${JSON.stringify(body)}`);
      if (method === "GET") return { body: { jobs: [stored({ timeout: "1m" })], next_page_token: null } };
      return { body: stored({ timeout: "1m", version: 8 }) };
    });
    const { code, out, said } = await apply(nightly.replace("0 2", "0 3") + "payload: { a: [1] }\n");
    expect(code).toBe(0);
    expect(out).toBe(
      '~ change @nightly\n    schedule.cron: 0 2 * * * → 0 3 * * *\n    timeout: 1m → (left out)\n    payload: {"a":[1]}\n',
    );
    expect(calls).toEqual([
      "GET  undefined",
      // The defaults of the task.
      "GET  undefined",
      'PUT "v7" {"key":"nightly","task":"echo","schedule":{"cron":"0 3 * * *"},"payload":{"a":[1]}}',
    ]);
    expect(said).toContain("1 changed");
    expect(said).toContain("undo with: carillon job rollback @nightly 7");
  });

  it("job apply reads several documents, lists, { jobs } and JSON, from files, folders and standard input", async () => {
    const dir = mkdtempSync(join(tmpdir(), "carillon-apply-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    mkdirSync(join(dir, "jobs"));
    const job = (key: string) => ({ key, task: "echo", schedule: { every: "1h" } });
    writeFileSync(
      join(dir, "jobs", "a.yaml"),
      `---\nkey: a\ntask: echo\nschedule: { every: 1h }\n---\n- ${JSON.stringify(job("b"))}\n---\n`,
    );
    writeFileSync(join(dir, "jobs", "b.json"), JSON.stringify({ jobs: [job("c"), job("d")] }));
    writeFileSync(join(dir, "jobs", "notes.txt"), "not a job");
    const calls = serveJobs();
    const io = fakeIo({ cwd: dir, stdin: [JSON.stringify(job("e"))] });
    expect(await runCli(["job", "apply", "-f", "jobs", "-", "--json"], io)).toBe(0);
    const made = calls.filter(({ method }) => method === "POST").map(({ body }) => (body as { key: string }).key);
    expect(made.sort()).toEqual(["a", "b", "c", "d", "e"]);
    expect(JSON.parse(io.written())).toMatchObject([
      { action: "create", key: "a", id: "job_new", version: 1 },
      {},
      {},
      {},
      {},
    ]);
  });

  it("job apply --dry-run changes nothing and ends with 9 if it would", async () => {
    const calls = serveJobs(stored({}));
    const { code, said } = await apply(`${nightly}timeout: 5m\n`, "--dry-run");
    expect({ code, said }).toEqual({ code: 9, said: "carillon: 1 to change; nothing was changed" });
    expect((await apply(nightly, "--dry-run")).code).toBe(0);
    const { out } = await apply(`${nightly}timeout: 5m\n`, "--dry-run", "--json");
    expect(JSON.parse(out)).toEqual([
      { action: "change", key: "nightly", id: "job_1", version: 7, differences: [{ path: "timeout", after: "5m" }] },
    ]);
    expect(calls.every(({ method }) => method === "GET")).toBe(true);
  });

  it("job apply --prune cancels only jobs that match the selector, and needs one", async () => {
    const labels = { app: "x" };
    const jobs = [
      stored({ labels }),
      stored({ id: "job_2", key: "old", labels, version: 3 }),
      stored({ id: "job_3", key: "gone", labels, state: "cancelled" }),
      stored({ id: "job_4", key: null, labels }),
    ];
    const calls = serveJobs(...jobs);
    const file = `${nightly}labels: { app: x }\n`;
    const { code, out, said } = await apply(file, "--prune", "-l", "app=x");
    expect({ code, out }).toEqual({ code: 0, out: "- cancel @old (in no file)\n" });
    expect(said).toContain("undo with: carillon job export job_2 | carillon job apply -f -");
    expect(calls.filter(({ method }) => method !== "GET")).toMatchObject([
      { url: expect.stringMatching(/%40old:cancel$/), body: { running: "keep" } },
    ]);
    expect(new URL(calls[1]?.url ?? "").searchParams.get("label_selector")).toBe("app=x");
    for (const argv of [["--prune"], ["-l", "app=x"], ["--prune", "-l", "app=y"]]) {
      const before = calls.length;
      expect((await apply(file, ...argv)).code).toBe(2);
      expect(calls).toHaveLength(before);
    }
  });

  it("job apply creates a job after the jobs that it waits for", async () => {
    const calls = serveJobs();
    const files = ["c", "b", "a"].map((key, index, all) => ({
      key,
      task: "echo",
      schedule: key === "a" ? { manual: true } : { after: [{ job: `@${all[index + 1] ?? ""}` }] },
    }));
    expect((await apply(JSON.stringify(files))).code).toBe(0);
    const made = calls.filter(({ method }) => method === "POST").map(({ body }) => (body as { key: string }).key);
    expect(made).toEqual(["a", "b", "c"]);
  });

  it("job apply continues after a refused job, and ends with the code of the refusal", async () => {
    serveBy(({ method, body }) => {
      if (method === "GET") return { body: { jobs: [], next_page_token: null } };
      const { key } = body as { key: string };
      if (key === "b") return { body: stored({ key }) };
      return { status: 409, body: { status: 409, code: "key_taken", detail: "It is taken.", errors: [] } };
    });
    const { code, said } = await apply(`${nightly}---\nkey: b\ntask: echo\nschedule: { manual: true }\n`);
    expect(code).toBe(5);
    expect(said).toContain("@nightly was refused: It is taken. (key_taken)");
    expect(said).toContain("@b created; undo with: carillon job cancel @b");
  });

  it("job apply creates many new jobs in batches, each accepted or refused separately, and shows progress on a terminal", async () => {
    const files = Array.from({ length: 120 }, (_, index) => ({
      key: `j${index}`,
      task: "echo",
      schedule: { manual: true },
    }));
    const calls = serveBy(({ method, body }) => {
      if (method === "GET") return { body: { jobs: [], next_page_token: null } };
      const { jobs } = body as { jobs: { key: string }[] };
      const problem = { status: 409, code: "key_taken", detail: "It is taken.", errors: [] };
      return { body: { results: jobs.map(({ key }) => (key === "j7" ? { problem } : { id: `job_${key}` })) } };
    });
    const io = fakeIo({ stdin: [JSON.stringify(files)], stderrIsTerminal: true });
    expect(await runCli(["job", "apply", "-f", "-"], io)).toBe(5);
    const sizes = calls.filter(({ method }) => method === "POST").map(({ body }) => (body as { jobs: [] }).jobs.length);
    expect(sizes).toEqual([100, 20]);
    expect(calls.filter(({ method }) => method === "GET")).toHaveLength(3);
    expect(io.said.join("\n")).toMatch(/119 created[^]*and so on for 99 more[^]*@j7 was refused/);
    expect(String((io.stderr as PassThrough).read())).toContain("[########################] 100 %  120 of 120 done");
  });

  it.each([
    ["task: echo\nschedule: { manual: true }\n", "needs a key"],
    ["key: a\ntask: echo\n", "must be one of cron, every, at, manual, after"],
    ["key: a\ntask: echo\nschedule: { delay: 3d }\n", "applied repeatedly"],
    ["key: a\ntask: echo\nschedule: { cron: 61 * * * * }\n", "standard input: a: /schedule/cron: "],
    ["key: a\ntask: echo\nschedule: { manual: true }\nretrys: 3\n", "/retrys"],
    [`${nightly}---\n${nightly}`, "the key nightly is that of standard input#1 as well"],
    ["key: [", "standard input cannot be read"],
    ["just words", "is no job"],
    ["", "There is no job in standard input"],
  ])("job apply refuses %j before it sends any request", async (file, message) => {
    const calls = serveJobs();
    const { code, said } = await apply(file);
    expect({ code, calls }).toEqual({ code: 2, calls: [] });
    expect(said).toContain(message);
  });
});

describe("job export", () => {
  it("job export prints fields without defaults, so that applying the file changes nothing", async () => {
    const job = stored({ payload: { at: "yes", n: 1 }, labels: { app: "x" }, timeout: "5m" });
    serveJobs(job, stored({ key: null }), stored({ key: "done", state: "completed" }));
    const io = fakeIo();
    expect(await runCli(["job", "export"], io)).toBe(0);
    expect(io.written()).toBe(
      `key: nightly\ntask: echo\nschedule:\n  cron: 0 2 * * *\npayload:\n  at: yes\n  n: 1\ntimeout: 5m\nlabels:\n  app: x\n`,
    );
    expect(io.said).toEqual(["carillon: 2 left out: they have no key, or do not fire again"]);
    expect((await apply(io.written())).said).toBe("carillon: 1 unchanged");
  });

  it("job export prints named jobs, as several documents or as one list", async () => {
    serveJobs(stored({}), stored({ id: "job_2", key: "b", state: "cancelled" }));
    const io = fakeIo();
    expect(await runCli(["job", "export", "@nightly", "job_2"], io)).toBe(0);
    expect(io.written().split("---\n")).toHaveLength(2);
    const json = fakeIo();
    await runCli(["job", "export", "@nightly", "job_2", "--json"], json);
    expect(JSON.parse(json.written())).toMatchObject([{ key: "nightly" }, { key: "b" }]);
    expect(await runCli(["job", "export", "@nightly", "--task", "echo"], fakeIo())).toBe(2);
  });
});

describe("other forms", () => {
  it("-o yaml prints the same value as JSON", async () => {
    serveJobs(stored({}));
    const io = fakeIo();
    expect(await runCli(["job", "get", "@nightly", "-o", "yaml"], io)).toBe(0);
    expect(io.written()).toContain("id: job_1\nkey: nightly\n");
  });
});

describe("carillon job apply, where a task has defaults", () => {
  const file = "key: nightly\ntask: echo\nschedule: { cron: 0 2 * * * }\n";

  it("job apply leaves a job unchanged that differs from its file only by the defaults of its task", async () => {
    const calls = serveTasks({ timeout: "2m", queue: "mail" }, stored({ timeout: "2m", queue: "mail" }));
    expect(await apply(file, "--dry-run")).toMatchObject({ code: 0, out: "" });
    expect(calls.map(({ url }) => new URL(url).pathname)).toEqual(["/v1/jobs", "/v1/tasks/echo"]);
  });

  it("job apply compares a job after the defaults of its task are filled in", async () => {
    serveTasks({ timeout: "3m" }, stored({ timeout: "2m" }));
    const { out } = await apply(file, "--dry-run");
    expect(out).toContain("timeout: 2m → 3m");
  });
});

it("task get prints the defaults of a task", async () => {
  serveBy(() => ({
    body: {
      name: "echo",
      workers: 1,
      slots: 2,
      queues: [],
      has_jobs: false,
      expected_ms: null,
      defaults: { timeout: "2m" },
    },
  }));
  const io = fakeIo();
  expect(await runCli(["task", "get", "echo"], io)).toBe(0);
  expect(io.written()).toMatch(/workers +1, with 2 slots/);
  expect(io.written()).toMatch(/default timeout +2m/);
});
