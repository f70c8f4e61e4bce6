import type { Clock, Completion, DurationMs, NoteAnswer, RunNote, StopOrder } from "@carillon/core";
import type { ClaimStore, SessionStore } from "@carillon/store";
import { maxAnswerChars } from "../claims/batch-size.js";
import type { DispatchContext } from "../dispatch-context.js";
import type { Gateway } from "../gateway.js";
import type {
  Assigned,
  ClaimName,
  StartedRun,
  WorkerHandlers,
  WorkerRegistration,
} from "../sessions/worker-registration.js";
import { SessionLost } from "../sessions/worker-session.js";
import { Liveness, RemoteSession } from "./remote-session.js";

export type RemoteRegistration = Omit<WorkerRegistration, keyof WorkerHandlers | "nodeId">;

export interface PollRequest {
  readonly completions: readonly Completion[];
  /** Every claim that the worker has, waiting, executed or unacknowledged: an assignment that it does not name did not arrive. */
  readonly held?: readonly ClaimName[];
  readonly waitMs: DurationMs;
  /** The worker numbers the polls of a session upwards; a worker with one poll at a time need not. */
  readonly number?: number;
  /** All polls up to this one are over. Without `held`: and each was answered. */
  readonly endedUpTo?: number;
  /** The worker stops: it takes nothing more. */
  readonly isDraining?: boolean;
  readonly signal?: AbortSignal;
}

export interface PollAnswer {
  readonly assignments: readonly Assigned[];
  /** Results that are durable, now or since an answer that was lost. The others were refused. */
  readonly accepted: ReadonlySet<string>;
  readonly stops: readonly StopOrder[];
  /** Claims that the worker names and that are over: their results are refused. */
  readonly lost: readonly ClaimName[];
  /** An operator asks the worker to end. */
  readonly isToDrain: boolean;
  /** At once, giving back the runs that it has. */
  readonly isToLeave: boolean;
}

export interface Heartbeat {
  /** Every claim that the worker has, if it wants to know which of them are over. */
  readonly held?: readonly ClaimName[];
  /** Runs that it has started: only the loss of such a run counts. */
  readonly started?: readonly StartedRun[];
}

export interface RemoteWorkersContext extends Pick<DispatchContext, "loops" | "now" | "timers"> {
  readonly clock: Pick<Clock, "monotonic">;
  readonly limits: Pick<DispatchContext["limits"], "workerTimeoutMs">;
  readonly store: {
    readonly claims: Pick<ClaimStore, "accepted">;
    readonly sessions: Pick<SessionStore, "touch">;
  };
}

/** How far back a result is searched that may have been accepted before. */
const lookBackMs = 86_400_000;

/**
 * Workers of other processes. Any node serves any of them: what it does not know of a session it reads from the rows. A lost answer loses
 * nothing and repeats nothing, in either direction: assignments that did not arrive are sent again under their fence, and results that a
 * worker repeats are looked up.
 */
export class RemoteWorkers {
  readonly #context: RemoteWorkersContext;
  readonly #gateway: Gateway;
  readonly #sessions = new Map<string, RemoteSession>();
  readonly #adopting = new Map<string, Promise<RemoteSession>>();
  #isStopping = false;

  constructor(context: RemoteWorkersContext, gateway: Gateway) {
    this.#context = context;
    this.#gateway = gateway;
    context.loops.register("workers", async () => {
      this.forgetDisconnected();
      await gateway.heartbeat();
      return this.timeoutMs / 5;
    });
  }

  /** How long a worker may be silent before its runs are given to others. */
  get timeoutMs(): DurationMs {
    return this.#context.limits.workerTimeoutMs;
  }

