import type { Completion, NoteAnswer, RunNote } from "@carillon/core";
import type { NodeBreakers } from "../breakers/node-breakers.js";
import { isStrict, type Queued, type WorkerState } from "@carillon/store";
import type { GatewayOptions } from "./gateway-options.js";
import { GatewayParts } from "./gateway-parts.js";
import type { HandedArrivals } from "./direct/direct-arrivals.js";
import type { WorkerLoad } from "./served-sessions.js";
import type { WaitingRuns } from "./results/waiting-runs.js";
import type { ClaimOf, StartedRun, WorkerHandlers, WorkerRegistration } from "./sessions/worker-registration.js";
import type { WorkerSession } from "./sessions/worker-session.js";

/** Hands due runs to workers and takes back what became of them. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #parts: GatewayParts;
  #isFinding = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#parts = new GatewayParts(options);
  }

  /** Runs that no worker holds. */
  get waiting(): WaitingRuns {
    return this.#parts.waiting;
  }

  /** Circuit breakers, as this node sees them. */
  get breakers(): NodeBreakers {
    return this.#parts.breakers;
  }

  /** Registers a worker; it gets nothing before it is resumed. */
  async open(registration: WorkerRegistration): Promise<string> {
    const { sessions, newId } = this.#options;
    const namespaceId = await this.#parts.sessions.namespaceId(registration.namespace);
    const others = await this.#parts.sessions.namespaceIds(registration.namespaces);
    await this.#keepDefaults(others.length > 0 ? others : [namespaceId], registration.defaults);
    const id = newId();
    await sessions.open({ id, namespaceId, ...registration, gatewayId: this.#parts.gatewayId });
    await this.#parts.sessions.serve(id, namespaceId, registration);
    return id;
  }

  /** Of a worker that serves every namespace they count for its own: those of tomorrow cannot be told. */
  async #keepDefaults(namespaceIds: readonly number[], defaults: WorkerRegistration["defaults"] = {}): Promise<void> {
    const { tasks, onEvent, onTasksChanged } = this.#options;
    const changed = await tasks.register(namespaceIds, defaults);
    for (const { namespaceId, name: task } of changed) onEvent({ type: "task.defaults_changed", namespaceId, task });
    if (changed.length > 0) onTasksChanged?.();
  }

  /**
   * Serves a worker that registered with another node, which claims nothing more for it. What it holds is handed out again: a
   * worker leaves alone what it has. Answers false if nobody knows it.
   */
  async adopt(sessionId: string, handlers: WorkerHandlers): Promise<boolean> {
    const found = await this.#options.sessions.adopt(sessionId, this.#parts.gatewayId);
    if (found === null) return false;
    const session = await this.#parts.sessions.serve(sessionId, found.namespaceId, { ...found, ...handlers });
    this.#parts.sessions.obey(session, found.state);
    session.isAsked = true;
    try {
      // Also what is to stop: its worker may be at work on it, and is told so as any other.
      this.#parts.handout.giveAll(session, await this.#parts.claims.heldBy(sessionId));
      session.takenOver = { runs: [...session.held.values()], at: this.#options.clock.monotonic() };
    } catch (error) {
      this.#parts.sessions.forget(session);
      throw error;
    } finally {
      session.isAsked = false;
    }
    return true;
  }

  /** The worker takes runs, until it is paused. */
  resume(sessionId: string): void {
    this.#parts.sessions.get(sessionId).isWaiting = true;
    this.#parts.exchanger.wake();
  }

  /** The worker takes nothing more; resolves when nothing is on its way to it. */
  async pause(sessionId: string): Promise<void> {
    const session = this.#parts.sessions.get(sessionId);
    session.isWaiting = false;
    await session.quiet();
  }

  /** Records how runs ended. Answers the ids that were accepted; the others were given to somebody else meanwhile. */
  async complete(sessionId: string, completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return this.#parts.results.take(this.#parts.sessions.get(sessionId), completions);
  }

  /** Returns runs that were not finished, without spending anything. */
  async giveBack(sessionId: string, runs: readonly ClaimOf[]): Promise<void> {
    await this.#parts.claims.giveBack(
      this.#parts.sessions.get(sessionId),
      runs.map(({ runId: id, fence }) => ({ id, fence })),
    );
    this.#parts.exchanger.wake();
  }

  /** The worker has begun these runs, so long ago: their loss would count. */
  async started(sessionId: string, runs: readonly StartedRun[]): Promise<void> {
    await this.#parts.claims.started(this.#parts.sessions.get(sessionId), runs);
  }

  /** Keeps what handlers leave behind while they run, and answers what they ask for; one answer to each, in their order. */
  async note(sessionId: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    const over = new Set(await this.notHeld(sessionId, notes));
    const session = this.#parts.sessions.get(sessionId);
    const answers = await this.#parts.notes.take(session, notes, (note) => over.has(note));
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
    return this.#parts.claims.notHeld(this.#parts.sessions.get(sessionId), runs);
  }

  /** Takes nothing more for the moment; what is on its way still comes. */
  rest(sessionId: string): void {
    const session = this.#parts.sessions.find(sessionId);
    if (session !== null) session.isWaiting = false;
  }

  /** An operator asks something of a worker; if another node serves it, that one reads it with the next sign of life. */
  ask(sessionId: string, state: WorkerState): Promise<void> {
    return this.#parts.sessions.ask(sessionId, state);
  }

  /** This node serves the worker no longer; its session goes on. */
  forget(sessionId: string): void {
    const session = this.#parts.sessions.find(sessionId);
    if (session !== null) this.#parts.sessions.forget(session);
  }

  /** Names this gateway to others. */
  get id(): string {
    return this.#parts.gatewayId;
  }

  /** Runs that were stored for workers that offered to take them. */
  get handed(): HandedArrivals {
    return this.#parts.handed;
  }

  /** Runs became claimable. `from`: who stored them, and would take an offer. */
  hint(runs: readonly Pick<Queued, "lane" | "rank" | "namespaceId">[], from: string | null = null): void {
    for (const { lane, rank, namespaceId } of runs) {
      const known = this.#options.lanes.get(lane);
      if (known !== null && namespaceId !== undefined && !this.#parts.bounds.has(lane, namespaceId))
        this.#parts.groups.meet(known, namespaceId);
      if (known !== null && isStrict(known.kind)) this.#parts.strict.hint(known.queue);
      else this.#parts.bounds.hint(lane, rank, namespaceId);
      if (
        from !== null &&
        namespaceId !== undefined &&
        known?.kind === "plain" &&
        this.#parts.bounds.has(lane, namespaceId)
      )
        this.#parts.offering.asked(from, lane, namespaceId);
      if (this.#parts.groups.isNew(lane)) this.#findLanes();
    }
    this.#parts.exchanger.wake();
  }

  /** Hints may have been missed. */
  hintAll(): void {
    this.#parts.bounds.hintAll();
    this.#parts.strict.hintAll();
    this.#parts.exchanger.wake();
  }

  /** Queues may have been paused or resumed. */
  queuesChanged(): void {
    this.#parts.holdAgain();
  }

  /** Runs that a session holds may be to stop: their workers are told. */
  async passOnStops(): Promise<void> {
    await Promise.all([this.#parts.stops.look(), this.waiting.lookForStops()]);
  }

  /** One pass of signs of life. */
  async heartbeat(): Promise<void> {
    await this.#parts.sessions.heartbeat();
    await this.#parts.stops.look();
  }

  /** New queues for workers that serve them all, and runs that claims without an answer may have left with a session. */
  async look(): Promise<void> {
    await this.#parts.groups.look();
    await this.#parts.watch.look();
    await this.#parts.handed.look();
    await this.#parts.savings.look();
    this.#parts.offering.tidy();
    this.#parts.exchanger.wake();
  }

  async close(sessionId: string): Promise<void> {
    this.forget(sessionId);
    await this.#options.sessions.close(sessionId);
    await this.#parts.handed.left();
  }

  stop(): void {
    this.#parts.exchanger.stop();
    this.#parts.strict.stop();
  }

  /** Null: this node does not serve the session. */
  namespaceOf(sessionId: string): number | null {
    return this.#parts.sessions.find(sessionId)?.namespaceId ?? null;
  }

  /** How many runs a worker of this node has. */
  heldCount(sessionId: string): number {
    return this.#parts.sessions.find(sessionId)?.held.size ?? 0;
  }

  get load(): WorkerLoad {
    return this.#parts.sessions.load;
  }

  isOpen(sessionId: string): boolean {
    return this.#parts.sessions.find(sessionId) !== null;
  }

  /** A run lies in a lane that was made since the last look at them. */
  #findLanes(): void {
    if (this.#isFinding) return;
    this.#isFinding = true;
    const done = (): void => void (this.#isFinding = false);
    this.#parts.groups
      .look()
      .then(() => this.#parts.exchanger.wake(), this.#options.onError)
      .then(done, done);
  }
}
