import { afterEach, describe, expect, it, vi } from "vitest";
import type { Terminal } from "../../src/io.js";
import { runCli } from "../../src/main.js";
import { renderScreen } from "../../src/top/screen.js";
import { type Snapshot, RateMeter } from "../../src/top/snapshot.js";
import { fakeIo } from "./fake-io.js";

afterEach(() => vi.unstubAllGlobals());

const at = "2030-01-01T00:00:00.000Z";
const rates = { fired: 1, started: 2, succeeded: 3, failed: 0, retried: 0 };

const queue = (name: string, queued = 0, lagMs = 0) => ({
  name,
  paused: false,
  stats: { queued, running: 1, exact: true, lag_ms: lagMs, wait_ms: lagMs, workers: 1, slots: 10, desired_workers: 2 },
});
const worker = { id: "wrk_1", name: "host", state: "active", slots: 10, queues: ["*"], heartbeat_at: at };
const run = {
  id: "run_1",
  task: "echo\u001b[2J",
  queue: "q",
  attempt: 1,
  max_attempts: 5,
  started_at: at,
  worker_id: "wrk_1",
  progress: { fraction: 0.5 },
};

const seen = (queues: readonly object[]): Snapshot =>
  ({
    at,
    url: "http://x",
    version: "1",
    ready: true,
    rates,
    queues: queues.map((one) => ({ ...one, rates })),
    more_queues: false,
    workers: [worker],
    running: [run],
  }) as never;

/** Answers every request of a snapshot; events arrive as given. */
function serveSnapshots(events = "", refusals: Response[] = []) {
  vi.stubGlobal("fetch", async (url: string, { signal }: RequestInit = {}) => {
    const { pathname } = new URL(url);
    if (pathname === "/v1/events") {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(events));
          signal?.addEventListener("abort", () => controller.error(new Error("over")));
        },
      });
      return new Response(body, { status: 200 });
    }
    const refused = pathname === "/v1/runs" ? refusals.shift() : undefined;
    if (refused !== undefined) return refused;
    const answers: Readonly<Record<string, object>> = {
      "/version": { version: "1.2.3" },
      "/readyz": { status: "ready", checks: [] },
      "/v1/queues": { queues: [queue("a", 3, 400), queue("b", 7, 65_000)], next_page_token: null },
      "/v1/workers": { workers: [worker], next_page_token: null },
      "/v1/runs": { runs: [run], next_page_token: null },
    };
    return new Response(JSON.stringify(answers[pathname]), { status: 200 });
  });
}

const event = (type: string) => `id: n.1\nevent: ${type}\ndata: ${JSON.stringify({ type, at, queue: "a" })}\n\n`;

