import { EventEmitter } from "node:events";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import type { NodeFacts } from "../../../src/services/node.js";
import { runNode } from "../../../src/services/run-node.js";

const facts: NodeFacts = {
  url: "http://127.0.0.1:1",
  dataDir: null,
  postgres: { version: "18", port: null, adopted: false },
};

/** A node whose start and stop a test holds in its hand, in a process that notes how it ends. */
function scene(stopLimitMs = 60_000, stopSignal?: AbortSignal) {
  const journal: string[] = [];
  const hands = {
    start: () => {},
    failStart: (error: Error): void => void error,
    stop: () => {},
    failStop: (error: Error): void => void error,
  };
  const started = new Promise<void>((resolve, reject) => Object.assign(hands, { start: resolve, failStart: reject }));
  const stopped = new Promise<void>((resolve, reject) => Object.assign(hands, { stop: resolve, failStop: reject }));
  const host = Object.assign(new EventEmitter(), { exit: (code: number) => void journal.push(`exit ${code}`) });
  const node = {
    facts,
    start: () => started,
    stop() {
      journal.push("stop");
      return stopped;
    },
    abandon: () => void journal.push("abandon"),
  };
  const result = runNode({
    node,
    logger: pino({ level: "silent" }),
    stopLimitMs,
    onReady: ({ url }) => void journal.push(`ready ${url}`),
    process: host,
    ...(stopSignal !== undefined && { stopSignal }),
  });
  return { journal, hands, host, result };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("runNode", () => {
  it("serves until a signal, then stops and ends with 0", async () => {
    const { journal, hands, host, result } = scene();
    hands.start();
    await turn();
    expect(journal).toEqual(["ready http://127.0.0.1:1"]);
    host.emit("SIGTERM", "SIGTERM");
    await turn();
    hands.stop();
    expect(await result).toBe(0);
    expect(journal).toEqual(["ready http://127.0.0.1:1", "stop"]);
    expect(host.eventNames()).toEqual([]);
  });

  it("ends also when it was asked to before it began", async () => {
    const { journal, hands, result } = scene(60_000, AbortSignal.abort());
    hands.stop();
    expect(await result).toBe(0);
    expect(journal).toEqual(["stop"]);
  });

  it("throws what made the start fail", async () => {
    const { hands, host, result } = scene();
    hands.failStart(new Error("no database"));
    await expect(result).rejects.toThrow("no database");
    expect(host.eventNames()).toEqual([]);
  });

  it("stops without ever being ready when a signal comes during the start", async () => {
    const { journal, hands, host, result } = scene();
    host.emit("SIGINT", "SIGINT");
    await turn();
    hands.failStart(new Error("interrupted"));
    hands.stop();
    expect(await result).toBe(0);
    expect(journal).toEqual(["stop"]);
  });

  it("ends with 1 when the stop takes longer than its limit", async () => {
    const { journal, hands, host, result } = scene(0);
    hands.start();
    await turn();
    host.emit("SIGINT", "SIGINT");
    expect(await result).toBe(1);
    expect(journal.slice(1)).toEqual(["stop", "abandon", "exit 1"]);
  });

  it("ends with 1 when something could not be stopped in order", async () => {
    const { journal, hands, host, result } = scene();
    hands.start();
    await turn();
    host.emit("SIGINT", "SIGINT");
    hands.failStop(new Error("no database"));
    expect(await result).toBe(1);
    expect(journal.slice(1)).toEqual(["stop", "abandon", "exit 1"]);
  });

  it("ends at once with 1 on an error that nothing handled", async () => {
    const { journal, hands, host } = scene();
    hands.start();
    await turn();
    host.emit("unhandledRejection", new Error("lost"));
    expect(journal.slice(1)).toEqual(["abandon", "exit 1"]);
  });
});
