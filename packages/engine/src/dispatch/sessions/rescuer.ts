import { type DeadSession, freedBy, type LostRun, type RunStore, type SessionStore } from "@carillon/store";
import { HeartbeatMonitor } from "../../cluster/detection/heartbeat-monitor.js";
import { announceEnded, emitLateEnds } from "../../runs/run-events.js";
import type { DispatchContext } from "../dispatch-context.js";
import type { EngineLimits } from "../../options.js";

export interface RescuerContext extends Pick<DispatchContext, "clock" | "emit" | "loops"> {
  readonly store: {
    readonly sessions: Pick<SessionStore, "closeOfDeadNodes" | "expire" | "list">;
    readonly runs: Pick<RunStore, "buryLost" | "endStopped" | "lost" | "rescue">;
  };
  readonly limits: Pick<EngineLimits, "maxLosses" | "rescueBatch" | "workerTimeoutMs">;
  readonly wakeups: Pick<DispatchContext["wakeups"], "publish" | "runsQueued">;
}

/** A sweep for lost runs reads all live runs. Without a reason it is made so rarely, for a node that dies between expiring and rescuing. */
const idleSweepMs = 60_000;
/** With a reason it is made until so many found nothing: the first may have skipped rows that others had locked. */
const sweepsPerReason = 3;

/** Gives the runs of dead workers to others. Safe on every node at once: the session's row decides. */
export class Rescuer {
  readonly #context: RescuerContext;
  readonly #monitor: HeartbeatMonitor;
  #known: ReadonlySet<string> = new Set();
  /** Sessions that this node declared dead and has not announced: the next sweep counts the runs that each left. */
  #unannounced: DeadSession[] = [];
  #sweepsLeft = sweepsPerReason;
  #lastSweep = Number.NEGATIVE_INFINITY;

  constructor(context: RescuerContext) {
    this.#context = context;
    const limitMs = context.limits.workerTimeoutMs;
    this.#monitor = new HeartbeatMonitor({ limitMs, maxGapMs: limitMs / 2 });
    context.loops.register("rescuer", async () => ((await this.tick()) > 0 ? 0 : limitMs / 5));
  }

  /** One pass; returns the number of runs that dead workers had left. */
  async tick(): Promise<number> {
    const { clock } = this.#context;
    if (await this.#findEndedSessions()) this.#sweepsLeft = sweepsPerReason;
    const now = clock.monotonic();
    if (this.#sweepsLeft === 0 && now - this.#lastSweep < idleSweepMs) return 0;
    const { lost, rescued } = await this.#sweep();
    this.#lastSweep = now;
    // The rest may be locked by a transaction that hangs: sweeps go on until none is left.
    if (lost > 0) this.#sweepsLeft = sweepsPerReason;
    else if (this.#sweepsLeft > 0) this.#sweepsLeft--;
    return rescued;
  }

  /** Declares silent sessions dead; returns whether any session went away since the last pass, ended by any node. */
  async #findEndedSessions(): Promise<boolean> {
    const { store, clock, emit } = this.#context;
    const listed = await store.sessions.list();
    const silent = this.#monitor.observe(listed, clock.monotonic());
    const expired = silent.length === 0 ? [] : await store.sessions.expire(silent);
    this.#unannounced.push(...expired);
    const orphaned = await store.sessions.closeOfDeadNodes();
    this.#unannounced.push(...orphaned);
    const ended = expired.length + orphaned.length;
    if (ended > 0) emit({ type: "sessions.expired", count: ended });
    const before = this.#known;
    this.#known = new Set(listed.map((session) => session.id));
    for (const id of before) if (!this.#known.has(id)) return true;
    return ended > 0;
  }

  async #sweep(): Promise<{ readonly lost: number; readonly rescued: number }> {
    const { store, limits, emit, wakeups } = this.#context;
    const found = await store.runs.lost(limits.rescueBatch);
    this.#announceDead(found);
    const lost = found.map((run) => run.id);
    if (lost.length === 0) return { lost: 0, rescued: 0 };
    const buried = await store.runs.buryLost(lost, limits.maxLosses);
    announceEnded(buried, "failed", emit);
    emitLateEnds(buried, emit);
    publishFreed(wakeups, freedBy(buried));
    const rescued = await store.runs.rescue(lost, limits.maxLosses);
    const again = rescued.filter((run) => !run.isStopped);
    const others = new Set(again.map((run) => run.id));
    // Also runs that were stopped, and that a node gave back before it died: no worker may start them.
    await endStopped(
      this.#context,
      lost.filter((id) => !others.has(id)),
    );
    if (again.length > 0) emit({ type: "runs.rescued", count: again.length });
    wakeups.runsQueued(again);
    return { lost: lost.length, rescued: rescued.length };
  }

  /** Announces each session once, with its runs that this sweep found: those beyond one batch are not counted. */
  #announceDead(lost: readonly LostRun[]): void {
    if (this.#unannounced.length === 0) return;
    const left = new Map<string | null, number>();
    for (const { sessionId } of lost) left.set(sessionId, (left.get(sessionId) ?? 0) + 1);
    for (const { id: workerId, namespaceId, name: worker } of this.#unannounced.splice(0)) {
      const runs = left.get(workerId) ?? 0;
      this.#context.emit({ type: "worker.lost", namespaceId, workerId, worker, runs });
    }
  }
}

type StopContext = Pick<RescuerContext, "emit" | "wakeups"> & {
  readonly store: { readonly runs: Pick<RunStore, "endStopped"> };
};

/** Of these queued runs, ends those that were stopped while a worker had them: no worker may start them again. */
export async function endStopped({ store, emit, wakeups }: StopContext, runIds: readonly string[]): Promise<void> {
  const ended = await store.runs.endStopped(runIds);
  announceEnded(ended, "cancelled", emit);
  publishFreed(wakeups, freedBy(ended));
}

/** Of these runs, queues those again whose session is gone. */
export async function rescueRuns(
  context: StopContext & { readonly store: { readonly runs: Pick<RunStore, "rescue"> } } & {
    readonly limits: Pick<EngineLimits, "maxLosses">;
  },
  runIds: readonly string[],
): Promise<void> {
  const rescued = await context.store.runs.rescue(runIds, context.limits.maxLosses);
  await endStopped(
    context,
    rescued.filter((run) => run.isStopped).map((run) => run.id),
  );
  context.wakeups.runsQueued(rescued.filter((run) => !run.isStopped));
}

/** Runs of these jobs ended, for which other runs of the same job may wait. */
export function publishFreed(wakeups: Pick<DispatchContext["wakeups"], "publish">, jobIds: readonly string[]): void {
  if (jobIds.length > 0) wakeups.publish("overlap.freed", jobIds);
}
