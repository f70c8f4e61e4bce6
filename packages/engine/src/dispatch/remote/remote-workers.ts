import type { Clock, Completion, DurationMs, Instant, NoteAnswer, RunNote, Timers } from "@carillon/core";
import type { ClaimStore, SessionStore } from "@carillon/store";
import { mostChars } from "../claims/answer-weight.js";
import type { Assigned } from "../sessions/to-assignment.js";
import type { Gateway } from "../gateway.js";
import { SessionLost } from "../sessions/session-lost.js";
import type { StartedRun, WorkerHandlers } from "../sessions/worker-registration.js";
import { LastWord } from "./worker-expiry.js";
import type { ClaimName, PollAnswer, PollRequest, RemoteRegistration, SignOfLife } from "./protocol.js";
import { RemoteSession } from "./remote-session.js";

export interface RemoteWorkersOptions {
  readonly gateway: Gateway;
  readonly claims: Pick<ClaimStore, "accepted">;
  readonly sessions: Pick<SessionStore, "touch">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
  /** The database's clock. */
  readonly now: () => Instant;
  /** A worker that is silent for so long is not said to live any more. */
  readonly silenceMs: DurationMs;
}

/** How far back a result is looked for that may have been accepted before. */
const memoryMs = 86_400_000;

/**
 * Workers of other processes. Any node serves any of them: what it does not know of a session it learns from the rows. A lost
 * answer loses nothing and doubles nothing, in either direction: what did not arrive is given again under its fence, and what
 * a worker brings again is looked up.
 */
export class RemoteWorkers {
  readonly #options: RemoteWorkersOptions;
  readonly #sessions = new Map<string, RemoteSession>();
  readonly #adopting = new Map<string, Promise<RemoteSession>>();
  #isStopping = false;

  constructor(options: RemoteWorkersOptions) {
    this.#options = options;
  }

  /** How long a worker may be silent before its runs are given to others. */
  get silenceMs(): DurationMs {
    return this.#options.silenceMs;
  }

