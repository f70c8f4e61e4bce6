import type { OrderFailure } from "@carillon/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Engine } from "../../../src/index.js";
import { LimitHarness } from "../../harness/limit-harness.js";

let h: LimitHarness;
let engine: Engine;
beforeEach(async () => {
  h = await LimitHarness.create();
  engine = await h.startNode();
});
afterEach(() => h.close());

const once = { maxAttempts: 1 };
const twice = { maxAttempts: 2, initialMs: 1, jitter: "none" as const };
const ordered = (onFailure?: OrderFailure) => ({
  ordering: { key: "account:{payload.account}", ...(onFailure !== undefined && { onFailure }) },
});
const inAccount = (...keys: string[]) => keys.map((key) => ({ account: 1, key }));
const begun = () => h.journal.filter((entry) => entry.kind === "begin").map((entry) => entry.key);

test("runs of one ordering key never overlap and begin in the order in which they were enqueued [INV-8]", async () => {
  h.isEager = true;
  const keys = Array.from({ length: 12 }, (_, index) => `n${index}`);
  await h.enqueue(engine, ordered(), inAccount(...keys));
  await h.until(() => h.engines.countEnds() === keys.length);
  expect(begun()).toEqual(keys);
  expect(h.journal.map((entry) => entry.kind)).toEqual(keys.flatMap(() => ["begin", "end"]));
});

test("runs behind a run that is retried wait for its next attempt [INV-8]", async () => {
  await h.enqueue(engine, { ...ordered(), retry: twice }, inAccount("first", "second"));
  await h.until(() => h.begun === 1);
  h.endOne(undefined, new Error("once more"));
  await h.until(() => h.begun === 2);
  h.endOne();
  await h.until(() => h.begun === 3);
  expect(begun()).toEqual(["first", "first", "second"]);
});

test("runs behind a failed run wait until it is retried, and the retry starts first", async () => {
  const [first = ""] = await h.enqueue(engine, { ...ordered(), retry: once }, inAccount("first", "second"));
  await h.until(() => h.begun === 1);
  h.endOne(undefined, new Error("broken"));
  await h.untilRow("select from carillon.limit_key where stopped_by is not null");
  await engine.deadLetters.retryRun("default", first, {}, { actor: null });
  await h.until(() => h.begun === 2);
  h.endOne();
  await h.until(() => h.begun === 3);
  expect(begun()).toEqual(["first", "first", "second"]);
});

test("runs behind a failed run start if its ordering says skip", async () => {
  await h.enqueue(engine, { ...ordered("skip"), retry: once }, inAccount("first", "second"));
  await h.until(() => h.begun === 1);
  h.endOne(undefined, new Error("broken"));
  await h.until(() => h.begun === 2);
  expect(begun()).toEqual(["first", "second"]);
});

test("runs that wait behind a failed run are cancelled if its ordering says stop, and later ones run", async () => {
  const [, second = ""] = await h.enqueue(engine, { ...ordered("stop"), retry: once }, inAccount("first", "second"));
  await h.until(() => h.begun === 1);
  h.endOne(undefined, new Error("broken"));
  await h.untilRow("select from carillon.run_history where id = $1 and status_reason = 'ordering_stopped'", [second]);
  await h.enqueue(engine, ordered("stop"), inAccount("third"));
  await h.until(() => h.begun === 2);
  expect(begun()).toEqual(["first", "third"]);
});
