import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { REPEATED_SIGNAL_MS, guardProcess, stopSignalHandler } from "../../../src/services/run-node.js";

function scene() {
  const handled: string[] = [];
  const time = { now: 0 };
  const reactions = {
    drain: (signal: string) => handled.push(`drain ${signal}`),
    endNow: (signal: string) => handled.push(`end ${signal}`),
    fatal: (error: unknown) => handled.push(`fatal ${String(error)}`),
  };
  return { handled, time, reactions };
}

describe("stop signals", () => {
  it("drains at the first signal and exits at once at a later second one", () => {
    const { handled, time, reactions } = scene();
    const onSignal = stopSignalHandler(reactions, () => time.now);
    onSignal("SIGINT");
    time.now = REPEATED_SIGNAL_MS;
    onSignal("SIGTERM");
    expect(handled).toEqual(["drain SIGINT", "end SIGTERM"]);
  });

  it("ignores the copy of a signal that npm forwards", () => {
    const { handled, time, reactions } = scene();
    const onSignal = stopSignalHandler(reactions, () => time.now);
    onSignal("SIGINT");
    time.now = REPEATED_SIGNAL_MS - 1;
    onSignal("SIGINT");
    expect(handled).toEqual(["drain SIGINT"]);
  });

  it("handles SIGINT, SIGTERM, SIGHUP and unhandled errors until it is removed", () => {
    const { handled, time, reactions } = scene();
    const source = new EventEmitter();
    const leave = guardProcess(source, reactions, () => time.now);
    source.emit("SIGHUP", "SIGHUP");
    source.emit("unhandledRejection", "lost");
    source.emit("uncaughtException", "thrown");
    leave();
    for (const name of ["SIGINT", "SIGTERM", "unhandledRejection"]) expect(source.listenerCount(name)).toBe(0);
    expect(handled).toEqual(["drain SIGHUP", "fatal lost", "fatal thrown"]);
  });
});
