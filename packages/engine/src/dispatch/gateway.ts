import { type Assignment, type Completion, type DurationMs, type Instant, type StopOrder } from "@carillon/core";
import type { OnEngineEvent } from "../events.js";
import type { ClaimedRun, ClaimStore, FinishedRun, RetriedRun } from "../store/entities/claims.js";
import { freedJobs } from "../store/entities/ended-runs.js";
import type { LaneStore } from "../store/entities/lanes.js";
import type { NamespaceStore } from "../store/entities/namespaces.js";
import type { Queued } from "../store/entities/runs.js";
import type { SessionStore } from "../store/entities/sessions.js";
import type { Random } from "../store/db/ports.js";
import { ClaimDoubt } from "./claim-doubt.js";
import { assignmentOf } from "./assignment-of.js";
import { decideCompletion } from "./decide-completion.js";
import { StopOrders } from "./stop-orders.js";
import type { Waiters } from "./waiters.js";

type OnStop = (orders: readonly StopOrder[]) => void;

export interface WorkerRegistration {
  readonly namespace: string;
  readonly name: string;
  /** `*` alone stands for every queue, also for those that do not exist yet. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  /** Set for a worker inside a node: it dies with it. */
  readonly nodeId: string | null;
  /** Called with runs that the worker holds and is asked to stop, again and again until they have ended. */
  readonly onStop?: OnStop;
}

export interface GatewayOptions {
  readonly claims: ClaimStore;
  readonly sessions: SessionStore;
  readonly lanes: LaneStore;
  readonly namespaces: NamespaceStore;
  readonly waiters: Waiters;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly random: Random;
  readonly newId: () => string;
  /** How long a claim that failed may still be done by the database. */
  readonly doubtMs: DurationMs;
  readonly onRetry: (runs: readonly { id: string; shard: number; runAt: Instant }[]) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
  /** Runs of these jobs ended for which others of the same job may wait. */
  readonly onFreed: (jobIds: readonly string[]) => void;
  /** Runs that were to stop came back from their worker: nobody is to try them again. */
  readonly onStopped: (runIds: readonly string[]) => Promise<void>;
  readonly onEvent: OnEngineEvent;
}

interface OpenSession {
  readonly id: string;
  readonly namespaceId: number;
  lanes: readonly number[];
  /** Set for a worker that serves every queue: its lanes are looked up again now and then. */
  everywhere: { readonly tasks: ReadonlySet<string>; lookedAt: Instant } | null;
  readonly held: Map<string, ClaimedRun>;
  readonly doubt: ClaimDoubt;
  readonly onStop: OnStop | null;
}

const laneLookMs = 1_000;

