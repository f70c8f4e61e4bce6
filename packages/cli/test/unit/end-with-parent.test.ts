import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { endWithParent } from "../../src/worker-process.js";

const processOf = (connected?: boolean) => Object.assign(new EventEmitter(), { connected });

const askedBy = (process: ReturnType<typeof processOf>): AbortSignal => {
  const asked = new AbortController();
  endWithParent(process, asked);
  return asked.signal;
};

it("a worker ends with the process that started it", () => {
  const process = processOf(true);
  const signal = askedBy(process);
  expect(signal.aborted).toBe(false);
  process.emit("disconnect");
  expect(signal.aborted).toBe(true);
});

it("a worker whose starter was gone before it had loaded its tasks ends at once", () => {
  expect(askedBy(processOf(false)).aborted).toBe(true);
});

it("a worker that nobody waits for stays", () => {
  expect(askedBy(processOf()).aborted).toBe(false);
});
