import type { Backfill } from "@carillon/contract";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const server = "http://127.0.0.1:8023/v1";
const from = "2030-01-01T00:00:00Z";
const backfill = (over: Partial<Backfill> = {}): Backfill => ({
  id: "bkf_1",
  job_id: "job_1",
  state: "running",
  reason: null,
  from: "2030-01-01T00:00:00.000Z",
  to: "2030-01-02T00:00:00.000Z",
  total: 4,
  made: 0,
  passed: 0,
  skipped: 0,
  through: null,
  per_second: 10,
  concurrency: 10,
  repeat: false,
  force: false,
  actor: null,
  created_at: "2030-01-03T00:00:00.000Z",
  finished_at: null,
  ...over,
});

describe("job backfill", () => {
  it("job backfill sends its flags, and prints how to abort it", async () => {
    const calls = serve(backfill());
    const io = fakeIo();
    const flags = ["--from", from, "--to", "2030-01-02T00:00:00Z", "--rate", "0.5", "--concurrency", "1"];
    expect(await runCli(["job", "backfill", "@k", ...flags, "--repeat", "--force", "--json"], io)).toBe(0);
    const body = { from, to: "2030-01-02T00:00:00Z", per_second: 0.5, concurrency: 1, repeat: true, force: true };
    expect(calls).toEqual([{ method: "POST", url: `${server}/jobs/%40k:backfill`, body }]);
    expect(JSON.parse(io.written())).toEqual(backfill());
    expect(io.said.join()).toContain("carillon backfill abort bkf_1");
  });

  it("job backfill --dry-run prints the count and starts nothing", async () => {
    const calls = serve({ total: 31, dry_run: true });
    const io = fakeIo();
    expect(await runCli(["job", "backfill", "@k", "--from", from, "--dry-run"], io)).toBe(0);
    expect(calls.map(({ body }) => body)).toEqual([{ from, dry_run: true }]);
    expect(io.written()).toBe("31\n");
    expect(io.said).toEqual(["carillon: 31 occurrences in that range; nothing was written"]);
  });

  it("job backfill --watch prints each progress until it is done", async () => {
    const some = backfill({ made: 2, passed: 1 });
    serve(backfill(), some, some, backfill({ state: "done", made: 2, passed: 1, skipped: 1 }));
    const io = fakeIo();
    expect(await runCli(["job", "backfill", "@k", "--from", from, "--watch"], io)).toBe(0);
    expect(io.said.slice(1)).toEqual([
      "carillon: [------------------------]   0 %  running: 0 of 4 made",
      "carillon: [##################------]  75 %  running: 2 of 4 made, 1 ran before",
      "carillon: [########################] 100 %  done: 2 of 4 made, 1 ran before, 1 left out for overlap",
    ]);
    expect(io.slept).toEqual([500, 500, 500]);
    expect(io.written()).toMatch(/state +done\n/);
  });

  it("job backfill --watch ends with 7 when the backfill is aborted", async () => {
    serve(backfill(), backfill({ state: "aborted", reason: "job_cancelled" }));
    const io = fakeIo();
    expect(await runCli(["job", "backfill", "@k", "--from", from, "--watch"], io)).toBe(7);
    expect(io.written()).toContain("aborted (job_cancelled)");
  });

  it.each([
    [[], "--from <instant>"],
    [["--from", from, "--rate", "0"], "must be a number from 0.001 to 1000"],
    [["--from", from, "--rate", "fast"], "must be a number"],
    [["--from", from, "--concurrency", "0"], "must be a whole number from 1 to 1000"],
  ])("refuses %j with exit code 2", async (argv, message) => {
    const calls = serve(backfill());
    const io = fakeIo();
    expect(await runCli(["job", "backfill", "@k", ...argv], io)).toBe(2);
    expect(io.said.join("\n")).toContain(message);
    expect(calls).toEqual([]);
  });
});

describe("backfill", () => {
  it.each<[string[], string, string]>([
    [["get", "bkf_1"], "GET", "/backfills/bkf_1"],
    [["abort", "bkf_1"], "POST", "/backfills/bkf_1:abort"],
  ])("backfill %j sends one request, and prints the backfill", async (argv, method, path) => {
    const calls = serve(backfill());
    const io = fakeIo();
    expect(await runCli(["backfill", ...argv], io)).toBe(0);
    expect(calls).toEqual([{ method, url: server + path, body: undefined }]);
    expect(io.written()).toMatch(/range +2030-01-01T00:00:00.000Z to 2030-01-02T00:00:00.000Z/);
  });

  it("backfill list prints the backfills of a job", async () => {
    const calls = serve({ backfills: [backfill({ made: 3 })], next_page_token: null });
    const io = fakeIo();
    expect(await runCli(["backfill", "list", "@k", "-n", "5"], io)).toBe(0);
    expect(calls).toEqual([{ method: "GET", url: `${server}/jobs/%40k/backfills?page_size=5`, body: undefined }]);
    expect(io.written()).toMatch(/bkf_1 +running .* 3\/4/);
  });
});
