import type { Completion, NoteAnswer, RunNote } from "@carillon/core";
import { NodeBreakers } from "../breakers/node-breakers.js";
import type { WorkerState } from "../model/workers.js";
import { isStrict, type Lane } from "../store/entities/lanes.js";
import type { Queued } from "../store/entities/runs.js";
import { Exchanger } from "./exchanger.js";
import type { GatewayOptions } from "./gateway-options.js";
import { Handout } from "./handout.js";
import { HeavySavings } from "./heavy-savings.js";
import { HeldClaims } from "./held-claims.js";
import { LaneBounds } from "./lane-bounds.js";
import { LaneGroups } from "./lane-groups.js";
import { Notes } from "./notes.js";
import { ProbeDoor } from "./probe-door.js";
import { Results } from "./results.js";
import { ServedSessions, type WorkerLoad } from "./served-sessions.js";
import { SessionWatch } from "./session-watch.js";
import { StopOrders } from "./stop-orders.js";
import { StrictClaims } from "./strict-claims.js";
import { WaitingRuns } from "./waiting-runs.js";
import type { ClaimOf, StartedRun, WorkerHandlers, WorkerRegistration } from "./worker-registration.js";
import type { WorkerSession } from "./worker-session.js";

/** Hands due runs to workers and takes back what became of them. */
export class Gateway {
  /** Runs that no worker holds. */
  readonly waiting: WaitingRuns;
  /** Circuit breakers, as this node sees them. */
  readonly breakers: NodeBreakers;
  readonly #options: GatewayOptions;
  /** Names this gateway in the rows of the sessions that it serves. */
  readonly #id: string;
  readonly #sessions: ServedSessions;
  readonly #claims: HeldClaims;
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
    this.#bounds = new LaneBounds(options.fullLookMs, (namespaceId, lane) => {
      if (this.#isShut(namespaceId, lane)) return "shut";
      return this.breakers.isHeld(namespaceId, lane) ? "tried" : null;
    });
    const door = new ProbeDoor({
      bounds: this.#bounds,
      groups: () => this.#groups.values(),
      lanes: options.lanes,
      claims,
      isStrictTrying: (isMeant) => this.#strict.isTrying(isMeant),
      wake: () => this.#exchanger.wake(),
    });
    this.breakers = new NodeBreakers({
      store: options.breakers,
      lane: (laneId) => options.lanes.get(laneId),
      now: options.now,
      monotonic: () => clock.monotonic(),
      gatewayId: this.#id,
      serves: (isBehind) => door.serves(isBehind),
      isAtWork: (runId) => [...this.#sessions.values()].some((session) => session.held.has(runId)),
      letOneThrough: (isBehind) => door.letOneThrough(isBehind),
      onHeld: () => this.queuesChanged(),
      onChanged: options.onBreakersChanged ?? (() => undefined),
      onError,
    });
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
      isHeld: (namespaceId, laneId) => {
        const lane = options.lanes.get(laneId);
        return lane !== null && this.breakers.isHeldStrict(namespaceId, lane);
      },
      trialOf: (namespaceId, laneId) => {
        const lane = options.lanes.get(laneId);
        return lane === null ? null : this.breakers.trialOf(namespaceId, lane);
      },
      onClaimed: (session, run) => {
        this.breakers.claimed([run]);
        this.#handout.give([session], [run]);
      },
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
      limitsRevision: () => options.limitOwners.revision,
      onWake: () => this.#strict.wake(),
      onClaimed: ({ sessions }, runs) => {
        this.breakers.claimed(runs);
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
    const { breakers } = this;
    this.#results = new Results({ ...options, exchanger: this.#exchanger, breakers, onSlotFree, onAnswered });
    this.#handout = new Handout({
      ...options,
      results: this.#results,
      isServed: (session) => this.isOpen(session.id),
    });
    this.#sessions = new ServedSessions({
      ...options,
      gatewayId: this.#id,
      groups: this.#groups,
      assignments: (runs) => this.#handout.assignments(runs),
      onRoom: () => this.#exchanger.wake(),
    });
    this.#claims = new HeldClaims(options);
    const sessions = (): Iterable<WorkerSession> => this.#sessions.values();
    this.#watch = new SessionWatch({
      ...options,
      results: this.#results,
      handout: this.#handout,
      giveBack: (session, runs) => this.#claims.giveBack(session, runs),
      sessions,
      onRoom: () => this.#exchanger.wake(),
    });
    this.#savings = new HeavySavings({ claims, groups: () => this.#groups.values() });
    this.#stops = new StopOrders(claims, sessions);
    this.#notes = new Notes(options);
    this.waiting = new WaitingRuns({ ...options, results: this.#results });
  }

  /** Registers a worker; it gets nothing before it is resumed. */
  async open(registration: WorkerRegistration): Promise<string> {
    const { sessions, newId } = this.#options;
    const namespaceId = await this.#sessions.namespaceId(registration.namespace);
    await this.#sessions.namespaceIds(registration.namespaces);
    const id = newId();
    await sessions.open({ id, namespaceId, ...registration, gatewayId: this.#id });
    await this.#sessions.serve(id, namespaceId, registration);
    return id;
  }

  /**
   * Serves a worker that registered with another node, which claims nothing more for it. What it holds is handed out again: a
   * worker leaves alone what it has. Answers false if nobody knows it.
   */
  async adopt(sessionId: string, handlers: WorkerHandlers): Promise<boolean> {
    const found = await this.#options.sessions.adopt(sessionId, this.#id);
    if (found === null) return false;
    const session = await this.#sessions.serve(sessionId, found.namespaceId, { ...found, ...handlers });
    this.#sessions.obey(session, found.state);
    session.isAsked = true;
    try {
      // Also what is to stop: its worker may be at work on it, and is told so as any other.
      this.#handout.giveAll(session, await this.#claims.heldBy(sessionId));
      session.takenOver = { runs: [...session.held.values()], at: this.#options.clock.monotonic() };
    } catch (error) {
      this.#sessions.forget(session);
      throw error;
    } finally {
      session.isAsked = false;
    }
    return true;
  }

  /** The worker takes runs, until it is paused. */
  resume(sessionId: string): void {
    this.#sessions.get(sessionId).isWaiting = true;
    this.#exchanger.wake();
  }

  /** The worker takes nothing more; resolves when nothing is on its way to it. */
  async pause(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    session.isWaiting = false;
    await session.quiet();
  }

  /** Records how runs ended. Answers the ids that were accepted; the others were given to somebody else meanwhile. */
  async complete(sessionId: string, completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return this.#results.take(this.#sessions.get(sessionId), completions);
  }

  /** Returns runs that were not finished, without spending anything. */
  async giveBack(sessionId: string, runs: readonly ClaimOf[]): Promise<void> {
    await this.#claims.giveBack(
      this.#sessions.get(sessionId),
      runs.map(({ runId: id, fence }) => ({ id, fence })),
    );
    this.#exchanger.wake();
  }

  /** The worker has begun these runs, so long ago: their loss would count. */
  async started(sessionId: string, runs: readonly StartedRun[]): Promise<void> {
    await this.#claims.started(this.#sessions.get(sessionId), runs);
  }

  /** Keeps what handlers leave behind while they run, and answers what they ask for; one answer to each, in their order. */
  async note(sessionId: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    const over = new Set(await this.notHeld(sessionId, notes));
    const session = this.#sessions.get(sessionId);
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

  /** Which of the named claims the session does not hold. */
  async notHeld<Run extends ClaimOf>(sessionId: string, runs: readonly Run[]): Promise<Run[]> {
    return this.#claims.notHeld(this.#sessions.get(sessionId), runs);
  }

  /** Takes nothing more for the moment; what is on its way still comes. */
  rest(sessionId: string): void {
    const session = this.#sessions.find(sessionId);
    if (session !== null) session.isWaiting = false;
  }

  /** An operator asks something of a worker; if another node serves it, that one reads it with the next sign of life. */
  ask(sessionId: string, state: WorkerState): Promise<void> {
    return this.#sessions.ask(sessionId, state);
  }

  /** This node serves the worker no longer; its session goes on. */
  forget(sessionId: string): void {
    const session = this.#sessions.find(sessionId);
    if (session !== null) this.#sessions.forget(session);
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
    await this.#sessions.heartbeat();
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
    this.forget(sessionId);
    await this.#options.sessions.close(sessionId);
  }

  stop(): void {
    this.#exchanger.stop();
    this.#strict.stop();
  }

  /** Null: this node does not serve the session. */
  namespaceOf(sessionId: string): number | null {
    return this.#sessions.find(sessionId)?.namespaceId ?? null;
  }

  get load(): WorkerLoad {
    return this.#sessions.load;
  }

  isOpen(sessionId: string): boolean {
    return this.#sessions.find(sessionId) !== null;
  }

  /** Its queue is paused, or its runs have to be admitted first. */
  #isShut(namespaceId: number, { queue, kind }: Lane): boolean {
    const { queues, limitOwners } = this.#options;
    return queues.isPaused(namespaceId, queue) || (kind !== "admitted" && limitOwners.isLimited(namespaceId, queue));
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
}
