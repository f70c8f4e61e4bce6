import { afterEach, describe, expect, it, vi } from "vitest";
import type { Event } from "@carillon/contract";
import { eventTypes } from "@carillon/core";
import { runCli } from "../../src/main.js";
import { renderEvent } from "../../src/nouns/events.js";
import { fakeIo } from "./fake-io.js";

afterEach(() => vi.unstubAllGlobals());

const at = "2030-01-01T00:00:00.000Z";
const event = (type: string, over: object = {}) => ({ type, at, run_id: "run_1", task: "echo", queue: "q", ...over });
const block = (id: string, data: { type: string }) =>
  `id: ${id}\nevent: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** Answers each request with the next text, in chunks that break anywhere. */
function stream(...texts: readonly string[]) {
  const calls: { url: string; lastId: string | undefined }[] = [];
  vi.stubGlobal("fetch", async (url: string, { headers }: { headers: Record<string, string> }) => {
    calls.push({ url, lastId: headers["last-event-id"] });
    const bytes = new TextEncoder().encode(texts[calls.length - 1] ?? "");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let from = 0; from < bytes.length; from += 7) controller.enqueue(bytes.slice(from, from + 7));
        controller.close();
      },
    });
    return new Response(body, { status: 200 });
  });
  return calls;
}

describe("events tail", () => {
  it("events tail prints events as they arrive, and continues after a lost connection", async () => {
    const calls = stream(
      `retry: 2000\nid: n.1.0\n\n: ping\n\n${block("n.1.1", event("run.started", { waited_ms: 4 }))}`,
      `${block("n.1.2", event("run.failed", { duration_ms: 9 }))}${block("n.1.3", event("run.fired"))}`,
    );
    const io = fakeIo();
    expect(await runCli(["events", "tail", "--type", "run", "--queue", "q", "-n", "2"], io)).toBe(0);
    expect(io.written()).toBe(
      `${at}  run.started    run_1  echo in q  waited_ms=4\n${at}  run.failed     run_1  echo in q  duration_ms=9\n`,
    );
    expect(calls.map(({ lastId }) => lastId)).toEqual([undefined, "n.1.1"]);
    expect(io.said).toEqual(["carillon: the connection was lost; retrying until it is back, or Ctrl-C"]);
    expect(new URL(calls[0]?.url ?? "").search).toBe("?type=run&queue=q");
  });

  it("events tail reports missing events on standard error, not among the data", async () => {
    stream(`event: reset\ndata: {"reason":"gap"}\n\n${block("n.1.9", event("run.fired"))}`);
    const io = fakeIo();
    expect(await runCli(["events", "tail", "-o", "jsonl", "-n", "1"], io)).toBe(0);
    expect(JSON.parse(io.written())).toEqual(event("run.fired"));
    expect(io.said).toEqual(["carillon: some events may be missing here"]);
  });
});

it("events tail prints each event as a document of YAML, or a line of JSON", async () => {
  const two = `${block("n.1.1", event("run.started"))}${block("n.1.2", event("run.failed"))}`;
  stream(two, two);
  const yaml = fakeIo();
  await runCli(["events", "tail", "-o", "yaml", "-n", "2", "--job", "nightly"], yaml);
  expect(yaml.written()).toMatch(/^---\ntype: run.started\n[^]*---\ntype: run.failed\n/);
  stream(two);
  const json = fakeIo();
  await runCli(["events", "tail", "--json", "-n", "2"], json);
  expect(json.written().trimEnd().split("\n")).toHaveLength(2);
});

/** The fields of an event beside type and time, by the noun of its type, and how they are printed. */
const printedFields: Readonly<Record<string, readonly [Partial<Event>, string]>> = {
  run: [{ run_id: "run_1", job_id: null, task: "echo", queue: "q" }, "run_1  echo in q"],
  job: [{ job_id: "job_1" }, "job_1"],
  queue: [{ queue: "q" }, "q"],
  task: [{ task: "mail.send" }, "mail.send"],
  worker: [{ worker_id: "wrk_1", worker: "w", runs: 3 }, "wrk_1  worker=w  runs=3"],
  shards: [{ node_id: "node_1", from_node_id: "node_2", shards: 4 }, "node_1  from_node_id=node_2  shards=4"],
};

it.each(eventTypes)("events tail prints %s with its subject, and no absent fields", (type) => {
  const [data, printed] = printedFields[type.split(".")[0] ?? ""] ?? [];
  expect(renderEvent({ type, at, ...data })).toBe(`${at}  ${type.padEnd(13)}  ${printed}\n`);
});

const runOf = (over: object) => ({
  id: "run_1",
  status: "running",
  status_reason: null,
  attempt: 1,
  max_attempts: 1,
  attempts: [],
  trigger: { kind: "once", id: null, scheduled_for: at },
  progress: null,
  error: null,
  ...over,
});

describe("run watch", () => {
  /** Each read of the run returns its next state; its log has two pages. */
  function serveRun(...states: readonly object[]) {
    const left = [...states];
    vi.stubGlobal("fetch", async (url: string) => {
      const { pathname, searchParams } = new URL(url);
      const line = (number: number) => ({
        at,
        level: "info",
        message: `line ${number}`,
        fields: null,
        fence: 1,
        number,
      });
      const isFirst = searchParams.get("page_token") === null;
      const log = { lines: [line(isFirst ? 1 : 2)], next_page_token: isFirst ? "t" : null };
      const body = pathname.endsWith("/logs") ? log : runOf((left.length > 1 ? left.shift() : left[0]) ?? {});
      return new Response(JSON.stringify(body), { status: 200 });
    });
  }

  it("run watch prints log and progress, and ends with the exit code of the run", async () => {
    serveRun(
      {},
      { progress: { fraction: 0.25, text: "12k rows", at } },
      { status: "failed", status_reason: "timeout" },
    );
    const io = fakeIo();
    expect(await runCli(["run", "watch", "run_1"], io)).toBe(6);
    expect(io.written()).toContain(`${at} info  line 1\n${at} info  line 2\n`);
    expect(io.said).toContain("carillon: [######------------------]  25 %  12k rows");
    expect(io.said.at(-1)).toBe("carillon: run_1 is failed");
  });

  it.each([
    [{ status: "succeeded" }, 0],
    [{ status: "cancelled" }, 7],
    [{}, 8],
  ])("run watch of a run that is %o ends with %i", async (state, code) => {
    serveRun(state);
    expect(await runCli(["run", "watch", "--wait-timeout", "3s", "run_1"], fakeIo())).toBe(code);
  });
});
