import type { Job } from "@carillon/contract";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../../src/cli/main.js";
import { fakeIo } from "./fake-io.js";

interface Call {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

/** Stands in for the server: answers each request with the next of the given bodies. */
function serve(...answers: readonly unknown[]): Call[] {
  const calls: Call[] = [];
  const left = [...answers];
  vi.stubGlobal("fetch", async (url: string, { method, body }: { method: string; body?: string }) => {
    calls.push({ method, url, body: body === undefined ? undefined : JSON.parse(body) });
    return new Response(JSON.stringify(left.length > 1 ? left.shift() : left[0]), { status: 200 });
  });
  return calls;
}

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
  it("sends what the flags say", async () => {
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
  ])("waits for a run that ends %s and then ends with %i", async (status, code) => {
    serve(job("queued"), job("queued", run("queued")), job("running", run("running")), job(status, run(status)));
    const io = fakeIo();
    expect(await runCli(["job", "create", "--task", "echo", "--wait"], io)).toBe(code);
    expect(io.written()).toContain(status);
    expect(io.slept).toEqual([50, 100]);
  });

  it("ends with 8 when the run takes longer than the wait", async () => {
    serve(job("queued"), job("queued", run("queued")));
    const io = fakeIo();
    expect(await runCli(["job", "create", "--task", "echo", "--wait", "--wait-seconds", "5"], io)).toBe(8);
    expect(io.said.join()).toContain("queued after 5 s");
  });
});

describe("lists", () => {
  it("follows pages up to the limit", async () => {
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

  it("says so when there is nothing, and keeps standard output for data", async () => {
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
