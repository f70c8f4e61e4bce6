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

/** A node whose start and stop the test controls, in a process that records its exit. */
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
  it("runNode serves until a signal, then stops and returns 0", async () => {
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

  it("runNode stops when it was asked to before its start", async () => {
    const { journal, hands, result } = scene(60_000, AbortSignal.abort());
    hands.stop();
    expect(await result).toBe(0);
    expect(journal).toEqual(["stop"]);
  });

  it("runNode throws the error of a failed start", async () => {
    const { hands, host, result } = scene();
    hands.failStart(new Error("no database"));
    await expect(result).rejects.toThrow("no database");
    expect(host.eventNames()).toEqual([]);
  });

  it("runNode stops without becoming ready after a signal during the start", async () => {
    const { journal, hands, host, result } = scene();
    host.emit("SIGINT", "SIGINT");
    await turn();
    hands.failStart(new Error("interrupted"));
    hands.stop();
    expect(await result).toBe(0);
    expect(journal).toEqual(["stop"]);
  });

  it("runNode returns 1 when the stop exceeds its limit", async () => {
    const { journal, hands, host, result } = scene(0);
    hands.start();
    await turn();
    host.emit("SIGINT", "SIGINT");
    expect(await result).toBe(1);
    expect(journal.slice(1)).toEqual(["stop", "abandon", "exit 1"]);
  });

  it("runNode returns 1 when a service fails to stop", async () => {
    const { journal, hands, host, result } = scene();
    hands.start();
    await turn();
    host.emit("SIGINT", "SIGINT");
    hands.failStop(new Error("no database"));
    expect(await result).toBe(1);
    expect(journal.slice(1)).toEqual(["stop", "abandon", "exit 1"]);
  });

  it("runNode exits with 1 at once on an unhandled error", async () => {
    const { journal, hands, host } = scene();
    hands.start();
    await turn();
    host.emit("unhandledRejection", new Error("lost"));
    expect(journal.slice(1)).toEqual(["abandon", "exit 1"]);
  });
});