describe("the screen of top", () => {
  const view = { colour: false, sort: "waiting", note: null, everyMs: 2_000 } as const;
  const many = seen(Array.from({ length: 40 }, (_, index) => queue(`q${index}`, index)));

  it.each([
    [80, 24],
    [40, 10],
    [200, 60],
    [20, 5],
  ])("the screen of top is never larger than the terminal, %i × %i", (columns, rows) => {
    for (const colour of [false, true]) {
      const lines = renderScreen(many, { ...view, colour, columns, rows }).split("\n");
      expect(lines.length).toBeLessThanOrEqual(rows);
      // eslint-disable-next-line no-control-regex
      for (const line of lines) expect(line.replaceAll(/\u001b\[[0-9;]*m/g, "").length).toBeLessThanOrEqual(columns);
      expect(lines.at(-1)).toContain("q quit".slice(0, columns));
    }
  });

  it("the screen of top prints how many rows it leaves out, and sorts by waiting runs", () => {
    const screen = renderScreen(many, { ...view, columns: 120, rows: 24 });
    expect(screen).toMatch(/QUEUES \(\d+ more\)/);
    expect(screen.indexOf("q39")).toBeLessThan(screen.indexOf("q38"));
  });

  it("the screen of top contains no control characters of the data", () => {
    expect(renderScreen(many, { ...view, columns: 120, rows: 60 })).not.toContain("\u001b");
  });
});

describe("rates", () => {
  it("rates cover the last ten seconds, or the time since the start", () => {
    const meter = new RateMeter(0);
    for (let index = 0; index < 20; index++) meter.add("started", "q", 1_000);
    expect(meter.rates(2_000).started).toBe(10);
    expect(meter.rates(9_000, "q").started).toBe(2.2);
    expect(meter.rates(10_500, "other").started).toBe(0);
    expect(meter.rates(12_000).started).toBe(0);
  });
});

describe("top without a terminal", () => {
  it("top without a terminal prints a snapshot after each pause, with rates from the events", async () => {
    serveSnapshots(event("run.started").repeat(4));
    const io = fakeIo();
    const sleep = io.sleep.bind(io);
    const outside = {
      ...io,
      async sleep(ms: number) {
        // Arrived events are read before the next snapshot.
        await new Promise((resolve) => setImmediate(resolve));
        await sleep(ms);
      },
    };
    expect(await runCli(["top", "-n", "2", "--sort", "name"], outside)).toBe(0);
    expect(io.slept.filter((ms) => ms === 2_000)).toHaveLength(2);
    expect(io.written()).toContain("started 2 ");
    expect(io.written()).toMatch(/now: 10 waiting, 2 running, the oldest due for 65\.0 s; 1 worker$/m);
    expect(io.written()).toMatch(/^a +open +3 +1 +400 ms/m);
  });

  it("top --json prints data in the form of the API", async () => {
    serveSnapshots();
    const io = fakeIo();
    expect(await runCli(["top", "--json"], io)).toBe(0);
    expect(JSON.parse(io.written())).toMatchObject({
      queues: [queue("a", 3, 400), queue("b", 7, 65_000)],
      workers: [worker],
      running: [run],
    });
  });
});

describe("top on a terminal", () => {
  it("top on a terminal follows keys and the size of the terminal, and restores the screen", async () => {
    serveSnapshots();
    let press: (keys: string) => void = () => undefined;
    let resize: () => void = () => undefined;
    let columns = 100;
    const given: string[] = [];
    const terminal: Terminal = {
      size: () => ({ columns, rows: 30 }),
      onKey: (listener) => ((press = listener), () => void given.push("keys")),
      onResize: (listener) => ((resize = listener), () => void given.push("size")),
      takeScreen: () => () => void given.push("screen"),
    };
    const io = fakeIo({ terminal });
    const keys = ["s", " ", "+", "q"];
    const sleep = io.sleep.bind(io);
    const paced: number[] = [];
    const ended = runCli(["top"], {
      ...io,
      async sleep(ms) {
        await sleep(ms);
        paced.push(ms);
        columns = 60;
        resize();
        press(keys.shift() ?? "q");
      },
    });
    expect(await ended).toBe(0);
    expect(paced).toEqual([2_000, 2_000, 2_000, 5_000]);
    expect(given).toEqual(["size", "keys", "screen"]);
    expect(io.written()).toContain("sort: lag");
    expect(io.written()).toContain("frozen");
    expect(io.written()).toContain("every 5 s");
  });

  it("top on a terminal waits for its quota without printing messages", async () => {
    serveSnapshots("", [new Response("{}", { status: 429, headers: { "retry-after": "1" } })]);
    let press: (keys: string) => void = () => undefined;
    const terminal: Terminal = {
      size: () => ({ columns: 100, rows: 30 }),
      onKey: (listener) => ((press = listener), () => undefined),
      onResize: () => () => undefined,
      takeScreen: () => () => undefined,
    };
    const io = fakeIo({ terminal });
    const sleep = io.sleep.bind(io);
    const outside = {
      ...io,
      async sleep(ms: number) {
        await sleep(ms);
        if (ms === 2_000) press("q");
      },
    };
    expect(await runCli(["top"], outside)).toBe(0);
    expect([io.slept.slice(0, 2), io.said]).toEqual([[1_000, 2_000], []]);
  });
});
