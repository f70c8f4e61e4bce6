import { CarillonError, type DurationMs } from "@carillon/core";
import type { ClaimedRun, LaneStore, NamespaceStore, SessionStore, WorkerSkills, WorkerState } from "@carillon/store";
import type { Assigned } from "./sessions/to-assignment.js";
import type { LaneGroups } from "./claims/lane-groups.js";
import { SessionLost } from "./sessions/session-lost.js";
import type { WorkerHandlers, WorkerRegistration } from "./sessions/worker-registration.js";
import { WorkerSession } from "./sessions/worker-session.js";

export interface ServedSessionsOptions {
  readonly gatewayId: string;
  readonly sessions: Pick<SessionStore, "heartbeat">;
  readonly namespaces: Pick<NamespaceStore, "find">;
  readonly lanes: Pick<LaneStore, "get">;
  readonly groups: Pick<LaneGroups, "join" | "leave">;
  /** How long a claim that failed may still be done by the database. */
  readonly doubtMs: DurationMs;
  readonly assignments: (runs: readonly ClaimedRun[]) => readonly Assigned[];
  /** There is a worker now. */
  readonly onServing?: () => void;
  /** A worker takes runs again. */
  readonly onRoom: () => void;
}

/** What a worker can do, and how it is spoken to. */
export type Served = WorkerHandlers &
  WorkerSkills &
  Pick<WorkerRegistration, "namespaces" | "queues" | "tasks" | "slots" | "ahead">;

/** How much the workers of a node have to do. */
export interface WorkerLoad {
  readonly workers: number;
  readonly slots: number;
  readonly usedSlots: number;
  readonly heldRuns: number;
}

/** The workers that this node serves, and what operators ask of them. */
export class ServedSessions {
  readonly #options: ServedSessionsOptions;
  readonly #served = new Map<string, WorkerSession>();

  constructor(options: ServedSessionsOptions) {
    this.#options = options;
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

  /** Throws SessionLost for one that this node does not serve. */
  get(id: string): WorkerSession {
    const session = this.#served.get(id);
    if (session === undefined) throw new SessionLost(id);
    return session;
  }

  async serve(id: string, namespaceId: number, served: Served): Promise<WorkerSession> {
    this.#options.onServing?.();
    const session = this.#make(id, namespaceId, served);
    const { namespaces, ...skills } = served;
    const isOfAll = namespaces?.includes("*") ?? false;
    const others = isOfAll ? [] : await this.namespaceIds(namespaces);
    const namespaceIds = isOfAll ? null : others.length > 0 ? others : [namespaceId];
    await this.#options.groups.join({ namespaceIds, ...skills, weights: weightsOf(served) }, session);
    const before = this.#served.get(id);
    if (before !== undefined) this.forget(before);
    this.#served.set(id, session);
    return session;
  }

  /** Those of the names, without `*`; throws for one that there is not. */
  namespaceIds(names: readonly string[] = []): Promise<number[]> {
    return Promise.all(names.filter((name) => name !== "*").map((name) => this.namespaceId(name)));
  }

  async namespaceId(name: string): Promise<number> {
    const id = await this.#options.namespaces.find(name);
    if (id === null) throw new CarillonError("not_found", `There is no namespace ${JSON.stringify(name)}.`);
    return id;
  }

  forget(session: WorkerSession): void {
    session.isWaiting = false;
    this.#served.delete(session.id);
    this.#options.groups.leave(session);
  }

  /** An operator asks something of a worker. Resolves when nothing is on its way to one that is to be given nothing more. */
  async ask(id: string, state: WorkerState): Promise<void> {
    const session = this.#served.get(id);
    if (session === undefined) return;
    session.asked++;
    this.obey(session, state);
    if (session.isCordoned) await session.quiet();
  }

  obey(session: WorkerSession, state: WorkerState): void {
    const wasCordoned = session.isCordoned;
    session.isCordoned = state !== "active";
    if (state === "draining" || state === "leaving") session.events.onDrain(state === "leaving");
    if (wasCordoned && !session.isCordoned) this.#options.onRoom();
  }

  /** Says that those live which were heard of, and reads what was asked of them. */
  async heartbeat(): Promise<void> {
    const { sessions, gatewayId } = this.#options;
    const heard = [...this.#served.values()].filter((session) => session.events.isHeard());
    if (heard.length === 0) return;
    const asked = new Map(heard.map((session) => [session, session.asked]));
    const ids = heard.map((session) => session.id);
    const states = new Map((await sessions.heartbeat(ids, gatewayId)).map(({ id, state }) => [id, state]));
    for (const session of heard) {
      const state = states.get(session.id);
      if (state === undefined) this.#lose(session);
      // What was asked here meanwhile is newer than what the row said.
      else if (asked.get(session) === session.asked) this.obey(session, state);
    }
  }

  #lose(session: WorkerSession): void {
    this.forget(session);
    session.events.onLost();
  }

  #make(id: string, namespaceId: number, served: Served): WorkerSession {
    const { slots, ahead = null, onAssign, onStop, onLost, isHeard, onDrain = () => undefined } = served;
    const { doubtMs, lanes, assignments } = this.#options;
    const weights = weightsOf(served);
    const weightOf = (run: ClaimedRun): number => weights.get(lanes.get(run.lane)?.task ?? "") ?? 1;
    const deliver = (runs: readonly ClaimedRun[]): void => onAssign(assignments(runs));
    const events = { deliver, onStop, onLost, isHeard: isHeard ?? (() => true), onDrain };
    const load = { slots, ahead, doubtMs, isSteady: isHeard === undefined, ...(weights.size > 0 && { weightOf }) };
    return new WorkerSession({ id, namespaceId, ...load, ...events });
  }
}

/** The tasks whose runs take more than one slot. One that would take more than the worker has takes it whole. */
function weightsOf({ weights = {}, slots }: Pick<WorkerRegistration, "weights" | "slots">): Map<string, number> {
  const heavy = Object.entries(weights).filter(([, weight]) => weight > 1);
  return new Map(heavy.map(([task, weight]) => [task, Math.min(weight, slots)]));
}
