import type { Job } from "@carillon/contract";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const job = (status: string, run?: object): Partial<Job> & object =>
  ({
    id: "job_1",
    key: null,
    task: "echo",
    status,
    description: "Once",
    warnings: [],
    last_run: null,
    ...(run && { run }),
  }) as never;

const run = (status: string) => ({ id: "run_1", status, output: { a: 1 }, error: null });

describe("job create", () => {
  it("job create sends its flags", async () => {
    const calls = serve(job("scheduled"));
    const io = fakeIo({ env: { CARILLON_URL: "http://127.0.0.1:9" } });
    const argv =
      "job create --task echo --payload - --cron @daily --tz Europe/Paris --key k --priority 9 --max-attempts 3";
    io.stdin.push('{"a":1}');
    expect(await runCli([...argv.split(" "), "--label", "a=b=c", "--label", "d=", "--json"], io)).toBe(0);
    expect(calls).toEqual([
      {
        method: "POST",
        url: "http://127.0.0.1:9/v1/jobs",
        body: {
          task: "echo",
          payload: { a: 1 },
          schedule: { cron: "@daily", time_zone: "Europe/Paris" },
          key: "k",
          priority: 9,
          retry: { max_attempts: 3 },
          labels: { a: "b=c", d: "" },
        },
      },
    ]);
    expect(JSON.parse(io.written())).toMatchObject({ id: "job_1" });
  });

  it.each([
    ["succeeded", 0],
    ["failed", 6],
    ["cancelled", 7],
    ["skipped", 6],
  ])("job create --wait ends after a run that ends %s with %i", async (status, code) => {
    serve(job("queued"), job("queued", run("queued")), job("running", run("running")), job(status, run(status)));
    const io = fakeIo();
    expect(await runCli(["job", "create", "--task", "echo", "--wait"], io)).toBe(code);
    expect(io.written()).toContain(status);
    expect(io.slept).toEqual([50, 100]);
  });

  it("job create --wait ends with 8 when the run takes longer than --wait-timeout", async () => {
    serve(job("queued"), job("queued", run("queued")));
    const io = fakeIo();
    expect(await runCli(["job", "create", "--task", "echo", "--wait", "--wait-timeout", "5s"], io)).toBe(8);
    expect(io.said.join()).toContain("queued after 5 s");
  });
});

