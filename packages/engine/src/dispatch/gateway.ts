import {
  CarillonError,
  type Completion,
  type DurationMs,
  type Instant,
  type NoteAnswer,
  type RunNote,
  type StopOrder,
} from "@carillon/core";
import type { FailedRun } from "../failures/error-tally.js";
import type { OnEngineEvent } from "../events.js";
import type { WorkerSkills, WorkerState } from "../model/workers.js";
import type { QueueBook } from "../queues/queue-book.js";
import type { RankRun } from "../queues/rank-run.js";
import type { HostClock, Random, Timers } from "../store/db/ports.js";
import type { CallbackStore } from "../store/entities/callbacks.js";
import type { ClaimedRun } from "../store/entities/claimed-run.js";
import type { ClaimStore } from "../store/entities/claims.js";
import { isStrict, type LaneStore } from "../store/entities/lanes.js";
import type { NamespaceStore } from "../store/entities/namespaces.js";
import type { RunRecords } from "../store/entities/run-records.js";
import type { Queued } from "../store/entities/runs.js";
import type { SessionStore } from "../store/entities/sessions.js";
import type { Assigned } from "./assignment-of.js";
import { Exchanger } from "./exchanger.js";
import { Handout } from "./handout.js";
import { HeavySavings } from "./heavy-savings.js";
import { LaneBounds } from "./lane-bounds.js";
import { LaneGroups } from "./lane-groups.js";
import { Notes } from "./notes.js";
import { Results, type ResultsOptions } from "./results.js";
import { SessionWatch } from "./session-watch.js";
import { StopOrders } from "./stop-orders.js";
import { StrictClaims } from "./strict-claims.js";
import { WaitingRuns } from "./waiting-runs.js";
import { WorkerSession } from "./worker-session.js";

export interface WorkerRegistration extends WorkerSkills {
  /** To which it belongs. */
  readonly namespace: string;
  /** Those whose runs it takes, `*` alone for every one; left out: its own. */
  readonly namespaces?: readonly string[];
  readonly name: string;
  /** `*` alone stands for every queue, also for those that do not exist yet. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  /** Runs that may wait at the worker beyond its slots; left out: as many as it does in a twentieth of a second. */
  readonly ahead?: number;
  /** Set for a worker inside a node: it dies with it. */
  readonly nodeId: string | null;
  readonly onAssign: (assignments: readonly Assigned[]) => void;
  /** Says whether a worker elsewhere was heard of lately; one in this process lives as long as the node. */
  readonly isHeard?: () => boolean;
  /** Called with runs that the worker holds and is asked to stop, again and again until they have ended. */
  readonly onStop: (orders: readonly StopOrder[]) => void;
  readonly onLost: () => void;
  /**
   * An operator wants the worker to end; with a notice: at once, since its machine goes. One inside a node goes on until that stops,
   * but is given nothing more.
   */
  readonly onDrain?: (isNotice: boolean) => void;
}

interface ClaimOf {
  readonly runId: string;
  readonly fence: number;
}

/** How a worker is spoken to. */
export type WorkerHandlers = Pick<WorkerRegistration, "onAssign" | "onStop" | "onLost" | "isHeard" | "onDrain">;

export interface StartedRun {
  readonly runId: string;
  readonly fence: number;
  readonly agoMs: DurationMs;
}

