import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";

afterEach(() => vi.unstubAllGlobals());

const run = (status: string) => ({
  id: "run_1",
  status,
  status_reason: null,
  attempt: 1,
  max_attempts: 1,
  attempts: [],
  trigger: { kind: "once", id: null, scheduled_for: "2030-01-01T00:00:00.000Z" },
  progress: null,
  error: null,
});

/** Each request for the run gets the next of these: its state, or no server. */
function serveRun(...stands: readonly (string | null)[]) {
  const left = [...stands];
  const asked = { count: 0 };
  vi.stubGlobal("fetch", async (url: string, { method = "GET" }: RequestInit = {}) => {
    const answer = (body: unknown) => new Response(JSON.stringify(body), { status: 200 });
    if (method === "POST") return answer(run("queued"));
    if (new URL(url).pathname.endsWith("/logs")) return answer({ lines: [], next_page_token: null });
    asked.count += 1;
    const stand = left.length > 1 ? left.shift() : left[0];
    if (stand === null || stand === undefined) throw new TypeError("fetch failed");
    return answer(run(stand));
  });
  return asked;
}

const away = "http://127.0.0.1:8023 cannot be reached or broke off its answer. Retrying for up to 60 s.";

describe("a server that goes away and comes back", () => {
  it.each([
    ["run watch", ["run", "watch", "run_1"]],
    ["task run --wait", ["task", "run", "echo", "--wait"]],
  ])("a restart of the server does not end %s, which reports it once", async (_, argv) => {
    serveRun("running", null, null, null, "running", "failed");
    const io = fakeIo();
    expect(await runCli(argv, io)).toBe(6);
    const messages = io.said.filter((line) => /cannot be reached|answers again/.test(line));
    expect(messages).toEqual([`carillon: ${away}`, "carillon: the server answers again"]);
  });

  it("run watch ends with a hint when the server is away for more than a minute", async () => {
    const asked = serveRun("running", null);
    const io = fakeIo();
    expect(await runCli(["run", "watch", "run_1"], io)).toBe(1);
    expect(io.said.at(-1)).toContain("Is the server running?");
    expect(asked.count).toBeGreaterThan(50);
  });

  it.each(["get", "watch"])("run %s ends immediately if the server never answered", async (verb) => {
    const asked = serveRun(null);
    expect(await runCli(["run", verb, "run_1"], fakeIo())).toBe(1);
    expect(asked.count).toBe(1);
  });
});

describe("run logs -f", () => {
  const line = (number: number) => ({
    at: "2030-01-01T00:00:00.000Z",
    level: "info",
    message: `line ${number}`,
    fields: null,
    fence: 1,
    number,
  });
  const page = (numbers: readonly number[], token: string | null) => () =>
    new Response(JSON.stringify({ lines: numbers.map(line), next_page_token: token }));
  const noServer = (): never => {
    throw new TypeError("fetch failed");
  };
  const stopping = () =>
    new Response(JSON.stringify({ status: 503, code: "shutting_down", detail: "The node stops.", errors: [] }), {
      status: 503,
    });

  /** Each request gets the next of these; its page token is recorded. */
  function serveLog(...answers: readonly (() => Response)[]) {
    const left = [...answers];
    const asked: (string | null)[] = [];
    vi.stubGlobal("fetch", async (url: string) => {
      asked.push(new URL(url).searchParams.get("page_token"));
      return left.shift()?.() ?? noServer();
    });
    return asked;
  }

  it("run logs -f reports the lost server, continues when it is back, and repeats no line", async () => {
    const asked = serveLog(page([1, 2], "t"), stopping, noServer, noServer, page([3], "u"), noServer, page([], null));
    const io = fakeIo();
    expect(await runCli(["run", "logs", "-f", "run_1"], io)).toBe(0);
    expect(io.written().match(/line \d/g)).toEqual(["line 1", "line 2", "line 3"]);
    expect(asked).toEqual([null, "t", "t", "t", "t", "u", "u"]);
    expect(io.said).toEqual([
      "carillon: The node stops. Retrying for up to 60 s.",
      "carillon: the server answers again",
      `carillon: ${away}`,
      "carillon: the server answers again",
    ]);
  });

  it("run logs -f ends when the server is away for more than a minute", async () => {
    serveLog(page([1], "t"));
    const io = fakeIo();
    expect(await runCli(["run", "logs", "-f", "run_1"], io)).toBe(1);
    expect(io.said.at(-1)).toContain("Is the server running?");
  });

  it("run logs sends one request without -f, or if no server ever answered", async () => {
    const asked = serveLog(page([1], "t"));
    expect(await runCli(["run", "logs", "run_1"], fakeIo())).toBe(1);
    expect(asked).toEqual([null, "t"]);
    const askedWithoutServer = serveLog();
    expect(await runCli(["run", "logs", "-f", "run_1"], fakeIo())).toBe(1);
    expect(askedWithoutServer).toEqual([null]);
  });
});

describe("run watch", () => {
  it("run watch goes on to the end of the run, without a time limit", async () => {
    serveRun(...Array.from({ length: 200 }, () => "running"), "succeeded");
    const io = fakeIo();
    expect(await runCli(["run", "watch", "run_1"], io)).toBe(0);
    expect(io.slept.length).toBe(200);
  });
});