describe("changes of a job", () => {
  const jobUrl = "http://127.0.0.1:8023/v1/jobs/%40k";

  it.each<[string[], string, string, unknown]>([
    [["pause", "@k", "--for", "2h", "--reason", "why"], "POST", ":pause", { for: "2h", reason: "why" }],
    [["pause", "@k", "--until", "2030-01-01T00:00:00Z"], "POST", ":pause", { until: "2030-01-01T00:00:00Z" }],
    [["cancel", "@k"], "POST", ":cancel", { running: "signal" }],
    [["cancel", "@k", "--keep-running"], "POST", ":cancel", { running: "keep" }],
    [["update", "@k", '{"timeout":null}'], "PATCH", "", { timeout: null }],
  ])("job %j sends one request, and prints the job", async (argv, method, verb, body) => {
    const calls = serve({ ...job("scheduled"), version: 3 });
    const io = fakeIo();
    expect(await runCli(["job", ...argv, "--json"], io)).toBe(0);
    expect(calls.filter((call) => call.method !== "GET")).toEqual([{ method, url: jobUrl + verb, body }]);
    expect(JSON.parse(io.written())).toMatchObject({ id: "job_1" });
  });

  it.each<[string[], unknown]>([
    [["--cron", "0 3 * * *", "--tz", "Europe/Paris"], { schedule: { cron: "0 3 * * *", time_zone: "Europe/Paris" } }],
    [
      ["--payload", "[1]", "--overlap", "skip", "--label", "a=b"],
      { payload: [1], overlap: "skip", labels: { a: "b" } },
    ],
  ])("job update accepts flags: %j", async (flags, body) => {
    const calls = serve({ ...job("scheduled"), version: 3 });
    expect(await runCli(["job", "update", "k", ...flags], fakeIo())).toBe(0);
    expect(calls.at(-1)).toEqual({ method: "PATCH", url: jobUrl, body });
  });

  it("job update needs either flags or JSON", async () => {
    const calls = serve({ ...job("scheduled"), version: 3 });
    expect(await runCli(["job", "update", "k"], fakeIo())).toBe(2);
    expect(await runCli(["job", "update", "k", "{}", "--queue", "q"], fakeIo())).toBe(2);
    expect(calls).toEqual([]);
  });

  it.each([
    ["k", "%40k"],
    ["@job_of_mine", "%40job_of_mine"],
    ["job_01k9zq3v5e0r8t2b7n4m6x1c9d", "job_01k9zq3v5e0r8t2b7n4m6x1c9d"],
    ["01932c07-5c4e-7c5f-b3a1-0d6f3c1f2a4b", "01932c07-5c4e-7c5f-b3a1-0d6f3c1f2a4b"],
  ])("job get finds a job by %s", async (name, segment) => {
    const calls = serve(job("scheduled"));
    expect(await runCli(["job", "get", name], fakeIo())).toBe(0);
    expect(calls[0]?.url).toBe(`http://127.0.0.1:8023/v1/jobs/${segment}`);
  });

  it("changes of a job print how to undo them", async () => {
    serve(job("paused"));
    const io = fakeIo();
    await runCli(["job", "pause", "@k"], io);
    expect(io.said.join()).toContain("carillon job resume @k");
  });

  it("job get prints since when, until when and why a job is paused", async () => {
    const pause = { at: "2030-01-01T00:00:00.000Z", until: null, reason: "a\u001b[2Jb" };
    serve({ ...job("paused"), pause });
    const io = fakeIo();
    await runCli(["job", "get", "@k"], io);
    expect(io.written()).toMatch(/paused +since 2030-01-01T00:00:00.000Z: a \[2Jb\n/);
  });

  it("job resume prints how many occurrences the pause skipped", async () => {
    const calls = serve({ job: job("paused"), missed: 3, dry_run: true });
    const io = fakeIo();
    expect(await runCli(["job", "resume", "@k", "--missed", "latest", "--dry-run"], io)).toBe(0);
    expect(calls[0]?.body).toEqual({ missed: "latest", dry_run: true });
    expect(io.said.join()).toContain("3 occurrences inside the pause; nothing was changed");
    expect(await runCli(["job", "resume", "@k", "--missed", "most"], fakeIo())).toBe(2);
    const second = fakeIo();
    await runCli(["job", "resume", "@k", "--dry-run", "--json"], second);
    expect(JSON.parse(second.written())).toMatchObject({ missed: 3, dry_run: true });
  });

  it("job run prints the run", async () => {
    const trigger = { scheduled_for: "2030-01-01T00:00:00.000Z" };
    const calls = serve({
      ...run("queued"),
      status_reason: null,
      lag_ms: null,
      duration_ms: null,
      error: null,
      losses: 0,
      attempts: [],
      trigger,
    });
    const io = fakeIo();
    expect(await runCli(["job", "run", "@k", "--payload", "null", "--force"], io)).toBe(0);
    expect(calls).toEqual([{ method: "POST", url: `${jobUrl}:runNow`, body: { payload: null, force: true } }]);
    expect(io.written()).toContain("run_1");
  });

  it("job next lists the upcoming fires", async () => {
    const fire = { outcome: "fires", scheduled_for: "2030-01-01T00:00:00.000Z", local_time: "x", notes: [] };
    const calls = serve({ fires: [fire] });
    const io = fakeIo();
    expect(await runCli(["job", "next", "@k", "-n", "3"], io)).toBe(0);
    expect(calls[0]?.url).toBe(`${jobUrl}/upcoming?count=3`);
    expect(io.written()).toContain("2030-01-01T00:00:00.000Z");
  });
});

describe("task run", () => {
  it("task run sends its flags", async () => {
    const calls = serve({ ...run("queued"), status_reason: null, trigger: {} });
    const argv = ["--queue", "q", "--priority", "9", "--max-attempts", "1", "--timeout", "5s", "--label", "a=b"];
    const at = "2030-01-01T00:00:00Z";
    expect(await runCli(["task", "run", "echo", ...argv, "--at", at, "--json"], fakeIo())).toBe(0);
    const said = { queue: "q", priority: 9, retry: { max_attempts: 1 }, timeout: "5s", labels: { a: "b" }, run_at: at };
    expect(calls[0]?.body).toEqual({ task: "echo", ...said });
    expect(await runCli(["task", "run", "echo", "--at", at, "--delay", "1h"], fakeIo())).toBe(2);
  });
});

describe("lists", () => {
  it("job list reads pages up to the limit", async () => {
    const page = (ids: string[], next: string | null) => ({
      jobs: ids.map((id) => ({ ...job("queued"), id })),
      next_page_token: next,
    });
    const calls = serve(page(["a", "b"], "t1"), page(["c"], "t2"));
    const io = fakeIo();
    expect(await runCli(["job", "list", "--limit", "3", "--status", "pending", "-o", "jsonl"], io)).toBe(0);
    expect(
      io
        .written()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).id),
    ).toEqual(["a", "b", "c"]);
    expect(calls.map(({ url }) => new URL(url).search)).toEqual([
      "?status=pending&page_size=3",
      "?status=pending&page_size=1&page_token=t1",
    ]);
  });

  it("run list filters by time and by values of the payload, and sorts by --oldest-first", async () => {
    const calls = serve({ runs: [], next_page_token: null });
    const argv = [
      "run",
      "list",
      "--match",
      "customer.id=42",
      "--match",
      "payload.a=b=c",
      "--until",
      "2030-01-01T00:00:00Z",
      "--oldest-first",
    ];
    expect(await runCli(argv, fakeIo())).toBe(0);
    expect(Object.fromEntries(new URL(calls[0]?.url ?? "").searchParams)).toEqual({
      created_before: "2030-01-01T00:00:00Z",
      "payload.customer.id": "42",
      "payload.a": "b=c",
      order_by: "created_at asc",
      page_size: "50",
    });
    const bulk = serve({ count: 3, is_least: false, dry_run: true });
    expect(await runCli(["run", "bulk", "retry", "--match", "a=1", "--dry-run"], fakeIo())).toBe(0);
    expect(bulk[0]?.body).toEqual({ action: "retry", filter: { payload: { a: "1" } }, dry_run: true });
    expect(await runCli(["run", "list", "--match", "a"], fakeIo())).toBe(2);
  });

  it("run list reads a duration as a time that long ago", async () => {
    const calls = serve({ runs: [], jobs: [], dead_letters: [], next_page_token: null });
    const now = Date.parse("2030-01-02T00:00:00Z");
    for (const noun of ["run", "job", "dead-letter"])
      await runCli([noun, "list", "--since", "1d2h", "--until", "30m"], fakeIo({ now }));
    const [since, until] = ["2029-12-31T22:00:00.000Z", "2030-01-01T23:30:00.000Z"];
    expect(calls.map(({ url }) => [...new URL(url).searchParams.values()].slice(0, 2))).toEqual(
      Array.from({ length: 3 }, () => [since, until]),
    );
  });

  it("job list reports an empty list on standard error", async () => {
    serve({ runs: [], next_page_token: null });
    const io = fakeIo();
    expect(await runCli(["run", "list", "--job", "job_1"], io)).toBe(0);
    expect({ out: io.written(), said: io.said }).toEqual({ out: "", said: ["carillon: no runs"] });
    serve({ runs: [], next_page_token: null });
    const json = fakeIo();
    await runCli(["run", "list", "--json"], json);
    expect(JSON.parse(json.written())).toEqual([]);
  });
});
