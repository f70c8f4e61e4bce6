import { ManualClock } from "@carillon/core";
import type { ClaimStore, ClaimedRun, CompleteAndClaim, CompletedAndClaimed, Lane, LaneKind } from "@carillon/store";
import { dispatchContext, type DispatchOver, noChannel } from "./dispatch-context.js";
import type { DispatchCatalog } from "../../src/dispatch/dispatch-context.js";
import { Gateway } from "../../src/dispatch/gateway.js";

import type { Assigned } from "../../src/dispatch/sessions/worker-registration.js";
import type { WorkerRegistration } from "../../src/dispatch/sessions/worker-registration.js";

const plainLane: Lane = { id: 1, queue: "default", task: "echo", kind: "plain", requires: "" };

function runOf(id: string, over: Partial<ClaimedRun>): ClaimedRun {
  const plain = { namespaceId: 1, lane: plainLane.id, payload: "null", policy: {}, spent: 0, losses: 0, priority: 4 };
  const when = { rank: 0, runAt: 0, nominal: 0, trigger: "once", deadline: null };
  const claim = { session: "", fence: 0, isStopped: false, isStarted: false };
  return { id, jobId: id, ...plain, ...when, ...claim, ...over };
}

/** The run `of …` a session, executed there. */
export const claimedBy = (session: string): ClaimedRun => runOf(`of ${session}`, { session, fence: 1 });

/** Runs in memory, as far as a gateway with one lane needs them. */
class MemoryClaims {
  readonly waiting: ClaimedRun[] = [];
  readonly running = new Map<string, ClaimedRun>();
  /** How each run ended, or why it waits again. */
  readonly ended = new Map<string, string>();
  /** The next statement of this name throws, after or before it is executed. */
  readonly faults = new Map<"completeAndClaim" | "finish" | "held", "before" | "after">();
  /** Claims are answered when this resolves. */
  gate: Promise<void> = Promise.resolve();
  /** How often the runs that sessions hold were read. */
  heldReads = 0;

  add(id: string, over: Partial<ClaimedRun> = {}): void {
    this.waiting.push(runOf(id, { rank: this.waiting.length, ...over }));
  }

  get store(): ClaimStore {
    const claims: Partial<ClaimStore> = {
      completeAndClaim: (request) => this.#faulty("completeAndClaim", () => this.#completeAndClaim(request)),
      claimStrict: async ({ session }) => {
        const first = this.running.size > 0 ? undefined : this.waiting.shift();
        return first === undefined ? null : this.#claim(first, session);
      },
      held: (sessions) =>
        this.#faulty("held", async () => {
          this.heldReads++;
          await this.gate;
          return [...this.running.values()].filter((run) => sessions.includes(run.session));
        }),
      finish: (runs) =>
        this.#faulty("finish", async () => {
          const ended = runs.filter(({ id, fence }) => this.running.get(id)?.fence === fence);
          for (const { id, status } of ended) this.#end(id, status);
          return new Map(ended.map(({ id }) => [id, { freedJobId: null, finishedAt: 0 }]));
        }),
      retry: async (runs) => {
        for (const { id } of runs) this.#end(id, "retrying");
        return runs.map(({ id }) => ({ id, shard: 0, runAt: 0, isStopped: false }));
      },
      giveBack: async (_session, runs) => {
        const held = runs.filter(({ id, fence }) => this.running.get(id)?.fence === fence);
        for (const { id } of held) this.#end(id, "given back");
        return held.map(({ id }) => ({ id, lane: plainLane.id, rank: 0, isStopped: false }));
      },
      heldAmong: async (session, ids) =>
        [...this.running.values()].filter((run) => run.session === session && ids.includes(run.id)),
      stops: async () => [],
    };
    return claims as ClaimStore;
  }

  #end(id: string, how: string): void {
    this.running.delete(id);
    this.ended.set(id, how);
  }

  #claim(run: ClaimedRun, session: string): ClaimedRun {
    const claimed = { ...run, session, fence: run.fence + 1 };
    this.running.set(run.id, claimed);
    return claimed;
  }

  async #completeAndClaim({ succeeded, demand }: CompleteAndClaim): Promise<CompletedAndClaimed> {
    for (const { id } of succeeded) this.#end(id, "succeeded");
    if (demand === null) return { claimed: [], accepted: null, finishedAt: 0, freedJobs: [] };
    const claimed = this.waiting
      .splice(0, demand.slots.length)
      .map((run, index) => this.#claim(run, demand.sessions[demand.slots[index] ?? 0] ?? ""));
    await this.gate;
    return { claimed, accepted: null, finishedAt: 0, freedJobs: [] };
  }

  async #faulty<Result>(name: "completeAndClaim" | "finish" | "held", work: () => Promise<Result>): Promise<Result> {
    const fault = this.faults.get(name);
    this.faults.delete(name);
    if (fault === "before") throw new Error("the connection was reset");
    const result = await work();
    if (fault === "after") throw new Error("the connection was reset");
    return result;
  }
}

function* noQueues(): Generator<[namespaceId: number, queues: Iterable<string>]> {
  // Workers of one namespace do not need the queues of others.
}

/** A gateway over runs in memory, all in a lane of this kind, whose time stands still until the test moves it. */
export function memoryGateway({ store, ...over }: DispatchOver = {}, kind: LaneKind = "plain") {
  const lane: Lane = { ...plainLane, kind };
  const claims = new MemoryClaims();
  const clock = new ManualClock(1_000_000);
  const errors: unknown[] = [];
  let ids = 0;
  const context = dispatchContext({
    clock,
    timers: clock,
    now: () => clock.now(),
    newId: () => `id-${++ids}`,
    loopFailed: (_loop, error) => void errors.push(error),
    ...over,
    store: {
      claims: claims.store,
      sessions: { open: async () => undefined } as never,
      lanes: { ensure: async () => [1], known: () => 1, get: () => lane, list: async () => [lane] },
      namespaces: { find: async () => 1 } as never,
      runs: { endStopped: async () => [] } as never,
      records: {} as never,
      ...store,
    },
  });
  const catalog: DispatchCatalog = {
    rank: ({ dueMs }) => dueMs,
    queues: { isPaused: () => false, edition: 0, inUse: noQueues, orderOf: () => null },
    limitOwners: { isLimited: () => false, revision: 0 },
    tasks: { register: async () => [] },
    namespaces: { weightOf: () => 1, nameOf: () => "default" },
    durations: { note: () => undefined },
  };
  const gateway = new Gateway(context, { catalog, channel: noChannel, hasSubscribers: () => false });
  return { gateway, claims, clock, errors };
}

/** A worker that records its assignments. */
export async function workerOf(gateway: Gateway, over: Partial<WorkerRegistration> = {}) {
  const assigned: Assigned[] = [];
  const session = await gateway.open({
    namespace: "default",
    name: "w",
    queues: ["default"],
    tasks: ["echo"],
    slots: 1,
    ahead: 0,
    nodeId: null,
    onAssign: (runs) => void assigned.push(...runs),
    onStop: () => undefined,
    onLost: () => undefined,
    ...over,
  });
  gateway.resume(session);
  return { session, assigned };
}
