import { deadlineError, runEndEvents } from "@carillon/core";
import type { ClaimedRun, FinishedRun } from "@carillon/store";
import type { NamespaceCache } from "../../catalog/namespaces.js";
import { emitLateEnd, emitLateStart } from "../../runs/run-events.js";
import type { DispatchContext } from "../dispatch-context.js";
import type { Results } from "../results/results.js";
import type { ServedSessions } from "./served-sessions.js";
import { type Assigned, toAssignment } from "./worker-registration.js";
import type { WorkerSession } from "./worker-session.js";

export interface RunAssignerDeps {
  readonly results: Pick<Results, "end" | "defer" | "freeSlots">;
  readonly sessions: () => Pick<ServedSessions, "find">;
  readonly namespaces: Pick<NamespaceCache, "nameOf">;
}

const deferMs = 1_000;

/** Assigns claimed runs to the workers that they were claimed for. */
export class RunAssigner {
  readonly #context: DispatchContext;
  readonly #deps: RunAssignerDeps;

  constructor(context: DispatchContext, deps: RunAssignerDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  assign(sessions: readonly WorkerSession[], runs: readonly ClaimedRun[]): void {
    const bySession = new Map<string, ClaimedRun[]>(sessions.map((session) => [session.id, []]));
    const stopped: ClaimedRun[] = [];
    const expired: ClaimedRun[] = [];
    const at = this.#context.now();
    for (const run of runs) {
      if (run.isStopped) stopped.push(run);
      else if (run.deadline !== null && run.deadline <= at) expired.push(run);
      else bySession.get(run.session)?.push(run);
    }
    for (const session of sessions) this.#assignTo(session, bySession.get(session.id) ?? []);
    const onError = this.#recheckAfterError(sessions);
    if (stopped.length > 0)
      this.#end(stopped, { status: "cancelled", reason: "cancelled_by_user", error: null }, onError);
    if (expired.length > 0) this.#end(expired, { status: "failed", reason: "expired", error: deadlineError }, onError);
  }

  /** Assigns every run, stopped and expired ones too: the worker may have it already. */
  assignAgain(session: WorkerSession, runs: readonly ClaimedRun[]): void {
    session.assign(runs, this.#isLost);
  }

  toAssignments(runs: readonly ClaimedRun[]): Assigned[] {
    const { now, store, emit } = this.#context;
    const { namespaces } = this.#deps;
    const at = now();
    return runs.map((run) => {
      const assigned = toAssignment(run, store.lanes.get(run.lane), namespaces.nameOf(run.namespaceId));
      emit({
        type: "run.started",
        namespaceId: run.namespaceId,
        runId: run.id,
        jobId: run.jobId,
        task: assigned.task,
        queue: assigned.queue,
        waitedMs: Math.max(0, at - run.runAt),
      });
      if (run.policy.sla !== undefined) emitLateStart(run, assigned, at, emit);
      return assigned;
    });
  }

  /** No worker knows of the claims that the failed statement was about: the check of what their sessions hold finds them again. */
  #recheckAfterError(sessions: readonly WorkerSession[]): (error: unknown) => void {
    const { now, loopFailed } = this.#context;
    return (error) => {
      for (const session of sessions) session.unconfirmed.begin(now());
      loopFailed("gateway", error);
    };
  }

  readonly #isLost = (run: ClaimedRun): boolean => this.#context.store.lanes.get(run.lane)?.kind === "lost";

  /** A worker gets one run at a time that lost several workers before: only that one can have made it crash. */
  #assignTo(session: WorkerSession, runs: readonly ClaimedRun[]): void {
    // A worker that was declared dead meanwhile must not start runs that the rescuer gives to others.
    if (this.#deps.sessions().find(session.id) === null) return;
    const taken: ClaimedRun[] = [];
    const deferred: ClaimedRun[] = [];
    let { hasLostRun } = session;
    for (const run of runs) {
      const isLost = this.#isLost(run);
      if (isLost && hasLostRun) deferred.push(run);
      else taken.push(run);
      if (isLost) hasLostRun = true;
    }
    session.assign(taken, this.#isLost);
    if (deferred.length > 0) this.#defer(deferred, this.#recheckAfterError([session]));
  }

  /** The runs are claimable again in a moment, for a worker without such a run. */
  #defer(runs: readonly ClaimedRun[], onError: (error: unknown) => void): void {
    const how = { delayMs: deferMs, reason: "worker_lost" };
    const { results } = this.#deps;
    results.defer(runs.map(({ id, fence, session, rank }) => ({ id, fence, session, rank, ...how }))).catch(onError);
  }

  /** Ends runs that were stopped, or past their deadline, before they were claimed: no worker may start them. */
  #end(
    runs: readonly ClaimedRun[],
    how: Pick<FinishedRun, "status" | "reason" | "error">,
    onError: (error: unknown) => void,
  ): void {
    const { now, store, emit } = this.#context;
    const { results } = this.#deps;
    const end = { ...how, output: "null", spent: 0, startedAt: now() } as const;
    const ended: FinishedRun[] = runs.map(({ id, fence, session }) => ({ id, fence, session, ...end }));
    const announce = (ids: readonly string[]): void => {
      const accepted = new Set(ids);
      results.freeSlots(runs);
      for (const run of runs.filter((one) => accepted.has(one.id))) {
        const { id: runId, lane, namespaceId, jobId } = run;
        const { task = "", queue = "" } = store.lanes.get(lane) ?? {};
        const of = { namespaceId, runId, jobId, task, queue };
        emit({ type: runEndEvents[how.status], ...of, durationMs: 0 });
        if (run.policy.sla === undefined || how.status !== "failed") continue;
        emitLateStart(run, { task, queue }, end.startedAt, emit);
        emitLateEnd(run, { task, queue }, end.startedAt, emit);
      }
    };
    results.end(ended).then(announce, onError);
  }
}
