import { request, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Problem, RunImportLine, RunImportSummary } from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;
let port: number;

beforeAll(async () => {
  api = await realApi();
  await api.app.listen({ host: "127.0.0.1", port: 0 });
  ({ port } = api.app.server.address() as AddressInfo);
});
afterAll(async () => {
  await api.app.close();
  await api.close();
});

type Result = RunImportLine & RunImportSummary;

/** An import under way: its lines are read one by one, so that the test decides when each side goes on. */
function openImport(query = "", headers: Record<string, string> = {}) {
  const call = request({
    agent: false,
    host: "127.0.0.1",
    port,
    method: "POST",
    path: `/v1/runs:import${query}`,
    headers,
  });
  const answered = once(call, "response").then(([response]) => response as IncomingMessage);
  const lines = answered.then((response) => createInterface({ input: response })[Symbol.asyncIterator]());
  return {
    call,
    answered,
    send: (...texts: string[]) => call.write(texts.join("")),
    next: async (): Promise<Result> => JSON.parse((await (await lines).next()).value ?? "null") as Result,
    async rest(): Promise<Result[]> {
      call.end();
      const found: Result[] = [];
      for (let line = await (await lines).next(); line.done !== true; line = await (await lines).next())
        found.push(JSON.parse(line.value) as Result);
      return found;
    },
  };
}

async function importAll(body: string | Buffer, query = "", headers: Record<string, string> = {}): Promise<Result[]> {
  const stream = openImport(query, headers);
  stream.call.write(body);
  return stream.rest();
}

const line = (run: object): string => `${JSON.stringify(run)}\n`;
const runsOf = (task: string) =>
  api.database.query({ text: `select payload::text from carillon.run where task = '${task}' order by id` });