  async register(worker: RemoteRegistration): Promise<string> {
    const session = this.#newSession();
    const id: string = await this.#gateway.open({
      ...worker,
      nodeId: null,
      ...this.#handlers(session, () => id),
    });
    this.#sessions.set(id, session);
    return id;
  }

  /**
   * Brings results and takes runs. A poll with results is answered when they are durable, any other waits for something to send. Throws
   * SessionLost when the worker was declared dead: others get all runs that it holds.
   */
  async poll(id: string, request: PollRequest): Promise<PollAnswer> {
    const session = await this.#find(id);
    session.liveness.heartbeat(this.#context.clock.monotonic());
    const number = session.beginPoll(request.number);
    try {
      return await this.#answer(id, session, request, number);
    } finally {
      session.endPoll();
      // An answer does not prove that the worker was there to receive it.
      if (request.signal?.aborted === true) session.liveness.disconnected();
      // A worker without a poll is assigned nothing more; assignments on their way wait for the next poll.
      if (!session.isPolling) this.#gateway.rest(id);
    }
  }

  /** The worker lives; returns which of the claims that it names are over. Any node answers. */
  async heartbeat(id: string, { held = [], started = [] }: Heartbeat): Promise<readonly ClaimName[]> {
    const { store, clock } = this.#context;
    if (held.length + started.length === 0 && !this.#sessions.has(id)) {
      // Its polls go to another node, which keeps serving it.
      if (!(await store.sessions.touch(id))) throw new SessionLost(id);
      return [];
    }
    const session = await this.#find(id);
    session.liveness.heartbeat(clock.monotonic());
    session.acknowledge(held);
    await this.#started(id, started);
    return this.#gateway.notHeld(id, held);
  }

  async giveBack(id: string, runs: readonly ClaimName[]): Promise<void> {
    const session = await this.#find(id);
    session.acknowledge(runs);
    await this.#gateway.giveBack(id, runs);
  }

  /** Stores and reads what handlers keep while they run; one answer to each, in their order. */
  async note(id: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    const session = await this.#find(id);
    session.liveness.heartbeat(this.#context.clock.monotonic());
    return this.#gateway.note(id, notes);
  }

  async close(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    session?.wake();
    await this.#gateway.close(id);
  }

  /** Workers that went silent, or to another node, are forgotten here; the rescuer decides about their runs. */
  forgetDisconnected(): void {
    for (const [id, session] of this.#sessions) {
      if (session.isPolling || this.#isConnected(id, session)) continue;
      this.#sessions.delete(id);
      this.#gateway.forget(id);
    }
  }

  /** Ends the polls that wait: the node stops, and others serve its workers. */
  stop(): void {
    this.#isStopping = true;
    for (const session of this.#sessions.values()) session.wake();
  }

  async #answer(id: string, session: RemoteSession, request: PollRequest, number: number): Promise<PollAnswer> {
    const { completions, held, endedUpTo, isDraining = false } = request;
    session.acknowledge(completions);
    if (held !== undefined) {
      session.acknowledge(held);
      session.resendUpTo(endedUpTo ?? Number.POSITIVE_INFINITY);
    } else if (endedUpTo !== undefined) session.acknowledgeUpTo(endedUpTo);
    const lost = await this.#lost(id, request);
    if (isDraining) await this.#pause(id, session);
    else this.#gateway.resume(id);
    const accepted = await this.#complete(id, completions);
    if (lost.length + completions.length === 0 && !isDraining && !this.#isStopping)
      await session.wait(request.waitMs, request.signal);
    if (request.signal?.aborted === true)
      return { assignments: [], accepted, stops: [], lost, isToDrain: false, isToLeave: false };
    const drain = session.takeDrain();
    // A worker that stops may not poll again: it gets all of its assignments now, and gives them back.
    const assignments = session.takeRuns(number, isDraining ? Number.POSITIVE_INFINITY : maxAnswerChars);
    return { assignments, accepted, stops: session.takeStops(), lost, ...drain };
  }

  async #lost(id: string, { completions, held = [] }: PollRequest): Promise<readonly ClaimName[]> {
    await this.#gateway.notHeld(id, completions);
    if (held.length === 0) return [];
    const ended = new Set(completions.map((completion) => completion.runId));
    return this.#gateway.notHeld(
      id,
      held.filter(({ runId }) => !ended.has(runId)),
    );
  }

  /** The worker takes nothing more: a poll that waits is answered, and assignments on their way come with this answer. */
  async #pause(id: string, session: RemoteSession): Promise<void> {
    session.wake();
    await this.#gateway.pause(id);
  }

  async #started(id: string, started: readonly StartedRun[]): Promise<void> {
    if (started.length === 0) return;
    await this.#gateway.notHeld(id, started);
    await this.#gateway.started(id, started);
  }

  async #complete(id: string, completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    if (completions.length === 0) return new Set();
    const { store, now } = this.#context;
    const accepted = await this.#gateway.complete(id, completions);
    if (accepted.size >= completions.length) return accepted;
    const open = completions.filter(({ runId }) => !accepted.has(runId));
    if (open.length === 0) return accepted;
    const before = await store.claims.accepted(
      id,
      open.map(({ runId, fence, outcome }) => ({ id: runId, fence, isSuccess: outcome.kind === "succeeded" })),
      now() - lookBackMs,
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
    const handlers = this.#handlers(session, () => id);
    if (!(await this.#gateway.adopt(id, handlers))) throw new SessionLost(id);
    this.#sessions.set(id, session);
    return session;
  }

  #newSession(): RemoteSession {
    const { timers, clock } = this.#context;
    return new RemoteSession(timers, new Liveness(this.timeoutMs, clock.monotonic()));
  }

  #handlers(session: RemoteSession, id: () => string): WorkerHandlers {
    return {
      onAssign: (assigned) => this.#assign(id(), session, assigned),
      onStop: (orders) => session.orderStops(orders),
      onDrain: (isNotice) => session.orderDrain(isNotice),
      onLost: () => {
        this.#sessions.delete(id());
        session.wake();
      },
      // A poll that waits does not count: its worker may have gone without closing the connection.
      isConnected: () => this.#isConnected(id(), session),
    };
  }

  #assign(id: string, session: RemoteSession, assigned: readonly Assigned[]): void {
    // The gateway counts these already. A worker that had others does not stay connected for longer because it is assigned more.
    const wasIdle = !session.hasUnacknowledged && this.#heldRuns(id) <= assigned.length;
    if (wasIdle) session.liveness.assigned(this.#context.clock.monotonic());
    session.assign(assigned);
  }

  #isConnected(id: string, session: RemoteSession): boolean {
    const isIdle = !session.hasUnacknowledged && this.#heldRuns(id) === 0;
    return session.liveness.isConnected(this.#context.clock.monotonic(), isIdle);
  }

  #heldRuns(id: string): number {
    return this.#gateway.sessions.find(id)?.held.size ?? 0;
  }
}