export interface GatewayOptions {
  readonly claims: ClaimStore;
  readonly sessions: SessionStore;
  readonly lanes: LaneStore;
  readonly namespaces: NamespaceStore;
  readonly records: RunRecords;
  readonly callbacks: CallbackStore;
  readonly clock: Pick<HostClock, "monotonic">;
  readonly timers: Timers;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly random: Random;
  /** Where a run stands in its queue. */
  readonly rank: RankRun;
  /** A paused queue hands out nothing; one with limits only what was admitted. */
  readonly queues: Pick<QueueBook, "isPaused" | "isLimited" | "edition" | "inUse">;
  /** The share of a namespace in workers that serve several. */
  readonly weightOf: (namespaceId: number) => number;
  /** Runs that held limits are over, for now or for good. */
  readonly onReleased?: (runIds: readonly string[]) => void;
  /** Runs that hold limits were claimed. */
  readonly onLimitedClaimed?: (runIds: readonly string[]) => void;
  readonly onDuration: ResultsOptions["onDuration"];
  readonly newId: () => string;
  /** A run whose hint was lost is found after at most this time. */
  readonly fullLookMs: DurationMs;
  /** How long a claim that failed may still be done by the database. */
  readonly doubtMs: DurationMs;
  readonly batch: number;
  readonly onRetry: (runs: readonly { id: string; shard: number; runAt: Instant }[]) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
  /** Runs of these jobs ended for which others of the same job may wait. */
  readonly onFreed: (jobIds: readonly string[]) => void;
  /** Runs that were to stop came back from their worker: nobody is to try them again. */
  readonly onStopped: (runIds: readonly string[]) => Promise<void>;
  readonly onFailed: (run: FailedRun) => void;
  /** Whether somebody is to be told that the run succeeded. */
  readonly isToldOf: (run: ClaimedRun) => boolean;
  readonly onEvent: OnEngineEvent;
  readonly onError: (error: unknown) => void;
}

