import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { endWithParent } from "../../src/worker-process.js";

const processOf = (connected?: boolean) => Object.assign(new EventEmitter(), { connected });

const askedBy = (process: ReturnType<typeof processOf>): AbortSignal => {
  const asked = new AbortController();
  endWithParent(process, asked);
  return asked.signal;
};

it("a worker ends when its parent process ends", () => {
  const process = processOf(true);
  const signal = askedBy(process);
  expect(signal.aborted).toBe(false);
  process.emit("disconnect");
  expect(signal.aborted).toBe(true);
});

it("a worker whose parent ended before its tasks were loaded ends immediately", () => {
  expect(askedBy(processOf(false)).aborted).toBe(true);
});

it("a worker without an IPC channel keeps running", () => {
  expect(askedBy(processOf()).aborted).toBe(false);
});
