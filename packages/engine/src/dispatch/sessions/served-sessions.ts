import { CarillonError, type DurationMs } from "@carillon/core";
import type { ClaimedRun, WorkerSkills, WorkerState } from "@carillon/store";
import type { LaneGroups } from "../claims/lane-groups.js";
import type { DispatchContext } from "../dispatch-context.js";
import type { Assigned, WorkerHandlers, WorkerRegistration } from "./worker-registration.js";
import { SessionLost, WorkerSession } from "./worker-session.js";

export interface ServedSessionsDeps {
  readonly gatewayId: string;
  readonly groups: Pick<LaneGroups, "join" | "leave">;
  readonly toAssignments: (runs: readonly ClaimedRun[]) => readonly Assigned[];
  /** A worker takes runs again. */
  readonly wakeClaims: () => void;
}

/** The abilities of a worker, and the calls by which the gateway reaches it. */
export type Served = WorkerHandlers &
  WorkerSkills &
  Pick<WorkerRegistration, "namespaces" | "queues" | "tasks" | "slots" | "ahead">;

/** How busy the workers of a node are. */
export interface WorkerLoad {
  readonly workers: number;
  readonly slots: number;
  readonly usedSlots: number;
  readonly heldRuns: number;
}

/** The workers that this node serves, and the states that operators request of them. */
export class ServedSessions {
  readonly #context: DispatchContext;
  readonly #deps: ServedSessionsDeps;
  /** How long the database may still execute a claim that failed: later, the session is dead unless the rest of the node was in time all along. */
  readonly #unconfirmedMs: DurationMs;
  readonly #served = new Map<string, WorkerSession>();

  constructor(context: DispatchContext, deps: ServedSessionsDeps) {
    this.#context = context;
    this.#deps = deps;
    this.#unconfirmedMs = 2 * context.limits.workerTimeoutMs;
  }

  values(): Iterable<WorkerSession> {
    return this.#served.values();
  }

  get load(): WorkerLoad {
    const load = { workers: 0, slots: 0, usedSlots: 0, heldRuns: 0 };
    for (const { slots, usedSlots, held } of this.#served.values()) {
      load.workers++;
      load.slots += slots;
      load.usedSlots += usedSlots;
      load.heldRuns += held.size;
    }
    return load;
  }

  find(id: string): WorkerSession | null {
    return this.#served.get(id) ?? null;
  }

  /** Throws SessionLost for a session that this node does not serve. */
  get(id: string): WorkerSession {
    const session = this.#served.get(id);
    if (session === undefined) throw new SessionLost(id);
    return session;
  }

  async serve(id: string, namespaceId: number, served: Served): Promise<WorkerSession> {
    this.#context.wakeups.serveWorkers();
    const session = this.#newSession(id, namespaceId, served);
    const { namespaces, ...skills } = served;
    const servesAll = namespaces?.includes("*") ?? false;
    const others = servesAll ? [] : await this.namespaceIds(namespaces);
    const namespaceIds = servesAll ? null : others.length > 0 ? others : [namespaceId];
    await this.#deps.groups.join({ namespaceIds, ...skills, weights: weightsOf(served) }, session);
    const before = this.#served.get(id);
    if (before !== undefined) this.forget(before);
    this.#served.set(id, session);
    return session;
  }

  /** The ids of the names except `*`. Throws not_found. */
  namespaceIds(names: readonly string[] = []): Promise<number[]> {
    return Promise.all(names.filter((name) => name !== "*").map((name) => this.namespaceId(name)));
  }

  async namespaceId(name: string): Promise<number> {
    const id = await this.#context.store.namespaces.find(name);
    if (id === null) throw new CarillonError("not_found", `There is no namespace ${JSON.stringify(name)}.`);
    return id;
  }

  forget(session: WorkerSession): void {
    session.isWaiting = false;
    this.#served.delete(session.id);
    this.#deps.groups.leave(session);
  }

  /** An operator requests a state of a worker. If it excludes new runs, resolves when no claim for the worker is under way. */
  async requestState(id: string, state: WorkerState): Promise<void> {
    const session = this.#served.get(id);
    if (session === undefined) return;
    session.stateRequests++;
    this.applyState(session, state);
    if (session.isCordoned) await session.untilNoClaims();
  }

  applyState(session: WorkerSession, state: WorkerState): void {
    const wasCordoned = session.isCordoned;
    session.isCordoned = state !== "active";
    if (state === "draining" || state === "leaving") session.events.onDrain(state === "leaving");
    if (wasCordoned && !session.isCordoned) this.#deps.wakeClaims();
  }

  /** Writes the heartbeats of connected workers, and reads the states that operators requested. */
  async heartbeat(): Promise<void> {
    const { gatewayId } = this.#deps;
    const connected = [...this.#served.values()].filter((session) => session.events.isConnected());
    if (connected.length === 0) return;
    const requests = new Map(connected.map((session) => [session, session.stateRequests]));
    const ids = connected.map((session) => session.id);
    const rows = await this.#context.store.sessions.heartbeat(ids, gatewayId);
    const states = new Map(rows.map(({ id, state }) => [id, state]));
    for (const session of connected) {
      const state = states.get(session.id);
      if (state === undefined) this.#lose(session);
      // A state that was requested here meanwhile is newer than the one in the row.
      else if (requests.get(session) === session.stateRequests) this.applyState(session, state);
    }
  }

  /** The rows of all sessions are gone: the workers register again. */
  loseAll(): void {
    for (const session of this.#served.values()) this.#lose(session);
  }

  #lose(session: WorkerSession): void {
    this.forget(session);
    try {
      session.events.onLost();
    } catch (error) {
      // The other workers have to register again, too.
      this.#context.loopFailed("workers", error);
    }
  }

  #newSession(id: string, namespaceId: number, served: Served): WorkerSession {
    const { slots, ahead = null, onAssign, onStop, onLost, isConnected, onDrain = () => undefined } = served;
    const { lanes } = this.#context.store;
    const { toAssignments } = this.#deps;
    const weights = weightsOf(served);
    const weightOf = (run: ClaimedRun): number => weights.get(lanes.get(run.lane)?.task ?? "") ?? 1;
    return new WorkerSession({
      id,
      namespaceId,
      slots,
      ahead,
      unconfirmedMs: this.#unconfirmedMs,
      isInProcess: isConnected === undefined,
      ...(weights.size > 0 && { weightOf }),
      deliver: (runs) => onAssign(toAssignments(runs)),
      onStop,
      onLost,
      isConnected: isConnected ?? (() => true),
      onDrain,
    });
  }
}

/** The tasks whose runs take more than one slot. A run that would take more than the worker has takes all of it. */
function weightsOf({ weights = {}, slots }: Pick<WorkerRegistration, "weights" | "slots">): Map<string, number> {
  const heavy = Object.entries(weights).filter(([, weight]) => weight > 1);
  return new Map(heavy.map(([task, weight]) => [task, Math.min(weight, slots)]));
}