describe("an import of runs", () => {
  it("answers each line while the body is still being sent, and ends with a summary", async () => {
    const stream = openImport();
    stream.send(line({ task: "one", payload: 1 }));
    expect(await stream.next()).toEqual({ line: 1, id: expect.stringMatching(/^run_/), is_new: true });
    // Half a line has no result; its end makes one.
    stream.send('{"task":"one",');
    stream.send('"payload":2}\n');
    expect(await stream.next()).toMatchObject({ line: 2, is_new: true });
    expect(await stream.rest()).toEqual([{ done: true, lines: 2, created: 2, duplicates: 0, refused: 0 }]);
    expect((await runsOf("one")).rows.map(({ payload }) => payload)).toEqual(["1", "2"]);
  });

  it("reports a bad line with its number, and stores the others", async () => {
    const long = line({ task: "two", payload: "x".repeat(1_100_000) });
    const body = Buffer.concat([
      Buffer.from(`\ufeff${line({ task: "two" })}\r\n  \n{"task":\n${line({ task: "two", dellay: "1m" })}`),
      Buffer.from([0xff, 0x0a]),
      Buffer.from(`${long}[1]\n${line({ task: "carillon:x" })}${JSON.stringify({ task: "two" })}`),
    ]);
    const results = await importAll(body);
    expect(results.map(({ line: number, problem, id }) => [number, problem?.code ?? (id && "stored")])).toEqual([
      [1, "stored"],
      [4, "json_invalid"],
      [5, "unknown_field"],
      [6, "json_invalid"],
      [7, "payload_too_large"],
      [8, "field_invalid"],
      [9, "field_invalid"],
      [10, "stored"],
      [undefined, undefined],
    ]);
    expect(results.at(-1)).toEqual({ done: true, lines: 8, created: 2, duplicates: 0, refused: 6 });
    expect((await runsOf("two")).rows).toHaveLength(2);
  });

  it("stops at the first bad line if asked to, and names it", async () => {
    const body = line({ task: "three", payload: 1 }) + "no\n" + line({ task: "three", payload: 3 });
    const results = await importAll(body, "?on_error=stop");
    expect(results.map(({ line: number }) => number)).toEqual([1, 2, undefined]);
    expect(results.at(-1)).toEqual({ done: false, lines: 2, created: 1, duplicates: 0, refused: 1, stopped_at: 2 });
    expect((await runsOf("three")).rows).toHaveLength(1);
  });

  it("can be repeated with dedupe keys, and returns only refused lines if asked to", async () => {
    const body = [1, 2, 3].map((n) => line({ task: "four", dedupe: { key: `k${n}` } })).join("") + "no\n";
    await importAll(body);
    const again = await importAll(body, "?results=refused");
    expect(again).toMatchObject([{ line: 4 }, { done: true, lines: 4, created: 0, duplicates: 3, refused: 1 }]);
  });

  it.each(["application/x-www-form-urlencoded", "application/json", "application/x-ndjson", "text/plain"])(
    "takes a body of the type %s, which clients send by default",
    async (type) => {
      const results = await importAll(line({ task: "five" }), "", { "content-type": type });
      expect(results).toHaveLength(2);
    },
  );

  it("holds back a sender whose answers are not read, and ends when that disconnects", async () => {
    const connected = once(api.app.server, "connection");
    const stream = openImport();
    // Faulty lines, which cost no database; the buffers of both sockets must fill up.
    const text = `${"n".repeat(1_000)}\n`.repeat(64);
    const response = await (stream.send(text), stream.answered);
    const [socket] = (await connected) as [Socket];
    response.pause();
    let isBlocked = false;
    // The sockets and one group fill up, then the server reads no more.
    for (let sent = 0; sent < 1_000 && !isBlocked; sent++)
      isBlocked = !stream.call.write(text) && (await isHeldBack(stream.call, socket));
    expect(isBlocked).toBe(true);
    stream.call.on("error", () => undefined).destroy();
    expect(await importAll(line({ task: "after" }))).toHaveLength(2);
  });

  it("gives an unknown namespace and an unknown parameter their own status", async () => {
    const wrong = openImport("", { "carillon-namespace": "none" });
    wrong.send(line({ task: "x" }));
    wrong.call.end();
    expect((await wrong.answered).statusCode).toBe(404);
    expect((await importAll(line({ task: "x" }), "?on_err=stop"))[0]).toMatchObject({ code: "unknown_field" });
  });

  it("refuses a call without a body", async () => {
    const response = await api.call({ method: "POST", url: "/v1/runs:import" });
    expect([response.statusCode, response.json<Problem>().code]).toEqual([400, "json_invalid"]);
  });

  it("stops at a shutdown and names the line to continue with", async () => {
    const own = await realApi();
    await own.app.listen({ host: "127.0.0.1", port: 0 });
    const before = port;
    ({ port } = own.app.server.address() as AddressInfo);
    const stream = openImport();
    port = before;
    stream.send(line({ task: "seven" }));
    await stream.next();
    const closed = own.app.close();
    const problem = expect.objectContaining({ code: "shutting_down" }) as Problem;
    expect(await stream.rest()).toMatchObject([{ done: false, lines: 1, stopped_at: 2, problem }]);
    await closed;
    await own.close();
  });
});

/** Whether the sender stays blocked: the server reads nothing during several calls to the database. */
async function isHeldBack(call: ReturnType<typeof request>, socket: Socket): Promise<boolean> {
  for (let before = -1; before !== socket.bytesRead;) {
    before = socket.bytesRead;
    for (let calls = 0; calls < 5; calls++) await runsOf("none");
  }
  return call.writableNeedDrain;
}

describe("a batch of runs", () => {
  it("takes 10,000 runs, and names the import for more", async () => {
    const runs = Array.from({ length: 10_000 }, (_, n) => ({ task: "eight", payload: { n, text: "x".repeat(100) } }));
    const stored = (await api.post("/v1/runs:batchCreate", { runs })).json<{ created: number }>();
    expect(stored.created).toBe(10_000);
    const more = await api.post("/v1/runs:batchCreate", { runs: [...runs, { task: "eight" }] });
    expect([more.statusCode, more.json<Problem>().detail]).toEqual([
      400,
      "/runs: Has 10001 items; at most 10000 are allowed. Send several calls, or stream any number of runs, one on each line, to " +
        "POST /v1/runs:import.",
    ]);
  });
});
