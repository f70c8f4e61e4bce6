import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const server = "http://127.0.0.1:8023/v1";
const page = (over: object) => ({ results: [], done: 0, refused: 0, dry_run: false, next_page_token: null, ...over });

describe("dead-letter redrive", () => {
  it("dead-letter redrive retries all pages of a filter and prints the count", async () => {
    const first = page({ results: [{ id: "run_1", run_id: "run_3" }], done: 1, next_page_token: "t" });
    const calls = serve(first, page({ results: [{ id: "run_2", run_id: "run_4" }], done: 1 }));
    const io = fakeIo();
    expect(await runCli(["dead-letter", "redrive", "--task", "mail"], io)).toBe(0);
    const body = { filter: { task: "mail" }, page_size: 100 };
    expect(calls).toEqual([
      { method: "POST", url: `${server}/dead-letters:redrive`, body },
      { method: "POST", url: `${server}/dead-letters:redrive`, body: { ...body, page_token: "t" } },
    ]);
    expect(io.written()).toContain("run_4");
    expect(io.said.at(-1)).toMatch(/^carillon: 2 retried, 0 refused; there is no undo: /);
  });

  it("dead-letter redrive fails if a retry was refused", async () => {
    serve(page({ results: [{ id: "run_1", problem: { detail: "one is live" } }], refused: 1 }));
    const io = fakeIo();
    expect(await runCli(["dead-letter", "redrive", "--all"], io)).toBe(1);
    expect(io.written()).toContain("one is live");
  });

  it("dead-letter redrive without a filter needs --all", async () => {
    const calls = serve(page({}));
    expect(await runCli(["dead-letter", "redrive"], fakeIo())).toBe(2);
    expect(calls).toEqual([]);
    const io = fakeIo();
    expect(await runCli(["dead-letter", "redrive", "--dry-run"], io)).toBe(0);
    expect(io.said).toEqual(["carillon: 0 would be retried; nothing was changed"]);
  });

  it("dead-letter redrive --dry-run of one run changes nothing, and accepts no filter", async () => {
    const calls = serve({ id: "run_1", trigger: {}, error: null, losses: 0, attempts: [] });
    for (const verb of ["redrive", "discard"]) {
      const io = fakeIo();
      expect(await runCli(["dead-letter", verb, "run_1", "--dry-run"], io)).toBe(0);
      expect(io.said.join()).toContain("nothing was changed");
      expect(await runCli(["dead-letter", verb, "run_1", "--task", "mail"], fakeIo())).toBe(2);
    }
    expect(calls.map(({ method }) => method)).toEqual(["GET", "GET"]);
  });

  it("dead-letter redrive -o jsonl prints a line for each result, and finds a job by its key", async () => {
    const calls = serve({ id: "job_7" }, page({ results: [{ id: "run_1" }, { id: "run_2" }], done: 2 }));
    const io = fakeIo();
    expect(await runCli(["dead-letter", "redrive", "--job", "nightly", "-o", "jsonl"], io)).toBe(0);
    expect(io.written()).toBe('{"id":"run_1"}\n{"id":"run_2"}\n');
    expect(calls[0]?.url).toBe(`${server}/jobs/%40nightly`);
    expect(calls[1]?.body).toEqual({ filter: { job_id: "job_7" }, page_size: 100 });
  });

  it("dead-letter redrive retries one run by its id", async () => {
    const calls = serve({ id: "run_2" });
    expect(await runCli(["dead-letter", "redrive", "run_1", "--json"], fakeIo())).toBe(0);
    expect(calls).toEqual([{ method: "POST", url: `${server}/runs/run_1:retry`, body: {} }]);
  });
});

describe("dead-letter discard", () => {
  it("dead-letter discard prints the undo", async () => {
    const calls = serve({});
    const io = fakeIo();
    expect(await runCli(["dead-letter", "discard", "run_1"], io)).toBe(0);
    expect(calls.map(({ method, url }) => [method, url])).toEqual([["POST", `${server}/dead-letters/run_1:discard`]]);
    expect(io.said).toEqual(["carillon: discarded; undo with: carillon run retry run_1"]);
  });
});

describe("run retry and replay", () => {
  it("run retry reports that the run had been retried before", async () => {
    serve({ id: "run_2", is_new: false });
    const io = fakeIo();
    expect(await runCli(["run", "retry", "run_1", "--force", "--json"], io)).toBe(0);
    expect(io.said).toEqual(["carillon: nothing changed: it had been retried before; this is that run"]);
  });

  it("run retry and replay send their flags", async () => {
    const calls = serve({ id: "run_2" });
    expect(await runCli(["run", "replay", "run_1", "--payload", "[1]", "--json"], fakeIo())).toBe(0);
    expect(calls).toEqual([{ method: "POST", url: `${server}/runs/run_1:replay`, body: { payload: [1] } }]);
  });
});

describe("lists", () => {
  it("dead-letter list and error-group list print their rows", async () => {
    const calls = serve({ dead_letters: [], next_page_token: null, error_groups: [] });
    const io = fakeIo();
    expect(await runCli(["dead-letter", "list", "--since", "2030-01-01T00:00:00Z", "--job", "job_1"], io)).toBe(0);
    expect(await runCli(["error-group", "list", "--task", "mail"], io)).toBe(0);
    expect(calls.map(({ url }) => url)).toEqual([
      `${server}/dead-letters?job_id=job_1&failed_after=2030-01-01T00%3A00%3A00Z&page_size=50`,
      `${server}/error-groups?task=mail&page_size=50`,
    ]);
  });
});