/** Hands due runs to workers and takes back what became of them. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #sessions = new Map<string, OpenSession>();
  readonly #stops: StopOrders;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#stops = new StopOrders(options.claims, () => this.#sessions.values());
  }

  async open(registration: WorkerRegistration): Promise<string> {
    const { namespaces, lanes, sessions, newId, doubtMs } = this.#options;
    const namespaceId = await namespaces.find(registration.namespace);
    if (namespaceId === null) throw new Error(`no namespace ${registration.namespace}`);
    const { queues, tasks } = registration;
    const id = newId();
    const session: OpenSession = {
      id,
      namespaceId,
      lanes: [],
      everywhere: null,
      held: new Map(),
      doubt: new ClaimDoubt(doubtMs),
      onStop: registration.onStop ?? null,
    };
    if (queues.length === 1 && queues[0] === "*") session.everywhere = { tasks: new Set(tasks), lookedAt: 0 };
    else session.lanes = await lanes.ensure(queues.flatMap((queue) => tasks.map((task) => ({ queue, task }))));
    await sessions.open({ id, namespaceId, ...registration });
    this.#sessions.set(id, session);
    return id;
  }

  /** Claims up to `free` runs; when there are none, waits for a hint or the time limit, whichever comes first. */
  async poll(
    sessionId: string,
    request: { free: number; waitMs: DurationMs; signal?: AbortSignal },
  ): Promise<Assignment[]> {
    const deadline = this.#options.now() + request.waitMs;
    for (let waited = false; ; waited = true) {
      const session = this.#session(sessionId);
      await this.#findLanes(session, waited);
      // Registered before the look: a run that is queued between the look and the wait still wakes it.
      const lanes = session.everywhere === null ? session.lanes : null;
      const waiting = this.#options.waiters.register(lanes, request.signal);
      try {
        const claimed = await this.#claim(session, request.free);
        const leftMs = deadline - this.#options.now();
        if (claimed.length > 0 || leftMs <= 0 || request.signal?.aborted) return claimed;
        await waiting.wait(leftMs);
      } finally {
        waiting.done();
      }
    }
  }

  /** Records how runs ended. Answers the ids that were accepted; the others were given to somebody else meanwhile. */
  async complete(sessionId: string, completions: readonly Completion[]): Promise<Set<string>> {
    const session = this.#session(sessionId);
    const now = this.#options.now();
    const ended: FinishedRun[] = [];
    const again: RetriedRun[] = [];
    for (const completion of completions) {
      const run = session.held.get(completion.runId);
      if (run === undefined || run.fence !== completion.fence) continue;
      const random = this.#options.random();
      const decided = decideCompletion({ sessionId: session.id, run, completion, now, random });
      if (decided.kind === "finish") ended.push(decided.run);
      else again.push(decided.run);
    }
    const accepted = new Set<string>();
    if (ended.length > 0) for (const id of await this.#finish(session, ended)) accepted.add(id);
    if (again.length > 0) {
      const waiting = await this.#options.claims.retry(session.id, again);
      for (const run of waiting) accepted.add(run.id);
      await this.#options.onStopped(waiting.filter((run) => run.isStopped).map((run) => run.id));
      this.#options.onRetry(waiting.filter((run) => !run.isStopped));
    }
    this.#announce(session, completions, { ended, again }, accepted, now);
    return accepted;
  }

  /** Returns runs that were not finished, without spending anything. */
  async giveBack(sessionId: string, runs: readonly { runId: string; fence: number }[]): Promise<void> {
    const session = this.#session(sessionId);
    const queued = await this.#options.claims.giveBack(
      session.id,
      runs.map((run) => ({ id: run.runId, fence: run.fence })),
    );
    for (const run of runs) session.held.delete(run.runId);
    await this.#options.onStopped(queued.filter((run) => run.isStopped).map((run) => run.id));
    this.#options.onQueued(queued.filter((run) => !run.isStopped));
  }

  /** Runs that a session holds may be to stop: their workers are told. */
  async passOnStops(): Promise<void> {
    await this.#stops.look();
  }

  /** Answers the sessions that were declared dead meanwhile: their workers must stop what they do. */
  async heartbeat(): Promise<string[]> {
    if (this.#sessions.size === 0) return [];
    const alive = new Set(await this.#options.sessions.heartbeat([...this.#sessions.keys()]));
    const dead = [...this.#sessions.keys()].filter((id) => !alive.has(id));
    for (const id of dead) this.#sessions.delete(id);
    await this.#stops.look();
    return dead;
  }

  async close(sessionId: string): Promise<void> {
    this.#sessions.delete(sessionId);
    await this.#options.sessions.close(sessionId);
  }

  isOpen(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  #session(id: string): OpenSession {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new SessionLost(id);
    return session;
  }

  /** A queue may appear at any time: look after every wait, and at least once a second under steady work. */
  async #findLanes(session: OpenSession, now: boolean): Promise<void> {
    const { everywhere } = session;
    if (everywhere === null || (!now && this.#options.now() - everywhere.lookedAt < laneLookMs)) return;
    everywhere.lookedAt = this.#options.now();
    const known = await this.#options.lanes.list();
    session.lanes = known.filter((lane) => everywhere.tasks.has(lane.task)).map((lane) => lane.id);
  }

  async #claim(session: OpenSession, limit: number): Promise<Assignment[]> {
    const unknown = await this.#heldUnknown(session);
    if (unknown.length > 0) return this.#handLive(session, unknown);
    try {
      const runs = await this.#options.claims.claim({
        session: session.id,
        lanes: session.lanes,
        namespaceIds: [session.namespaceId],
        lowestRank: Number.MIN_SAFE_INTEGER,
        limit,
      });
      return await this.#handLive(session, runs);
    } catch (error) {
      session.doubt.raise(this.#options.now());
      throw error;
    }
  }

  /** What the session holds by a claim whose answer never came. What ended while we asked was known before. */
  async #heldUnknown({ id, held, doubt }: OpenSession): Promise<ClaimedRun[]> {
    if (!doubt.isToAsk(this.#options.now())) return [];
    const known = new Set(held.keys());
    const runs = await this.#options.claims.held(id);
    doubt.answered(this.#options.now());
    return runs.filter((run) => !known.has(run.id));
  }

  /** A run that was to stop before it was claimed ends here: nobody is to begin it again. */
  async #handLive(session: OpenSession, runs: readonly ClaimedRun[]): Promise<Assignment[]> {
    const now = this.#options.now();
    const stopped = runs.filter((run) => run.isStopped);
    if (stopped.length > 0) {
      const what = { status: "cancelled", reason: "cancelled_by_user", output: null, error: null, spent: 0 } as const;
      await this.#finish(
        session,
        stopped.map(({ id, fence }) => ({ id, fence, ...what, startedAt: now })),
      );
    }
    return this.#hand(
      session,
      runs.filter((run) => !run.isStopped),
    );
  }

  /** Answers the ids that were accepted. */
  async #finish(session: OpenSession, runs: readonly FinishedRun[]): Promise<string[]> {
    const ended = await this.#options.claims.finish(session.id, runs);
    this.#options.onFreed(freedJobs(ended));
    return [...ended.keys()];
  }

  #hand(session: OpenSession, runs: readonly ClaimedRun[]): Assignment[] {
    const now = this.#options.now();
    return runs.map((run) => {
      session.held.set(run.id, run);
      const { id: runId, task, queue } = run;
      this.#options.onEvent({ type: "run.claimed", runId, task, queue, waitedMs: Math.max(0, now - run.runAt) });
      return assignmentOf(run);
    });
  }

  #announce(
    session: OpenSession,
    completions: readonly Completion[],
    decided: { ended: readonly FinishedRun[]; again: readonly RetriedRun[] },
    accepted: ReadonlySet<string>,
    now: Instant,
  ): void {
    const { onEvent } = this.#options;
    for (const { id, status, startedAt } of decided.ended) {
      const run = session.held.get(id);
      if (run === undefined || !accepted.has(id)) continue;
      const { task, queue } = run;
      onEvent({ type: "run.finished", runId: id, task, queue, status, durationMs: Math.max(0, now - startedAt) });
    }
    for (const { id, delayMs } of decided.again) {
      const run = session.held.get(id);
      if (run !== undefined && accepted.has(id))
        onEvent({ type: "run.retried", runId: id, task: run.task, queue: run.queue, delayMs });
    }
    const refused = completions.length - accepted.size;
    if (refused > 0) onEvent({ type: "write.refused", statement: "run.finish", count: refused });
    for (const { runId, fence } of completions) {
      if (session.held.get(runId)?.fence === fence) session.held.delete(runId);
    }
  }
}

/** The server no longer knows the session: whatever its worker still does is somebody else's now. */
export class SessionLost extends Error {
  override readonly name = "SessionLost";
  constructor(id: string) {
    super(`the worker session ${id} was declared dead or closed`);
  }
}
