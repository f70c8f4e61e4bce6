import { deadlineError, type DurationMs } from "@carillon/core";
import { freedBy } from "@carillon/store";
import type { EngineContext } from "../context.js";
import { SteadyCost } from "../loops/loops.js";
import { announceEnded, emitLateEnds } from "./run-events.js";

type ExpirerContext = Pick<EngineContext, "store" | "clock" | "limits" | "emit" | "loops" | "wakeups">;

const periodMs: DurationMs = 1_000;
/** A scan takes at most a twentieth of the time. */
const share = 20;

/** Ends runs that wait beyond their deadline. Safe on every node at once: each takes only rows that no other node has locked. */
export class Expirer {
  readonly #context: ExpirerContext;
  readonly #cost = new SteadyCost();

  constructor(context: ExpirerContext) {
    this.#context = context;
    context.loops.register("expirer", () => this.tick());
  }

  /** One bounded pass; returns after how long the next is due. */
  async tick(): Promise<DurationMs> {
    const { store, clock, limits, emit, wakeups } = this.#context;
    const startedAt = clock.monotonic();
    const ended = await store.runs.expire(limits.rescueBatch);
    announceEnded(ended, "failed", emit);
    emitLateEnds(ended, emit);
    for (const { id: runId, namespaceId, task } of ended) {
      wakeups.publish("run.failed", { namespaceId, runId, task, error: deadlineError });
    }
    const freed = freedBy(ended);
    if (freed.length > 0) wakeups.publish("overlap.freed", freed);
    if (ended.length >= limits.rescueBatch) return 0;
    return Math.max(periodMs, this.#cost.after(clock.monotonic() - startedAt) * share);
  }
}
