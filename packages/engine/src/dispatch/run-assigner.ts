import { deadlineError, type Instant } from "@carillon/core";
import type { OnEngineEvent } from "../events.js";
import type { ClaimedRun, FinishedRun, LaneStore } from "@carillon/store";
import { emitLateEnd, emitLateStart } from "../runs/run-events.js";
import { type Assigned, assignmentOf } from "./sessions/to-assignment.js";
import type { Results } from "./results/results.js";
import type { WorkerSession } from "./sessions/worker-session.js";

export interface HandoutOptions {
  readonly lanes: Pick<LaneStore, "get">;
  readonly results: Pick<Results, "end" | "defer" | "freeSlots">;
  /** The database's clock. */
  readonly now: () => Instant;
  /** This node still serves the session. */
  readonly isServed: (session: WorkerSession) => boolean;
  readonly onEvent: OnEngineEvent;
  readonly onError: (error: unknown) => void;
}

const deferMs = 1_000;

/** Gives claimed runs to the workers that they were claimed for. */
export class Handout {
  readonly #options: HandoutOptions;

  constructor(options: HandoutOptions) {
    this.#options = options;
  }

  give(sessions: readonly WorkerSession[], runs: readonly ClaimedRun[]): void {
    const bySession = new Map<string, ClaimedRun[]>(sessions.map((session) => [session.id, []]));
    const stopped: ClaimedRun[] = [];
    const expired: ClaimedRun[] = [];
    const at = this.#options.now();
    for (const run of runs) {
      if (run.isStopped) stopped.push(run);
      else if (run.deadline !== null && run.deadline <= at) expired.push(run);
      else bySession.get(run.session)?.push(run);
    }
    for (const session of sessions) this.#giveTo(session, bySession.get(session.id) ?? []);
    const onError = this.#doubting(sessions);
    if (stopped.length > 0)
      this.#end(stopped, { status: "cancelled", reason: "cancelled_by_user", error: null }, onError);
    if (expired.length > 0) this.#end(expired, { status: "failed", reason: "expired", error: deadlineError }, onError);
  }

  /** Gives whatever it is, without a question: the worker may have it already. */
  giveAll(session: WorkerSession, runs: readonly ClaimedRun[]): void {
    session.take(runs, this.#isLost);
  }

  assignments(runs: readonly ClaimedRun[]): Assigned[] {
    const { now, lanes, onEvent } = this.#options;
    const at = now();
    return runs.map((run) => {
      const assigned = assignmentOf(run, lanes.get(run.lane));
      onEvent({
        type: "run.claimed",
        namespaceId: run.namespaceId,
        runId: run.id,
        jobId: run.jobId,
        task: assigned.task,
        queue: assigned.queue,
        waitedMs: Math.max(0, at - run.runAt),
      });
      if (run.policy.sla !== undefined) emitLateStart(run, assigned, at, onEvent);
      return assigned;
    });
  }

  /** What could not be done about a claim: no worker knows of it, so who asks what its session holds finds it again. */
  #doubting(sessions: readonly WorkerSession[]): (error: unknown) => void {
    const { now, onError } = this.#options;
    return (error) => {
      for (const session of sessions) session.doubt.raise(now());
      onError(error);
    };
  }

  readonly #isLost = (run: ClaimedRun): boolean => this.#options.lanes.get(run.lane)?.kind === "lost";

  /** Of runs that lost several workers before, a worker has one at a time: only that one can have taken it down. */
  #giveTo(session: WorkerSession, runs: readonly ClaimedRun[]): void {
    // Whoever was declared dead meanwhile must not begin what the rescuer gives to others.
    if (!this.#options.isServed(session)) return;
    const taken: ClaimedRun[] = [];
    const tooMany: ClaimedRun[] = [];
    let { hasLost } = session;
    for (const run of runs) {
      const isLost = this.#isLost(run);
      if (isLost && hasLost) tooMany.push(run);
      else taken.push(run);
      if (isLost) hasLost = true;
    }
    session.take(taken, this.#isLost);
    if (tooMany.length > 0) this.#defer(tooMany, this.#doubting([session]));
  }

  /** They come again in a moment, to a worker that has none. */
  #defer(runs: readonly ClaimedRun[], onError: (error: unknown) => void): void {
    const what = { delayMs: deferMs, reason: "worker_lost" };
    const { results } = this.#options;
    results.defer(runs.map(({ id, fence, session, rank }) => ({ id, fence, session, rank, ...what }))).catch(onError);
  }

  /** A run that was to stop, or was past its deadline, before it was claimed ends here: nobody is to begin it. */
  #end(
    runs: readonly ClaimedRun[],
    how: Pick<FinishedRun, "status" | "reason" | "error">,
    onError: (error: unknown) => void,
  ): void {
    const { results, now, lanes, onEvent } = this.#options;
    const what = { ...how, output: "null", spent: 0, startedAt: now() } as const;
    const ended: FinishedRun[] = runs.map(({ id, fence, session }) => ({ id, fence, session, ...what }));
    const tell = (ids: readonly string[]): void => {
      const accepted = new Set(ids);
      results.freeSlots(runs);
      for (const run of runs.filter((one) => accepted.has(one.id))) {
        const { id: runId, lane, namespaceId, jobId } = run;
        const { task = "", queue = "" } = lanes.get(lane) ?? {};
        const of = { namespaceId, runId, jobId, task, queue };
        onEvent({ type: "run.finished", ...of, status: how.status, durationMs: 0 });
        if (run.policy.sla === undefined || how.status !== "failed") continue;
        emitLateStart(run, { task, queue }, what.startedAt, onEvent);
        emitLateEnd(run, { task, queue }, what.startedAt, onEvent);
      }
    };
    results.end(ended).then(tell, onError);
  }
}
