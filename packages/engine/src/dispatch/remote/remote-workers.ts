import type { Completion, DurationMs, Instant, StopOrder } from "@carillon/core";
import type { HostClock, Timers } from "../../store/db/ports.js";
import type { ClaimStore } from "../../store/entities/claims.js";
import type { Assigned } from "../assignment-of.js";
import { type Gateway, SessionLost, type WorkerHandlers, type WorkerRegistration } from "../gateway.js";
import { RemoteSession } from "./remote-session.js";

/** A claim that a worker has: waiting there, at work, or done with a result that was not acknowledged yet. */
export interface HeldRun {
  readonly runId: string;
  readonly fence: number;
  /** How long ago its handler was called; null: it waits. */
  readonly begunAgoMs: DurationMs | null;
}

export interface PollRequest {
  readonly completions: readonly Completion[];
  /** All of them: what it does not name it was not told of, and is told again. */
  readonly held: readonly HeldRun[];
  /** Takes no runs if it is zero and nothing is there yet. */
  readonly waitMs: DurationMs;
  /** The worker stops: it takes nothing more. */
  readonly isDraining?: boolean;
  readonly signal?: AbortSignal;
}

export interface PollAnswer {
  readonly assignments: readonly Assigned[];
  /** Results that are durable, now or since an answer that was lost. The others were refused. */
  readonly accepted: ReadonlySet<string>;
  readonly stops: readonly StopOrder[];
  /** Claims that the worker names and that are over: what it still does there is in vain. */
  readonly lost: readonly { readonly runId: string; readonly fence: number }[];
}

export interface RemoteWorkersOptions {
  readonly gateway: Gateway;
  readonly claims: Pick<ClaimStore, "accepted">;
  readonly clock: Pick<HostClock, "monotonic">;
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
 * answer loses nothing and doubles nothing, in either direction: what a worker does not name is given again under its fence,
 * and what it brings again is looked up.
 */
export class RemoteWorkers {
  readonly #options: RemoteWorkersOptions;
  readonly #sessions = new Map<string, RemoteSession>();
  readonly #adopting = new Map<string, Promise<RemoteSession>>();

  constructor(options: RemoteWorkersOptions) {
    this.#options = options;
  }

  async register(worker: Omit<WorkerRegistration, keyof WorkerHandlers | "nodeId">): Promise<string> {
    const session = this.#newSession();
    const id: string = await this.#options.gateway.open({
      ...worker,
      nodeId: null,
      ...this.#handlers(session, () => id),
    });
    this.#sessions.set(id, session);
    return id;
  }

  /** Throws SessionLost when the worker was declared dead: all that it holds is somebody else's. */
  async poll(id: string, request: PollRequest): Promise<PollAnswer> {
    const session = await this.#find(id);
    const { gateway, clock } = this.#options;
    session.hear(clock.monotonic());
    session.know(request.held);
    session.know(request.completions);
    const ended = new Set(request.completions.map((completion) => completion.runId));
    await gateway.notHeld(id, request.completions);
    const lost = await gateway.notHeld(
      id,
      request.held.filter(({ runId }) => !ended.has(runId)),
    );
    await this.#begin(id, request.held);
    const accepted = await this.#settle(id, request.completions);
    if (lost.length === 0 && request.completions.length === 0) await this.#wait(id, session, request);
    else if (!request.isDraining) gateway.resume(id);
    session.hear(clock.monotonic());
    const stops = session.takeStops();
    return { assignments: session.outbox, accepted, stops, lost };
  }

  async giveBack(id: string, runs: readonly { readonly runId: string; readonly fence: number }[]): Promise<void> {
    const session = await this.#find(id);
    session.know(runs);
    await this.#options.gateway.giveBack(id, runs);
  }

  async close(id: string): Promise<void> {
    this.#sessions.delete(id);
    await this.#options.gateway.close(id);
  }

  /** Workers that went silent, or to another node, are forgotten here; the rescuer decides about their runs. */
  tidy(): void {
    for (const [id, session] of this.#sessions) {
      if (session.isWaiting || this.#isHeard(session)) continue;
      this.#sessions.delete(id);
      this.#options.gateway.forget(id);
    }
  }

  async #wait(id: string, session: RemoteSession, { waitMs, signal, isDraining }: PollRequest): Promise<void> {
    const { gateway } = this.#options;
    if (isDraining) return;
    gateway.resume(id);
    await session.wait(waitMs, signal);
    // A newer poll waits in its place.
    if (!session.isWaiting) gateway.rest(id);
  }

  async #begin(id: string, held: readonly HeldRun[]): Promise<void> {
    const begun = held.flatMap(({ runId, fence, begunAgoMs }) =>
      begunAgoMs === null ? [] : [{ runId, fence, agoMs: begunAgoMs }],
    );
    await this.#options.gateway.started(id, begun);
  }

  async #settle(id: string, completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    if (completions.length === 0) return new Set();
    const { gateway, claims, now } = this.#options;
    const accepted = await gateway.complete(id, completions);
    const open = completions.filter(({ runId }) => !accepted.has(runId));
    if (open.length === 0) return accepted;
    const before = await claims.accepted(
      id,
      open.map(({ runId, fence }) => ({ id: runId, fence })),
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
    return new RemoteSession(this.#options.timers, this.#options.clock.monotonic());
  }

  #handlers(session: RemoteSession, id: () => string): WorkerHandlers {
    return {
      onAssign: (assigned) => session.give(assigned),
      onStop: (orders) => session.tellToStop(orders),
      onLost: () => {
        this.#sessions.delete(id());
        session.wake();
      },
      isHeard: () => session.isWaiting || this.#isHeard(session),
    };
  }

  #isHeard(session: RemoteSession): boolean {
    return this.#options.clock.monotonic() - session.heardAt < this.#options.silenceMs / 3;
  }
}
