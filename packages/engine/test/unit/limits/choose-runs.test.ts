import type { KeyedLimit } from "@carillon/core";
import { expect, it } from "vitest";
import { type Candidate, chooseRuns, type LimitState } from "../../../src/limits/choose-runs.js";
import { gateOf, limitsIn, limitText } from "../../../src/limits/limit-text.js";

const none = { perMs: null, burst: null, onFailure: null };
const concurrency = (name: string, limit: number): KeyedLimit => ({
  scope: "key",
  kind: "concurrency",
  name,
  limit,
  ...none,
});
const state = (id: number, limit: number, used = 0): [number, LimitState] => [
  id,
  { id, limit: concurrency(`k${id}`, limit), used, starts: [], stoppedBy: null, isCounted: true },
];
const run = (id: string, rank: number, gate: string, ...limitIds: number[]): Candidate => ({
  id,
  gate,
  rank,
  limitIds,
});
const at = { now: 0, holders: new Map<number, string>() };

it("admits runs by rank, as many as all limits have room for", () => {
  const limits = new Map([state(1, 2), state(2, 1)]);
  const runs = [run("c", 3, "g", 1), run("a", 1, "h", 1, 2), run("b", 2, "h", 1, 2), run("d", 4, "g", 1)];
  const { admitted, waiting } = chooseRuns(runs, limits, at);
  expect(admitted.map(({ id }) => id)).toEqual(["a", "c"]);
  expect(Object.fromEntries(waiting)).toEqual({ h: [2], g: [1] });
});

it("a run that holds an ordering key needs no room in it", () => {
  const [id, held] = state(1, 1, 1);
  const limits = new Map([[id, { ...held, limit: { ...held.limit, kind: "order" as const } }]]);
  const choice = chooseRuns([run("a", 1, "o", 1)], limits, { now: 0, holders: new Map([[1, "a"]]) });
  expect(choice.admitted.map((one) => one.id)).toEqual(["a"]);
});

it("limits are read back from their text as they were written, and runs of a queue with the same limits share a gate", () => {
  const rate: KeyedLimit = {
    scope: "job",
    kind: "rate",
    name: "a b:c",
    limit: 5,
    perMs: 100,
    burst: 2,
    onFailure: null,
  };
  const order: KeyedLimit = { scope: "key", kind: "order", name: "é", limit: 1, ...none, onFailure: "skip" };
  const owner = { namespaceId: 1, queue: "q" };
  for (const limits of [[concurrency("x", 3), rate], [order, rate], []]) {
    expect(limitsIn(limitText(limits, owner))).toEqual(limits);
  }
  expect(gateOf(limitText([rate], owner))).toBe(gateOf(limitText([rate], owner)));
  expect(gateOf(limitText([rate], owner))).not.toBe(gateOf(limitText([rate], { ...owner, queue: "p" })));
  expect(gateOf(limitText([order, rate], owner))).toBe(gateOf(limitText([order], { ...owner, queue: "p" })));
});
