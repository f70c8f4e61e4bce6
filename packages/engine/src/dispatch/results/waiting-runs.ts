import {
  type CallbackAnswer,
  callbackOutcome,
  callbackSessionId,
  callbackTimeoutOutcome,
  type DurationMs,
  type Instant,
  type Outcome,
} from "@carillon/core";
import type { CalledRun, ClaimedRun } from "@carillon/store";
import { SteadyCost } from "../../loops/loops.js";
import type { DispatchContext } from "../dispatch-context.js";
import type { Results } from "./results.js";

/**
 * taken: the run has ended with this answer, or will as soon as its worker reports that it waits. used: it was answered before. over: the
 * run no longer waits for it. unknown: there is no such token, or it was long ago.
 */
export type CallbackTaken = "taken" | "used" | "over" | "unknown";

const everyMs: DurationMs = 1_000;
/** A scan for stopped runs reads all that wait; it takes at most a twentieth of the time. */
const stopsEveryMs: DurationMs = 5_000;
const share = 20;
/** The most between a recorded callback and the end of its run. */
const maxSettleMs: DurationMs = 86_400_000;

/**
 * Runs that wait without a worker until a callback ends them. The run's row stays under its claim, with a session id of zeros; the
 * statement that ends it matches that. Safe on every node at once: of two that end a run, one matches no row.
 */
export class WaitingRuns {
  readonly #context: DispatchContext;
  readonly #results: Pick<Results, "takeUnheld">;
  #stopsAt = Number.NEGATIVE_INFINITY;
  readonly #cost = new SteadyCost();

  constructor(context: DispatchContext, results: Pick<Results, "takeUnheld">) {
    this.#context = context;
    this.#results = results;
    context.loops.register("callbacks", () => this.tick());
  }

  /** A callback was received; `tokenHash` is the SHA-256 of its token, in hexadecimal. Durable when it is taken, also when the run does not wait yet. */
  async answer(tokenHash: string, answer: CallbackAnswer): Promise<CallbackTaken> {
    const { store, now } = this.#context;
    const { callbacks, claims } = store;
    const called = await callbacks.answer(tokenHash, answer);
    if (called === null) return callbacks.state(tokenHash);
    if (!called.waits) return "taken";
    if ((await this.#settle([called])).has(called.id)) return "taken";
    // Another node may have ended the run with this answer.
    const done = await claims.accepted(callbackSessionId, [{ ...called, isSuccess: false }], now() - maxSettleMs);
    return done.has(called.id) ? "taken" : "over";
  }

  /** One bounded pass; returns after how long the next is due. */
  async tick(): Promise<DurationMs> {
    const { clock, store, limits } = this.#context;
    const { callbacks } = store;
    const { claimBatch: batch } = limits;
    const expired = await callbacks.expire(batch);
    const due = await callbacks.due(batch);
    await this.#settle(due);
    if (clock.monotonic() >= this.#stopsAt) await this.endStopped();
    return expired === batch || due.length === batch ? 0 : everyMs;
  }

  /** Ends runs that were cancelled or expired: there is no worker to order a stop. */
  async endStopped(): Promise<void> {
    const { clock, store, limits } = this.#context;
    const startedAt = clock.monotonic();
    await this.#settle(await store.callbacks.stopped(limits.claimBatch));
    const now = clock.monotonic();
    this.#stopsAt = now + Math.max(stopsEveryMs, this.#cost.after(now - startedAt) * share);
  }

  /** Ends runs that were called back, expired or cancelled. Returns the runs that this ended. */
  async #settle(called: readonly CalledRun[]): Promise<ReadonlySet<string>> {
    if (called.length === 0) return new Set();
    const { store, now } = this.#context;
    const { callbacks, claims } = store;
    const runs = await claims.heldAmong(
      callbackSessionId,
      called.map((one) => one.id),
    );
    await this.#knowLanes(runs);
    const at = now();
    const ended = called.flatMap((one) => {
      const run = runs.find(({ id, fence }) => id === one.id && fence === one.fence);
      if (run === undefined) return [];
      const startedAgoMs = one.startedAt === null ? 0 : Math.max(0, at - one.startedAt);
      const outcome = outcomeOf(one, run, at);
      return [{ run, completion: { runId: run.id, fence: run.fence, startedAgoMs, outcome } }];
    });
    const accepted = await this.#results.takeUnheld(ended);
    await callbacks.settle(called);
    return accepted;
  }

  /** Another node may have made the lane of such a run. */
  async #knowLanes(runs: readonly ClaimedRun[]): Promise<void> {
    const { lanes } = this.#context.store;
    if (runs.some((run) => lanes.get(run.lane) === null)) await lanes.list();
  }
}

function outcomeOf({ answer, startedAt }: CalledRun, run: ClaimedRun, now: Instant): Outcome {
  const isOver = run.isStopped || (run.deadline !== null && now >= run.deadline);
  // A success counts, although the run was cancelled.
  if (answer?.status === "succeeded") return callbackOutcome(answer);
  if (isOver) return { kind: "cancelled", error: answer === null ? null : answer.error };
  return answer === null ? callbackTimeoutOutcome(startedAt === null ? 0 : now - startedAt) : callbackOutcome(answer);
}
