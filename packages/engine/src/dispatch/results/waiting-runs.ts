import {
  type CallbackAnswer,
  callbackOutcome,
  type Clock,
  type DurationMs,
  type Instant,
  callbackSessionId,
  callbackTimeoutOutcome,
  type Outcome,
} from "@carillon/core";
import { SteadyCost } from "../../loops/steady-cost.js";
import type { CallbackTaken } from "./callbacks.js";
import type { CallbackStore, CalledRun, ClaimedRun, ClaimStore, LaneStore } from "@carillon/store";
import type { Results } from "./results.js";

export interface WaitingRunsOptions {
  readonly callbacks: CallbackStore;
  readonly claims: Pick<ClaimStore, "recall" | "accepted">;
  readonly lanes: Pick<LaneStore, "get" | "list">;
  readonly results: Pick<Results, "takeOf">;
  readonly clock: Pick<Clock, "monotonic">;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly batch: number;
}

const everyMs: DurationMs = 1_000;
/** A look for runs that are to stop reads all that wait; it takes at most a twentieth of the time. */
const stopsEveryMs: DurationMs = 5_000;
const share = 20;
/** Between a callback that is recorded and the end of its run. */
const longAgoMs: DurationMs = 86_400_000;

/**
 * Runs that go on without a worker until somebody ends them by a callback. The run's row stays under its claim, with nobody's session;
 * who ends it matches that. Safe on every node at once: what two do, one finds done.
 */
export class WaitingRuns {
  readonly #options: WaitingRunsOptions;
  #stopsAt = Number.NEGATIVE_INFINITY;
  readonly #cost = new SteadyCost();

  constructor(options: WaitingRunsOptions) {
    this.#options = options;
  }

  /** A callback came. Durable when it is taken, also when the run does not wait yet. */
  async answer(tokenHash: string, answer: CallbackAnswer): Promise<CallbackTaken> {
    const { callbacks, claims, now } = this.#options;
    const called = await callbacks.answer(tokenHash, answer);
    if (called === null) return callbacks.state(tokenHash);
    if (!called.waits) return "taken";
    if ((await this.#settle([called])).has(called.id)) return "taken";
    // Another node may have been faster to do what it says.
    const done = await claims.accepted(callbackSessionId, [{ ...called, isSuccess: false }], now() - longAgoMs);
    return done.has(called.id) ? "taken" : "over";
  }

  /** One bounded pass; answers after how long the next is due. */
  async tick(): Promise<DurationMs> {
    const { callbacks, clock, batch } = this.#options;
    const expired = await callbacks.expire(batch);
    const due = await callbacks.due(batch);
    await this.#settle(due);
    if (clock.monotonic() >= this.#stopsAt) await this.lookForStops();
    return expired === batch || due.length === batch ? 0 : everyMs;
  }

  /** Ends those that are to stop: there is no worker to be told. */
  async lookForStops(): Promise<void> {
    const { callbacks, clock, batch } = this.#options;
    const begunAt = clock.monotonic();
    await this.#settle(await callbacks.stopped(batch));
    const now = clock.monotonic();
    this.#stopsAt = now + Math.max(stopsEveryMs, this.#cost.after(now - begunAt) * share);
  }

  /** Ends what was called, or closed, or is to stop. Answers the runs that this changed. */
  async #settle(called: readonly CalledRun[]): Promise<ReadonlySet<string>> {
    if (called.length === 0) return new Set();
    const { callbacks, claims, results, now } = this.#options;
    const runs = await claims.recall(
      callbackSessionId,
      called.map((one) => one.id),
    );
    await this.#knowLanes(runs);
    const at = now();
    const ended = called.flatMap((one) => {
      const run = runs.find(({ id, fence }) => id === one.id && fence === one.fence);
      if (run === undefined) return [];
      const startedAgoMs = one.begunAt === null ? 0 : Math.max(0, at - one.begunAt);
      const outcome = outcomeOf(one, run, at);
      return [{ run, completion: { runId: run.id, fence: run.fence, startedAgoMs, outcome } }];
    });
    const accepted = await results.takeOf(ended);
    await callbacks.settle(called);
    return accepted;
  }

  /** Another node may have made the lane of such a run. */
  async #knowLanes(runs: readonly ClaimedRun[]): Promise<void> {
    const { lanes } = this.#options;
    if (runs.some((run) => lanes.get(run.lane) === null)) await lanes.list();
  }
}

function outcomeOf({ answer, begunAt }: CalledRun, run: ClaimedRun, now: Instant): Outcome {
  const isOver = run.isStopped || (run.deadline !== null && now >= run.deadline);
  // What was done was done, although it was to stop.
  if (answer?.status === "succeeded") return callbackOutcome(answer);
  if (isOver) return { kind: "cancelled", error: answer === null ? null : answer.error };
  return answer === null ? callbackTimeoutOutcome(begunAt === null ? 0 : now - begunAt) : callbackOutcome(answer);
}
