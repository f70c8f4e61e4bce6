import { type Outcome, requirementsOf, requirementText, type RunPolicy } from "@carillon/core";
import { describe, expect, it } from "vitest";
import type { BreakerStore, ClaimedRun, Lane, OpenBreaker, Opening } from "@carillon/store";
import { NodeBreakers, type ProbeSource } from "../../../src/breakers/breakers.js";

const breaker = { failureRatio: 0.5, windowMs: 60_000, minCalls: 4, openForMs: 30_000 };
const name = { namespaceId: 1, name: "payments" };

/** Lanes of two tasks behind one named breaker, and one behind the breaker of its own task. */
const lanes: readonly Partial<Lane>[] = [
  { id: 0, task: "charge", requires: requirementText(requirementsOf({ breaker: "payments" })) },
  { id: 1, task: "refund", requires: requirementText(requirementsOf({ breaker: "payments" })) },
  { id: 2, task: "pdf", requires: requirementText(requirementsOf({ breaker: null })) },
];
const laneAt = (id: number): Lane => lanes[id] as Lane;

/** A store of one row. */
class MemoryBreakers implements Partial<BreakerStore> {
  row: OpenBreaker | null = null;
  readonly openings: Opening[] = [];
  now = 1_000_000;
  by: string | null = null;

  notClosed = async (): Promise<OpenBreaker[]> => (this.row === null ? [] : [this.row]);
  open = async (of: typeof name, opening: Opening): Promise<void> => {
    this.openings.push(opening);
    const { forMs, usualMs } = opening;
    this.row = { ...of, state: "open", probeAt: this.now + forMs, openForMs: usualMs, probeUntil: null };
  };
  takeProbe = async (_of: unknown, by: string, forMs: number): Promise<boolean> => {
    const { row, now } = this;
    if (row === null || (row.state === "half_open" ? (row.probeUntil ?? 0) : row.probeAt) > now) return false;
    this.by = by;
    this.row = { ...row, state: "half_open", probeUntil: now + forMs };
    return true;
  };
  keepProbe = async (_of: unknown, by: string, forMs: number): Promise<boolean> => {
    if (this.row?.state !== "half_open" || this.by !== by) return false;
    this.row = { ...this.row, probeUntil: this.now + forMs };
    return true;
  };
  endProbe = async (_of: unknown, by: string, end: { closes: boolean; openForMs: number }): Promise<boolean> => {
    if (this.row === null || this.by !== by) return false;
    this.row = end.closes ? null : { ...this.row, state: "open", probeAt: this.now + end.openForMs, probeUntil: null };
    return true;
  };
}

class Node {
  /** How often a run was let through. */
  letThrough = 0;
  source: ProbeSource = "lane";
  readonly atWork = new Set<string>();
  readonly breakers: NodeBreakers;

  constructor(store: MemoryBreakers, gatewayId = "a") {
    this.breakers = new NodeBreakers({
      store: store as unknown as BreakerStore,
      lane: laneAt,
      now: () => store.now,
      monotonic: () => store.now,
      gatewayId,
      serves: () => true,
      isAtWork: (runId) => this.atWork.has(runId),
      letOneThrough: async () => {
        this.letThrough++;
        return this.source;
      },
      onHeld: () => undefined,
      onChanged: () => undefined,
      onError: (error) => {
        throw error;
      },
    });
  }

  claim(id: string, lane = 0): ClaimedRun {
    const policy: RunPolicy = { breaker };
    const run = { id, namespaceId: 1, lane, policy } as ClaimedRun;
    this.atWork.add(id);
    this.breakers.claimed([run]);
    return run;
  }

  /** Returns how long the run waits for the breaker; null: its result is handled as usual. */
  end(run: ClaimedRun, outcome: Outcome): number | null {
    this.atWork.delete(run.id);
    return this.breakers.judge(run, { runId: run.id, fence: 1, startedAgoMs: 0, outcome });
  }
}

const error = { type: "Down", message: "down", retryable: true };
const down = { kind: "failed", reason: "handler_error", error } as const;
const good: Outcome = { kind: "succeeded", outputJson: "null" };

async function openOne(): Promise<{ store: MemoryBreakers; node: Node }> {
  const store = new MemoryBreakers();
  const node = new Node(store);
  node.end(node.claim("first"), { ...down, retryAfterMs: 5_000 });
  return { store, node };
}

async function halfOpen(): Promise<{ store: MemoryBreakers; node: Node; probe: ClaimedRun }> {
  const { store, node } = await openOne();
  store.now += 5_000;
  await node.breakers.tick();
  expect([store.row?.state, node.letThrough]).toEqual(["half_open", 1]);
  return { store, node, probe: node.claim("probe") };
}

