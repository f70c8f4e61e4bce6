import { describe, expect, it } from "vitest";
import { explainLimits } from "../../../src/explain/explain-run.js";
import type { LimitView } from "../../../src/limits/limits.js";

const now = 1_000_000;
const run = "0193e2c4-0000-7000-8000-000000000000";
const limit = (over: Partial<LimitView>): LimitView => ({
  id: 1,
  scope: "key",
  kind: "concurrency",
  key: "customer:42",
  limit: 5,
  perMs: null,
  burst: null,
  onFailure: null,
  isFixed: false,
  used: 0,
  nextRoomAt: null,
  stoppedBy: null,
  ...over,
});
const explain = (limits: readonly LimitView[], position = 0) => explainLimits({ limits, position }, now);

describe("the explanation of a run that waits for limits", () => {
  it("names the key, queue or namespace whose limit has no room", () => {
    expect(explain([limit({ used: 5 })]).detail).toBe('key "customer:42": 5 of 5 are running');
    const queue = limit({ scope: "queue", key: "mail", used: 7, limit: 7 });
    expect(explain([queue]).detail).toBe("queue mail: 7 of 7 are running");
  });

  it("estimates the time until a rate limit has room again", () => {
    const rate = limit({ kind: "rate", limit: 2, perMs: 60_000, burst: 2, used: 2, nextRoomAt: now + 12_000 });
    expect(explain([rate])).toMatchObject({
      code: "limit_rate",
      detail: 'rate limit of key "customer:42": 2 in 1m, about 12s',
      until: now + 12_000,
    });
  });

  it("names the run that precedes it under an ordering key", () => {
    const held = limit({ kind: "order", used: 1 });
    expect(explain([limit({ used: 5 }), held])).toMatchObject({ code: "limit_order" });
    expect(explain([limit({ kind: "order", stoppedBy: run })]).detail).toContain("failed: retry or discard it");
  });

  it("says that the run is admitted in its turn when every limit has room", () => {
    expect(explain([limit({})], 3)).toMatchObject({
      code: "limit_pending",
      detail: "its limits have room: it is admitted in its turn; 3 that wait for the same go before it",
    });
  });
});