/** Hands due runs to workers and takes back what became of them. */
export class Gateway {
  /** Runs that no worker holds. */
  readonly waiting: WaitingRuns;
  readonly #options: GatewayOptions;
  /** Names this gateway in the rows of the sessions that it serves. */
  readonly #id: string;
  readonly #sessions = new Map<string, WorkerSession>();
  readonly #groups: LaneGroups;
  readonly #bounds: LaneBounds;
  readonly #exchanger: Exchanger;
  readonly #strict: StrictClaims;
  #isFinding = false;
  readonly #results: Results;
  readonly #handout: Handout;
  readonly #watch: SessionWatch;
  readonly #savings: HeavySavings;
  readonly #stops: StopOrders;
  readonly #notes: Notes;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#id = options.newId();
    const { claims, timers, clock, batch, onFreed, onError } = options;
    this.#bounds = new LaneBounds(
      options.fullLookMs,
      (namespaceId, { queue, kind }) =>
        options.queues.isPaused(namespaceId, queue) ||
        (kind !== "admitted" && options.queues.isLimited(namespaceId, queue)),
    );
    this.#groups = new LaneGroups({
      lanes: options.lanes,
      bounds: this.#bounds,
      queues: options.queues,
      weightOf: options.weightOf,
    });
    this.#strict = new StrictClaims({
      gatewayId: this.#id,
      claims,
      groups: () => this.#groups.values(),
      timers,
      monotonic: () => clock.monotonic(),
      fullLookMs: options.fullLookMs,
      onClaimed: (session, run) => this.#handout.give([session], [run]),
      onDoubt: (session) => session.doubt.raise(options.now()),
      onSettled: () => this.#exchanger.wake(),
      onError,
    });
    this.#exchanger = new Exchanger({
      gatewayId: this.#id,
      claims,
      bounds: this.#bounds,
      groups: () => this.#groups.values(),
      timers,
      monotonic: () => clock.monotonic(),
      batch,
      onWake: () => this.#strict.wake(),
      onClaimed: ({ sessions }, runs) => {
        this.#handout.give(sessions, runs);
        const limited = runs.filter(({ lane }) => options.lanes.get(lane)?.kind === "admitted");
        if (limited.length > 0) options.onLimitedClaimed?.(limited.map((run) => run.id));
      },
      onDoubt: ({ sessions }) => sessions.forEach((session) => session.doubt.raise(options.now())),
      onFreed,
      onError,
    });
    const onSlotFree = (runs: readonly Queued[]): void => options.onQueued(runs);
    const onAnswered = (): void => void this.waiting.tick().catch(onError);
    this.#results = new Results({ ...options, exchanger: this.#exchanger, onSlotFree, onAnswered });
    this.#handout = new Handout({
      ...options,
      results: this.#results,
      isServed: (session) => this.#sessions.has(session.id),
    });
    const sessions = (): Iterable<WorkerSession> => this.#sessions.values();
    this.#watch = new SessionWatch({
      ...options,
      results: this.#results,
      handout: this.#handout,
      giveBack: (session, runs) => this.#giveBack(session, runs),
      sessions,
    });
    this.#savings = new HeavySavings({ claims, groups: () => this.#groups.values() });
    this.#stops = new StopOrders(claims, sessions);
    this.#notes = new Notes(options.records, options.callbacks);
    this.waiting = new WaitingRuns({ ...options, results: this.#results });
  }

  /** Registers a worker; it gets nothing before it is resumed. */
  async open(registration: WorkerRegistration): Promise<string> {
    const { sessions, newId } = this.#options;
    const namespaceId = await this.#namespaceId(registration.namespace);
    for (const name of namesIn(registration.namespaces)) await this.#namespaceId(name);
    const id = newId();
    await sessions.open({ id, namespaceId, ...registration, gatewayId: this.#id });
    await this.#serve(id, namespaceId, registration);
    return id;
  }

  /**
   * Serves a worker that registered with another node, which claims nothing more for it. What it holds is handed out again: a
   * worker leaves alone what it has. Answers false if nobody knows it.
   */
  async adopt(sessionId: string, handlers: WorkerHandlers): Promise<boolean> {
    const found = await this.#options.sessions.adopt(sessionId, this.#id);
    if (found === null) return false;
    const session = await this.#serve(sessionId, found.namespaceId, { ...found, ...handlers });
    this.#obey(session, found.state);
    session.isAsked = true;
    try {
      // Also what is to stop: its worker may be at work on it, and is told so as any other.
      this.#handout.giveAll(session, await this.#options.claims.held([sessionId]));
    } finally {
      session.isAsked = false;
    }
    return true;
  }

  /** The worker takes runs, until it is paused. */
  resume(sessionId: string): void {
    this.#session(sessionId).isWaiting = true;
    this.#exchanger.wake();
  }

  /** The worker takes nothing more; resolves when nothing is on its way to it. */
  async pause(sessionId: string): Promise<void> {
    const session = this.#session(sessionId);
    session.isWaiting = false;
    await session.quiet();
  }

  /** Records how runs ended. Answers the ids that were accepted; the others were given to somebody else meanwhile. */
  async complete(sessionId: string, completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return this.#results.take(this.#session(sessionId), completions);
  }

  /** Returns runs that were not finished, without spending anything. */
  async giveBack(sessionId: string, runs: readonly { runId: string; fence: number }[]): Promise<void> {
    await this.#giveBack(
      this.#session(sessionId),
      runs.map(({ runId: id, fence }) => ({ id, fence })),
    );
  }

  async #giveBack(session: WorkerSession, runs: readonly { id: string; fence: number }[]): Promise<void> {
    const queued = await this.#options.claims.giveBack(session.id, runs);
    for (const { id } of runs) {
      const run = session.held.get(id);
      if (run !== undefined) session.letGo(run);
    }
    await this.#options.onStopped(queued.filter((run) => run.isStopped).map((run) => run.id));
    this.#options.onQueued(queued.filter((run) => !run.isStopped));
  }

  /** The worker has begun these runs, so long ago: their loss would count. */
  async started(sessionId: string, runs: readonly StartedRun[]): Promise<void> {
    const session = this.#session(sessionId);
    const fresh = runs.filter(({ runId, fence }) => session.held.get(runId)?.fence === fence);
    if (fresh.length === 0) return;
    const now = this.#options.clock.monotonic();
    for (const { runId, agoMs } of fresh) {
      const run = session.held.get(runId);
      if (run !== undefined) session.begin(run, now - agoMs);
    }
    await this.#options.claims.started(
      session.id,
      fresh.map(({ runId: id, fence, agoMs }) => ({ id, fence, agoMs })),
    );
  }

  /** Keeps what handlers leave behind while they run, and answers what they ask for; one answer to each, in their order. */
  async note(sessionId: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    const over = new Set(await this.notHeld(sessionId, notes));
    const session = this.#session(sessionId);
    const answers = await this.#notes.take(session, notes, (note) => over.has(note));
    notes.forEach((note, place) => {
      if (note.kind === "progress" && answers[place]?.kind === "done") this.#tellProgress(session, note);
    });
    return answers;
  }

  #tellProgress(session: WorkerSession, { runId, fraction, text }: Extract<RunNote, { kind: "progress" }>): void {
    const run = session.held.get(runId);
    if (run === undefined) return;
    const { namespaceId, jobId, lane } = run;
    const { task = "", queue = "" } = this.#options.lanes.get(lane) ?? {};
    this.#options.onEvent({ type: "run.progressed", namespaceId, runId, jobId, task, queue, fraction, text });
  }

  /** Which of the named claims the session does not hold. What this node does not know of, it looks up. */
  async notHeld<Run extends ClaimOf>(sessionId: string, runs: readonly Run[]): Promise<Run[]> {
    const session = this.#session(sessionId);
    const isUnknown = ({ runId, fence }: ClaimOf): boolean => session.held.get(runId)?.fence !== fence;
    const unknown = runs.filter(isUnknown);
    if (unknown.length === 0) return [];
    const ids = unknown.map((run) => run.runId);
    for (const run of await this.#options.claims.recall(session.id, ids)) session.know(run);
    return unknown.filter(isUnknown);
  }

  /** Takes nothing more for the moment; what is on its way still comes. */
  rest(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) session.isWaiting = false;
  }

  /**
   * An operator asks something of a worker; if another node serves it, that one reads it with the next sign of life. Resolves when
   * nothing is on its way to a worker that is to be given nothing more.
   */
  async ask(sessionId: string, state: WorkerState): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return;
    session.asked++;
    this.#obey(session, state);
    if (session.isCordoned) await session.quiet();
  }

  /** This node serves the worker no longer; its session goes on. */
  forget(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) this.#forget(session);
  }

  /** Runs became claimable. */
  hint(runs: readonly Pick<Queued, "lane" | "rank" | "namespaceId">[]): void {
    for (const { lane, rank, namespaceId } of runs) {
      const known = this.#options.lanes.get(lane);
      if (known !== null && namespaceId !== undefined && !this.#bounds.has(lane, namespaceId))
        this.#groups.meet(known, namespaceId);
      if (known !== null && isStrict(known.kind)) this.#strict.hint(known.queue);
      else this.#bounds.hint(lane, rank, namespaceId);
      if (this.#groups.isNew(lane)) this.#findLanes();
    }
    this.#exchanger.wake();
  }

  /** Hints may have been missed. */
  hintAll(): void {
    this.#bounds.hintAll();
    this.#strict.hintAll();
    this.#exchanger.wake();
  }

  /** Queues may have been paused or resumed. */
  queuesChanged(): void {
    this.#bounds.holdAgain();
    this.#strict.hintAll();
    this.#exchanger.wake();
  }

  /** Runs that a session holds may be to stop: their workers are told. */
  async passOnStops(): Promise<void> {
    await Promise.all([this.#stops.look(), this.waiting.lookForStops()]);
  }

  /** One pass of signs of life. */
  async heartbeat(): Promise<void> {
    const heard = [...this.#sessions.values()].filter((session) => session.events.isHeard());
    if (heard.length === 0) return;
    const asked = new Map(heard.map((session) => [session, session.asked]));
    const living = await this.#options.sessions.heartbeat(
      heard.map((session) => session.id),
      this.#id,
    );
    const states = new Map(living.map(({ id, state }) => [id, state]));
    for (const session of heard) {
      const state = states.get(session.id);
      if (state === undefined) this.#lose(session);
      // What was asked here meanwhile is newer than what the row said.
      else if (asked.get(session) === session.asked) this.#obey(session, state);
    }
    await this.#stops.look();
  }

  /** New queues for workers that serve them all, and runs that claims without an answer may have left with a session. */
  async look(): Promise<void> {
    await this.#groups.look();
    await this.#watch.look();
    await this.#savings.look();
    this.#exchanger.wake();
  }

  async close(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) this.#forget(session);
    await this.#options.sessions.close(sessionId);
  }

  stop(): void {
    this.#exchanger.stop();
    this.#strict.stop();
  }

  /** Null: this node does not serve the session. */
  namespaceOf(sessionId: string): number | null {
    return this.#sessions.get(sessionId)?.namespaceId ?? null;
  }

  isOpen(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  async #serve(
    id: string,
    namespaceId: number,
    skills: WorkerHandlers &
      WorkerSkills &
      Pick<WorkerRegistration, "namespaces" | "queues" | "tasks" | "slots" | "ahead">,
  ): Promise<WorkerSession> {
    const { slots, ahead = null, onAssign, onStop, onLost, isHeard = () => true, onDrain = () => undefined } = skills;
    const deliver = (runs: readonly ClaimedRun[]): void => onAssign(this.#handout.assignments(runs));
    const { doubtMs, lanes } = this.#options;
    const weights = weightsOf(skills);
    const weightOf = (run: ClaimedRun): number => weights.get(lanes.get(run.lane)?.task ?? "") ?? 1;
    const session = new WorkerSession({
      id,
      namespaceId,
      slots,
      ahead,
      ...(weights.size > 0 && { weightOf }),
      doubtMs,
      deliver,
      onStop,
      onLost,
      isHeard,
      onDrain,
    });
    const { namespaces, ...rest } = skills;
    const isOfAll = namespaces?.includes("*") ?? false;
    const others = isOfAll ? [] : await Promise.all(namesIn(namespaces).map((name) => this.#namespaceId(name)));
    const namespaceIds = isOfAll ? null : others.length > 0 ? others : [namespaceId];
    await this.#groups.join({ namespaceIds, ...rest, weights }, session);
    const before = this.#sessions.get(id);
    if (before !== undefined) this.#forget(before);
    this.#sessions.set(id, session);
    return session;
  }

  async #namespaceId(name: string): Promise<number> {
    const id = await this.#options.namespaces.find(name);
    if (id === null) throw new CarillonError("not_found", `There is no namespace ${JSON.stringify(name)}.`);
    return id;
  }

  #session(id: string): WorkerSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new SessionLost(id);
    return session;
  }

  #forget(session: WorkerSession): void {
    session.isWaiting = false;
    this.#sessions.delete(session.id);
    this.#groups.leave(session);
  }

  #obey(session: WorkerSession, state: WorkerState): void {
    const wasCordoned = session.isCordoned;
    session.isCordoned = state !== "active";
    if (state === "draining" || state === "leaving") session.events.onDrain(state === "leaving");
    if (wasCordoned && !session.isCordoned) this.#exchanger.wake();
  }

  /** A run lies in a lane that was made since the last look at them. */
  #findLanes(): void {
    if (this.#isFinding) return;
    this.#isFinding = true;
    const done = (): void => void (this.#isFinding = false);
    this.#groups
      .look()
      .then(() => this.#exchanger.wake(), this.#options.onError)
      .then(done, done);
  }

  #lose(session: WorkerSession): void {
    this.#forget(session);
    session.events.onLost();
  }
}

/** The tasks whose runs take more than one slot. One that would take more than the worker has takes it whole. */
function weightsOf({ weights = {}, slots }: Pick<WorkerRegistration, "weights" | "slots">): Map<string, number> {
  const heavy = Object.entries(weights).filter(([, weight]) => weight > 1);
  return new Map(heavy.map(([task, weight]) => [task, Math.min(weight, slots)]));
}

/** The server no longer knows the session: whatever its worker still does is somebody else's now. */
export class SessionLost extends CarillonError {
  constructor(id: string) {
    super("session_lost", `the worker session ${id} was declared dead or closed`);
  }
}

const namesIn = (namespaces: readonly string[] = []): string[] => namespaces.filter((name) => name !== "*");
