import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { formatId, ManualClock } from "@carillon/core";
import type { EngineEvent } from "@carillon/engine";
import { afterEach, describe, expect, it } from "vitest";
import { EventHub, type EventLimits } from "../../../src/events/event-hub.js";
import { apiUnderTest, refusalOf, testNow } from "./api-under-test.js";

const runId = "01890000-0000-7000-8000-000000000001";
const jobId = "01890000-0000-7000-8000-000000000002";
const of = { namespaceId: 1, runId, jobId, task: "echo", queue: "default" } as const;
const finished = (over: Partial<typeof of> = {}): EngineEvent => ({
  type: "run.failed",
  ...of,
  ...over,
  durationMs: 5,
});

function hubUnderTest(limits: Partial<EventLimits> = {}) {
  const clock = new ManualClock(testNow);
  const hub = new EventHub({ node: "n1", now: () => testNow, clock, timers: clock, limits });
  const open = (filter: object = {}, lastEventId?: string) => {
    const stream = hub.open({ namespaceId: 1, ...filter }, lastEventId);
    const read = (): string => {
      let text = "";
      for (let chunk = stream.read() as string | null; chunk !== null; chunk = stream.read() as string | null)
        text += chunk;
      return text;
    };
    return { stream, read };
  };
  return { hub, clock, open };
}

describe("the event hub", () => {
  it("a stream gets the events from its start on, with ids that name the node", () => {
    const { hub, clock, open } = hubUnderTest();
    const { read } = open();
    expect(read()).toBe("retry: 2000\nid: n1.1.0\n\n");
    hub.publish(finished());
    clock.advance(20);
    const data = {
      type: "run.failed",
      at: "2026-11-12T08:30:00.000Z",
      job_id: formatId("job", jobId),
      run_id: formatId("run", runId),
      task: "echo",
      queue: "default",
      duration_ms: 5,
    };
    const [id, name, body] = read().trimEnd().split("\n");
    expect([id, name]).toEqual(["id: n1.1.1", "event: run.failed"]);
    expect(JSON.parse(body?.slice("data: ".length) ?? "")).toEqual(data);
  });

  it("a stream gets only the events of its filter", () => {
    const { hub, clock, open } = hubUnderTest();
    const other = open({ queue: "mail" });
    const foreign = open({ namespaceId: 2 });
    const kinds = open({ types: new Set(["run.failed"]) });
    for (const reader of [other, foreign, kinds]) reader.read();
    hub.publish(finished());
    hub.publish({ type: "run.started", ...of, waitedMs: 3 });
    clock.advance(20);
    expect(other.read()).toBe("");
    expect(foreign.read()).toBe("");
    expect(kinds.read().match(/^event: .*$/gm)).toEqual(["event: run.failed"]);
  });

  it("a lost worker is an event of its namespace, with the runs it had, and a takeover is an event of all namespaces", () => {
    const { hub, clock, open } = hubUnderTest();
    const [own, foreign, mail] = [open(), open({ namespaceId: 2 }), open({ queue: "mail" })];
    for (const reader of [own, foreign, mail]) reader.read();
    const workerId = "01890000-0000-7000-8000-000000000003";
    const nodeId = "01890000-0000-7000-8000-000000000004";
    hub.publish({ type: "worker.lost", namespaceId: 1, workerId, worker: "w", runs: 3 });
    hub.publish({
      type: "shards.taken_over",
      namespaceId: null,
      nodeId,
      fromNodeId: jobId,
      shards: 512,
      takeoverMs: 1_500.4,
    });
    clock.advance(20);
    const at = "2026-11-12T08:30:00.000Z";
    const worker = { type: "worker.lost", at, worker_id: formatId("wrk", workerId), worker: "w", runs: 3 };
    const nodes = { node_id: formatId("node", nodeId), from_node_id: formatId("node", jobId) };
    const takeover = { type: "shards.taken_over", at, ...nodes, shards: 512, takeover_ms: 1_500 };
    const dataIn = (text: string): unknown[] =>
      [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as unknown);
    expect(dataIn(own.read())).toEqual([worker, takeover]);
    expect(dataIn(foreign.read())).toEqual([takeover]);
    expect(mail.read()).toBe("");
  });

  it("a stream resumes after a broken connection, or gets a reset", () => {
    const { hub, clock, open } = hubUnderTest({ ring: 3 });
    const first = open();
    first.read();
    for (const queue of ["a", "b"]) hub.publish(finished({ queue: queue as "default" }));
    clock.advance(20);
    first.stream.destroy();
    expect(
      open({}, "n1.1.1")
        .read()
        .match(/"queue":"."/g),
    ).toEqual(['"queue":"b"']);
    expect(open({}, "n2.1.1").read()).toContain('event: reset\ndata: {"reason":"other_node"}');
    for (const queue of ["c", "d", "e"]) hub.publish(finished({ queue: queue as "default" }));
    expect(open({}, "n1.1.1").read()).toContain('event: reset\ndata: {"reason":"gap"}');
    expect(open({}, "what is this").read()).toContain("event: reset");
  });

  it("a slow stream costs no memory, and gets a reset with the number of missed events", () => {
    const { hub, clock, open } = hubUnderTest({ ring: 10 });
    const { read } = open();
    read();
    for (let n = 0; n < 1_000; n++) hub.publish(finished());
    clock.advance(20);
    const text = read();
    expect(text).toContain('data: {"reason":"gap","missed":990}');
    expect(text.match(/^event: run.failed$/gm)).toHaveLength(10);
  });

  it("drops a stream that is not read, and no other", async () => {
    const { hub, clock, open } = hubUnderTest({ ring: 10_000, pingMs: 1_000, stalledMs: 2_000 });
    const slow = open();
    const quick = open();
    quick.read();
    for (let n = 0; n < 2_000; n++) hub.publish(finished());
    const gone = once(slow.stream, "close");
    for (let n = 0; n < 5; n++) {
      clock.advance(1_000);
      quick.read();
    }
    await gone;
    expect([hub.streams, hub.dropped, quick.stream.destroyed]).toEqual([1, 1, false]);
  });

  it("refuses more streams than the limit, and serves them in order", () => {
    const { hub, open } = hubUnderTest({ streams: 1 });
    const { stream } = open();
    expect(() => open()).toThrow(expect.objectContaining({ code: "overloaded" }));
    stream.destroy();
    return new Promise<void>((resolve) => {
      stream.once("close", () => {
        expect(hub.streams).toBe(0);
        open();
        resolve();
      });
    });
  });

  it("forgets events without streams, and does not confuse an old id with a new one", async () => {
    const { hub, clock, open } = hubUnderTest({ retainMs: 1_000, pingMs: 1_000 });
    const { stream, read } = open();
    read();
    hub.publish(finished());
    const gone = once(stream, "close");
    stream.destroy();
    await gone;
    clock.advance(1_000);
    clock.advance(1_000);
    hub.publish(finished());
    expect(open({}, "n1.1.0").read()).toContain('{"reason":"gap"}');
  });
});

