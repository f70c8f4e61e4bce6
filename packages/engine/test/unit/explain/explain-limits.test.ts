import { describe, expect, it } from "vitest";
import { explainLimits } from "../../../src/explain/explain-limits.js";
import type { LimitState } from "../../../src/store/entities/explain-reads.js";

const now = 1_000_000;
const alone = { ahead: 0, of: 1 };
const state = (over: Partial<LimitState>): LimitState => ({
  scope: "key",
  kind: "concurrency",
  name: "customer:42",
  limit: 5,
  perMs: null,
  burst: null,
  used: 0,
  starts: [],
  stoppedBy: null,
  heldBy: null,
  ...over,
});

describe("what a run with limits waits for", () => {
  it("is the room of a key, a queue or a namespace", () => {
    expect(explainLimits([state({ used: 5 })], alone, now).detail).toBe('key "customer:42": 5 of 5 are running');
    const queue = state({ scope: "queue", name: "mail", used: 7, limit: 7 });
    expect(explainLimits([queue], alone, now).detail).toBe("queue mail: 7 of 7 are running");
  });

  it("is about the time until a rate has room again", () => {
    const rate = state({ kind: "rate", limit: 2, perMs: 60_000, burst: 2, starts: [now - 48_000, 1, now - 1_000, 1] });
    expect(explainLimits([rate], alone, now)).toMatchObject({
      code: "limit_rate",
      detail: 'rate limit of key "customer:42": 2 in 1m, about 12s',
      until: now + 12_000,
    });
  });

  it("is the run before it, where a key goes in order", () => {
    const held = state({ kind: "order", heldBy: "0193e2c4-0000-7000-8000-000000000000" });
    expect(explainLimits([held, state({ used: 5 })], alone, now)).toMatchObject({ code: "limit_order" });
    const stopped = state({ kind: "order", stoppedBy: "0193e2c4-0000-7000-8000-000000000000" });
    expect(explainLimits([stopped], alone, now).detail).toContain("failed: retry or discard it");
  });

  it("is only its turn, where everything has room", () => {
    expect(explainLimits([state({})], { ahead: 3, of: 9 }, now)).toMatchObject({
      code: "limit_pending",
      detail: "its limits have room: it is admitted in its turn; 3 of 9 that wait go before it",
    });
  });
});