  async register(worker: RemoteRegistration): Promise<string> {
    const session = this.#newSession();
    const id: string = await this.#options.gateway.open({
      ...worker,
      nodeId: null,
      ...this.#handlers(session, () => id),
    });
    this.#sessions.set(id, session);
    return id;
  }

  /**
   * Brings results and takes runs. One that brings results is answered when they are durable, another waits for something to
   * tell. Throws SessionLost when the worker was declared dead: all that it holds is somebody else's.
   */
  async poll(id: string, request: PollRequest): Promise<PollAnswer> {
    const session = await this.#find(id);
    session.lastWord.hear(this.#options.clock.monotonic());
    const number = session.beginPoll(request.number);
    try {
      return await this.#answer(id, session, request, number);
    } finally {
      session.endPoll();
      // That it was answered says nothing of whether anybody was there to hear it.
      if (request.signal?.aborted === true) session.lastWord.unhear();
      // Whoever does not ask is given nothing more; what is on its way waits for the next poll.
      if (!session.isPolling) this.#options.gateway.rest(id);
    }
  }

  /** The worker lives; says which of the claims that it names are over. Served by whichever node is asked. */
  async hear(id: string, { held = [], started = [] }: SignOfLife): Promise<readonly ClaimName[]> {
    const { gateway, sessions, clock } = this.#options;
    if (held.length + started.length === 0 && !this.#sessions.has(id)) {
      // Its polls go to another node, which shall keep it.
      if (!(await sessions.touch(id))) throw new SessionLost(id);
      return [];
    }
    const session = await this.#find(id);
    session.lastWord.hear(clock.monotonic());
    session.know(held);
    await this.#begin(id, started);
    return gateway.notHeld(id, held);
  }

  async giveBack(id: string, runs: readonly ClaimName[]): Promise<void> {
    const session = await this.#find(id);
    session.know(runs);
    await this.#options.gateway.giveBack(id, runs);
  }

  /** What handlers leave behind while they run, or ask for; one answer to each, in their order. */
  async note(id: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    const session = await this.#find(id);
    session.lastWord.hear(this.#options.clock.monotonic());
    return this.#options.gateway.note(id, notes);
  }

  async close(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    session?.wake();
    await this.#options.gateway.close(id);
  }

  /** Workers that went silent, or to another node, are forgotten here; the rescuer decides about their runs. */
  tidy(): void {
    for (const [id, session] of this.#sessions) {
      if (session.isPolling || this.#isHeard(id, session)) continue;
      this.#sessions.delete(id);
      this.#options.gateway.forget(id);
    }
  }

  /** Nobody waits here any more: the node stops, and others serve its workers. */
  stop(): void {
    this.#isStopping = true;
    for (const session of this.#sessions.values()) session.wake();
  }

  async #answer(id: string, session: RemoteSession, request: PollRequest, number: number): Promise<PollAnswer> {
    const { gateway } = this.#options;
    const { completions, held, heard, isDraining = false } = request;
    session.know(completions);
    if (held !== undefined) {
      session.know(held);
      session.missed(heard ?? Number.POSITIVE_INFINITY);
    } else if (heard !== undefined) session.arrived(heard);
    const lost = await this.#lost(id, request);
    if (isDraining) await this.#quiet(id, session);
    else gateway.resume(id);
    const accepted = await this.#settle(id, completions);
    if (lost.length + completions.length === 0 && !isDraining && !this.#isStopping)
      await session.wait(request.waitMs, request.signal);
    if (request.signal?.aborted === true)
      return { assignments: [], accepted, stops: [], lost, isToDrain: false, isToLeave: false };
    const drain = session.takeDrain();
    // Whoever stops may not ask again: it is told of all that it has, and gives it back.
    const assignments = session.takeRuns(number, isDraining ? Number.POSITIVE_INFINITY : mostChars);
    return { assignments, accepted, stops: session.takeStops(), lost, ...drain };
  }

  async #lost(id: string, { completions, held = [] }: PollRequest): Promise<readonly ClaimName[]> {
    const { gateway } = this.#options;
    await gateway.notHeld(id, completions);
    if (held.length === 0) return [];
    const ended = new Set(completions.map((completion) => completion.runId));
    return gateway.notHeld(
      id,
      held.filter(({ runId }) => !ended.has(runId)),
    );
  }

  /** It takes nothing more: whoever waits for it is answered, and what is on its way comes with this answer. */
  async #quiet(id: string, session: RemoteSession): Promise<void> {
    session.wake();
    await this.#options.gateway.pause(id);
  }

  async #begin(id: string, started: readonly StartedRun[]): Promise<void> {
    if (started.length === 0) return;
    await this.#options.gateway.notHeld(id, started);
    await this.#options.gateway.started(id, started);
  }

  async #settle(id: string, completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    if (completions.length === 0) return new Set();
    const { gateway, claims, now } = this.#options;
    const accepted = await gateway.complete(id, completions);
    if (accepted.size >= completions.length) return accepted;
    const open = completions.filter(({ runId }) => !accepted.has(runId));
    if (open.length === 0) return accepted;
    const before = await claims.accepted(
      id,
      open.map(({ runId, fence, outcome }) => ({ id: runId, fence, isSuccess: outcome.kind === "succeeded" })),
      now() - memoryMs,
    );
    return new Set([...accepted, ...before]);
  }

  async #find(id: string): Promise<RemoteSession> {
    const known = this.#sessions.get(id);
    if (known !== undefined) return known;
    let adopting = this.#adopting.get(id);
    if (adopting === undefined) {
      adopting = this.#adopt(id).finally(() => this.#adopting.delete(id));
      this.#adopting.set(id, adopting);
    }
    return adopting;
  }

  async #adopt(id: string): Promise<RemoteSession> {
    const session = this.#newSession();
    if (
      !(await this.#options.gateway.adopt(
        id,
        this.#handlers(session, () => id),
      ))
    )
      throw new SessionLost(id);
    this.#sessions.set(id, session);
    return session;
  }

  #newSession(): RemoteSession {
    const { timers, clock, silenceMs } = this.#options;
    return new RemoteSession(timers, new LastWord(silenceMs, clock.monotonic()));
  }

  #handlers(session: RemoteSession, id: () => string): WorkerHandlers {
    return {
      onAssign: (assigned) => this.#give(id(), session, assigned),
      onStop: (orders) => session.tellToStop(orders),
      onDrain: (isNotice) => session.tellToDrain(isNotice),
      onLost: () => {
        this.#sessions.delete(id());
        session.wake();
      },
      // A poll that waits says nothing: its worker may be gone without a word.
      isHeard: () => this.#isHeard(id(), session),
    };
  }

  #give(id: string, session: RemoteSession, assigned: readonly Assigned[]): void {
    const { gateway, clock } = this.#options;
    // The gateway counts these already. Whoever had others is not said to live for longer because it is given more.
    const wasIdle = !session.isGiven && gateway.heldCount(id) <= assigned.length;
    if (wasIdle) session.lastWord.hand(clock.monotonic());
    session.give(assigned);
  }

  #isHeard(id: string, session: RemoteSession): boolean {
    const { gateway, clock } = this.#options;
    const isIdle = !session.isGiven && gateway.heldCount(id) === 0;
    return session.lastWord.isHeard(clock.monotonic(), isIdle);
  }
}
