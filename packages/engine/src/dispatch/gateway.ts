import {
  type Assignment,
  type Completion,
  type DurationMs,
  type Instant,
  nextAttempt,
  rankOf,
  retryPolicy,
} from "@carillon/core";
import type { OnEngineEvent } from "../events.js";
import type { AttemptRecord } from "../model/run-view.js";
import type { ClaimedRun, ClaimStore, FinishedRun, RetriedRun } from "../store/entities/claims.js";
import type { LaneStore } from "../store/entities/lanes.js";
import type { NamespaceStore } from "../store/entities/namespaces.js";
import type { Queued } from "../store/entities/runs.js";
import type { SessionStore } from "../store/entities/sessions.js";
import type { Random } from "../store/db/ports.js";
import { ClaimDoubt } from "./claim-doubt.js";
import type { Waiters } from "./waiters.js";

export interface WorkerRegistration {
  readonly namespace: string;
  readonly name: string;
  /** `*` alone stands for every queue, also for those that do not exist yet. */
  readonly queues: readonly string[];
  readonly tasks: readonly string[];
  readonly slots: number;
  /** Set for a worker inside a node: it dies with it. */
  readonly nodeId: string | null;
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
}

const laneLookMs = 1_000;

/** Hands due runs to workers and takes back what became of them. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #sessions = new Map<string, OpenSession>();

  constructor(options: GatewayOptions) {
    this.#options = options;
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
      const decided = this.#decide(session.id, run, completion, now);
      if (decided.kind === "finish") ended.push(decided.run);
      else again.push(decided.run);
    }
    const accepted = new Set<string>();
    if (ended.length > 0) for (const id of await this.#options.claims.finish(session.id, ended)) accepted.add(id);
    if (again.length > 0) {
      const waiting = await this.#options.claims.retry(session.id, again);
      for (const run of waiting) accepted.add(run.id);
      this.#options.onRetry(waiting);
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
    this.#options.onQueued(queued);
  }

  /** Answers the sessions that were declared dead meanwhile: their workers must stop what they do. */
  async heartbeat(): Promise<string[]> {
    if (this.#sessions.size === 0) return [];
    const alive = new Set(await this.#options.sessions.heartbeat([...this.#sessions.keys()]));
    const dead = [...this.#sessions.keys()].filter((id) => !alive.has(id));
    for (const id of dead) this.#sessions.delete(id);
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
    if (unknown.length > 0) return this.#hand(session, unknown);
    try {
      const runs = await this.#options.claims.claim({
        session: session.id,
        lanes: session.lanes,
        namespaceIds: [session.namespaceId],
        lowestRank: Number.MIN_SAFE_INTEGER,
        limit,
      });
      return this.#hand(session, runs);
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

  #hand(session: OpenSession, runs: readonly ClaimedRun[]): Assignment[] {
    const now = this.#options.now();
    return runs.map((run) => {
      session.held.set(run.id, run);
      const { id: runId, task, queue } = run;
      this.#options.onEvent({ type: "run.claimed", runId, task, queue, waitedMs: Math.max(0, now - run.runAt) });
      return toAssignment(run);
    });
  }

  #decide(sessionId: string, run: ClaimedRun, completion: Completion, now: Instant): Decision {
    const { id, fence } = run;
    const startedAt = now - completion.startedAgoMs;
    const { outcome } = completion;
    if (outcome.kind === "succeeded") {
      const { output } = outcome;
      return { kind: "finish", run: { id, fence, status: "succeeded", reason: null, output, error: null, startedAt } };
    }
    const attempt = run.spent + 1;
    const next = nextAttempt(retryPolicy(run.policy.retry ?? {}), {
      attempt,
      error: outcome.error,
      random: this.#options.random(),
      ...(outcome.retryAfterMs === undefined ? {} : { retryAfterMs: outcome.retryAfterMs }),
    });
    if (next.kind === "dead") {
      const { error, reason } = outcome;
      return { kind: "finish", run: { id, fence, status: "failed", reason, output: null, error, startedAt } };
    }
    const record: AttemptRecord = {
      attempt,
      fence,
      sessionId,
      startedAt,
      endedAt: now,
      outcome: outcome.reason === "timeout" ? "timeout" : "failed",
      error: outcome.error,
    };
    const rank = rankOf({ dueMs: now + next.delayMs, priority: run.priority });
    return { kind: "retry", run: { id, fence, delayMs: next.delayMs, rank, record } };
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

type Decision =
  | { readonly kind: "finish"; readonly run: FinishedRun }
  | { readonly kind: "retry"; readonly run: RetriedRun };

/** The server no longer knows the session: whatever its worker still does is somebody else's now. */
export class SessionLost extends Error {
  override readonly name = "SessionLost";
  constructor(id: string) {
    super(`the worker session ${id} was declared dead or closed`);
  }
}

function toAssignment(run: ClaimedRun): Assignment {
  return {
    runId: run.id,
    jobId: run.jobId,
    task: run.task,
    queue: run.queue,
    payload: run.payload,
    attempt: run.spent + 1,
    maxAttempts: retryPolicy(run.policy.retry ?? {}).maxAttempts,
    fence: run.fence,
    timeoutMs: run.policy.timeoutMs ?? null,
    scheduledFor: run.nominal,
    runAt: run.runAt,
  };
}