describe("GET /v1/events", () => {
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  it("streams events over HTTP with the headers for clients and proxies", async () => {
    const hub = new EventHub({ node: "n1", now: () => testNow, clock: new ManualClock(0), timers: new ManualClock(0) });
    const { app } = apiUnderTest({ events: hub });
    stops.push(() => app.close());
    const url = await app.listen({ port: 0 });
    const asked = get(`${url}/v1/events?type=run,job.paused`, { agent: false });
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    const { "content-type": type, "cache-control": cache } = response.headers;
    expect([response.statusCode, type, cache]).toEqual([200, "text/event-stream; charset=utf-8", "no-store"]);
    const [chunk] = (await once(response, "data")) as [Buffer];
    expect(chunk.toString()).toContain("id: n1.1.0");
    hub.stop();
    await once(response, "end");
  });

  it("answers HEAD without a stream", async () => {
    const { call } = apiUnderTest();
    const head = await call({ method: "HEAD", url: "/v1/events" });
    expect([head.statusCode, head.headers["content-type"]]).toEqual([200, "text/event-stream; charset=utf-8"]);
  });

  it("refuses unknown event types and invalid names", async () => {
    const { get: ask } = apiUnderTest();
    expect(refusalOf(await ask("/v1/events?type=run.exploded"))).toEqual({
      status: 400,
      code: "field_invalid",
      faults: ["?type field_invalid"],
    });
    expect(refusalOf(await ask("/v1/events?job=@nothing")).status).toBe(404);
    expect(refusalOf(await ask("/v1/events?run=job_1")).status).toBe(404);
  });
});