describe("a circuit breaker on a node", () => {
  it("a breaker is shared by all tasks that name it; a task whose breaker has no name has its own", async () => {
    const { node } = await openOne();
    expect([0, 1, 2].map((lane) => node.breakers.isHeld(1, laneAt(lane)))).toEqual([true, true, false]);
    expect(node.breakers.isHeld(2, laneAt(0))).toBe(false);
  });

  it("a breaker counts the attempts of all tasks that name it together, without failures that cannot be retried", async () => {
    const store = new MemoryBreakers();
    const node = new Node(store);
    for (const lane of [0, 1, 0]) node.end(node.claim("r", lane), down);
    for (let n = 0; n < 9; n++)
      node.end(node.claim("r"), { kind: "failed", reason: "handler_error", error: { ...error, retryable: false } });
    expect(store.row).toBeNull();
    expect(node.end(node.claim("r", 1), down)).toBe(30_000);
    expect(store.openings).toEqual([{ reason: "4 of 4 failed", forMs: 30_000, usualMs: 30_000 }]);
  });

  it("a breaker opens at once for the time of a Retry-After; a longer one extends it, a shorter one changes nothing", async () => {
    const { store, node } = await openOne();
    expect(store.openings).toEqual([{ reason: "retry_after", forMs: 5_000, usualMs: 30_000 }]);
    expect(node.end(node.claim("late", 1), { ...down, retryAfterMs: 60_000 })).toBe(60_000);
    expect(node.end(node.claim("later"), { ...down, retryAfterMs: 1_000 })).toBe(60_000);
    expect(store.row?.probeAt).toBe(store.now + 60_000);
  });

  it("a breaker is not opened by a Retry-After without a usable time, and never for longer than a day", async () => {
    const store = new MemoryBreakers();
    const node = new Node(store);
    for (const retryAfterMs of [0, -5, Number.NaN]) node.end(node.claim("r"), { ...down, retryAfterMs });
    expect(store.openings).toEqual([]);
    node.end(node.claim("r"), { ...down, retryAfterMs: 1e15 });
    expect(store.openings).toMatchObject([{ reason: "retry_after", forMs: 86_400_000 }]);
  });

  it("a breaker closes when its probe succeeds", async () => {
    const { store, node, probe } = await halfOpen();
    await node.breakers.tick();
    expect(node.letThrough).toBe(1);
    node.end(probe, good);
    await node.breakers.tick();
    expect([store.row, node.breakers.isHeld(1, laneAt(0))]).toEqual([null, false]);
  });

  it("a breaker opens again for the time of the Retry-After of its probe", async () => {
    const { store, node, probe } = await halfOpen();
    expect(node.end(probe, { ...down, retryAfterMs: 7_000 })).toBe(7_000);
    expect(store.row).toMatchObject({ state: "open", probeAt: store.now + 7_000 });
  });

  it.each<[string, Outcome | null]>([
    ["was lost with its worker", null],
    ["was cancelled", { kind: "cancelled", error: null }],
    ["asked to be called later", { kind: "snoozed", delayMs: 1_000 }],
    [
      "failed with an error that cannot be retried",
      { kind: "failed", reason: "handler_error", error: { ...error, retryable: false } },
    ],
  ])("a breaker lets another run through when its probe %s", async (_what, outcome) => {
    const { store, node, probe } = await halfOpen();
    if (outcome === null) node.atWork.delete(probe.id);
    else node.end(probe, outcome);
    await node.breakers.tick();
    expect([store.row?.state, node.letThrough]).toEqual(["half_open", 2]);
    node.end(node.claim("second"), good);
    await node.breakers.tick();
    expect(store.row).toBeNull();
  });

  it("a breaker lets one run of a strict queue through as its probe, and none before or after", async () => {
    const { store, node } = await openOne();
    node.source = "strict";
    const isHeld = (): boolean => node.breakers.isHeldStrict(1, laneAt(0));
    expect(isHeld()).toBe(true);
    store.now += 5_000;
    await node.breakers.tick();
    expect([isHeld(), node.breakers.isHeld(1, laneAt(0))]).toEqual([false, true]);
    const trials = [0, 2].map((lane) => node.breakers.probeNameOf(1, laneAt(lane)));
    expect(trials).toEqual(["payments", null]);
    const probe = node.claim("probe");
    expect([isHeld(), node.breakers.probeNameOf(1, laneAt(0))]).toEqual([true, null]);
    node.end(probe, good);
    expect([isHeld(), node.breakers.probeNameOf(1, laneAt(0))]).toEqual([false, null]);
  });

  it("a breaker is probed by another node when the node that probed it has not renewed its probe for 15 s", async () => {
    const { store } = await halfOpen();
    const other = new Node(store, "b");
    store.now += 14_999;
    await other.breakers.tick();
    expect(other.letThrough).toBe(0);
    store.now += 1;
    await other.breakers.tick();
    expect(other.letThrough).toBe(1);
    other.end(other.claim("third"), good);
    expect(store.row).toBeNull();
  });
});
