import { ManualClock } from "@carillon/core";
import type { EngineEvent } from "@carillon/engine";
import { describe, expect, it } from "vitest";
import { EventHub } from "../../../src/events/event-hub.js";
import { EventRelay } from "../../../src/events/event-relay.js";

const run = { namespaceId: 1, jobId: null, task: "echo", queue: "default" } as const;
const ended = (runId: string): EngineEvent => ({
  type: "run.failed",
  ...run,
  runId: `01890000-0000-7000-8000-00000000000${runId}`,
  durationMs: 1,
});

/** Two nodes that receive each other's notifications at once, over a line that the test can cut. */
function twoNodes() {
  const clock = new ManualClock(0);
  const listeners = new Set<(payload: string) => void>();
  const reconnected: (() => void)[] = [];
  const database = {
    notify: (_channel: string, payload: string) => {
      for (const listener of listeners) listener(payload);
    },
    listen: (_channel: string, onPayload: (payload: string) => void, onBack: () => void) => {
      listeners.add(onPayload);
      reconnected.push(onBack);
      return { stop: async () => void listeners.delete(onPayload) };
    },
  } as never;
  const nodeOf = (node: string) => {
    const hub = new EventHub({ node, now: () => 0, clock, timers: clock });
    const relay = new EventRelay({ hub, database, node, clock, timers: clock });
    relay.start();
    return hub;
  };
  const [a, b] = [nodeOf("a"), nodeOf("b")];
  const open = (lastEventId?: string) => {
    const stream = a.open({ namespaceId: 1 }, lastEventId);
    const read = (): string => String(stream.read() ?? "");
    read();
    return { stream, read, closed: new Promise((resolve) => stream.once("close", resolve)) };
  };
  return { a, b, clock, open, cutLine: () => reconnected.forEach((onBack) => onBack()) };
}

const idsIn = (text: string): string[] => [...text.matchAll(/^id: (\S+)\nevent: run/gm)].map(([, id = ""]) => id);

describe("the events of two nodes", () => {
  it("a stream gets the events of either node from its start on", () => {
    const { b, clock, open } = twoNodes();
    const { read } = open();
    b.publish(ended("1"));
    clock.advance(250);
    expect(idsIn(read())).toEqual(["a.1.1"]);
  });

  it("a stream gets the events of the cluster from both nodes", () => {
    const { b, clock, open } = twoNodes();
    const { read } = open();
    const id = "01890000-0000-7000-8000-000000000001";
    b.publish({
      type: "shards.taken_over",
      namespaceId: null,
      nodeId: id,
      fromNodeId: id,
      shards: 1,
      takeoverMs: null,
    });
    clock.advance(250);
    expect(read()).toContain("event: shards.taken_over");
  });

  it("a client that reconnects with its last event id gets every event", async () => {
    const { a, b, clock, open } = twoNodes();
    const first = open();
    b.publish(ended("1"));
    clock.advance(250);
    first.read();
    first.stream.destroy();
    await first.closed;
    clock.advance(20_000);
    b.publish(ended("2"));
    a.publish(ended("3"));
    clock.advance(250);
    const text = String(a.open({ namespaceId: 1 }, "a.1.1").read());
    expect(idsIn(text)).toHaveLength(2);
    expect(text).not.toContain("reset");
  });

  it("a client that reconnects to the other node gets a reset, and then the events of both", async () => {
    const { a, b, clock, open } = twoNodes();
    const first = open();
    b.publish(ended("1"));
    clock.advance(250);
    const [last = ""] = idsIn(first.read());
    first.stream.destroy();
    await first.closed;
    const second = b.open({ namespaceId: 1 }, last);
    expect(String(second.read())).toContain('event: reset\ndata: {"reason":"other_node"}');
    clock.advance(250);
    a.publish(ended("2"));
    b.publish(ended("3"));
    clock.advance(250);
    const ids = idsIn(String(second.read()));
    expect(ids).toHaveLength(2);
    expect(ids.every((id) => id.startsWith("b."))).toBe(true);
  });

  it("a client that reconnects after a loss between the nodes gets a reset", async () => {
    const { a, open, cutLine } = twoNodes();
    const { stream, closed } = open();
    stream.destroy();
    await closed;
    cutLine();
    expect(String(a.open({ namespaceId: 1 }, "a.1.0").read())).toContain('event: reset\ndata: {"reason":"gap"}');
  });
});
