import { type Completion, type Instant, named, runEndEvents, type RunError } from "@carillon/core";
import {
  type AwaitingRun,
  type ClaimedRun,
  type ClaimStore,
  type DeferredRun,
  type FinishedRun,
  type EndedClaims,
  isFaultOfRows,
  isStrict,
  type Queued,
  type RetriedRun,
  type WaitingRun,
} from "@carillon/store";
import type { NodeBreakers } from "../../breakers/breakers.js";
import { emitLateEnd } from "../../runs/run-events.js";
import type { ClaimLoop, CompletionResult } from "../claims/claim-loop.js";
import type { DispatchCatalog, DispatchContext } from "../dispatch-context.js";
import { endStopped, publishFreed } from "../sessions/rescuer.js";
import type { WorkerSession } from "../sessions/worker-session.js";
import { decideCompletion, decideSuccess, type Decision, type Ended } from "./decide-completion.js";

export interface ResultsDeps {
  readonly claimLoop: Pick<ClaimLoop, "complete" | "wake">;
  readonly breakers: Pick<NodeBreakers, "judge">;
  readonly catalog: Pick<DispatchCatalog, "durations" | "queues" | "rank">;
  /** Whether webhooks subscribe to the success of the run. */
  readonly hasSubscribers: (run: ClaimedRun) => boolean;
  /** Callbacks of runs arrived before these began to wait. */
  readonly onAnswered: () => void;
}

interface Decided {
  readonly run: ClaimedRun;
  readonly decision: Decision;
}

/** Stores the results that workers report: history, the next try, or the dead letters. */
export class Results {
  readonly #context: DispatchContext;
  readonly #deps: ResultsDeps;

  constructor(context: DispatchContext, deps: ResultsDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  /** Returns the ids that were accepted. Throws if the outcome is unknown: then the same call may be repeated. */
  async take(session: WorkerSession, completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    const decided = this.#decide(session, completions);
    const accepted = await this.#store(session, decided, completions.length);
    this.freeSlots(overOf(decided));
    return accepted;
  }

  /** The same for runs that no session holds. */
  async takeUnheld(ended: readonly Pick<Ended, "run" | "completion">[]): Promise<ReadonlySet<string>> {
    if (ended.length === 0) return new Set();
    const decided = ended.map(({ run, completion }) => this.#decideOne(run, completion, this.#context.now()));
    const accepted = await this.#write(decided);
    this.#announce(decided, accepted, decided.length);
    this.freeSlots(overOf(decided));
    return new Set(accepted.keys());
  }

  async #store(session: WorkerSession, decided: readonly Decided[], reported: number): Promise<ReadonlySet<string>> {
    const slots = session.slotsOf(decided.map(({ run }) => run));
    session.endingSlots += slots;
    session.countResults(reported, this.#context.clock.monotonic());
    try {
      const accepted = await this.#write(decided);
      this.#announce(decided, accepted, reported);
      for (const { run } of decided) session.release(run);
      return new Set(accepted.keys());
    } finally {
      session.endingSlots -= slots;
    }
  }

  /** The claims of these runs are over: the next runs of their strict queues and limits may start. */
  freeSlots(runs: readonly ClaimedRun[]): void {
    const { store, wakeups } = this.#context;
    const limited: string[] = [];
    const over: Queued[] = [];
    for (const { id, lane, rank } of runs) {
      const kind = store.lanes.get(lane)?.kind ?? "plain";
      if (kind === "admitted") limited.push(id);
      else if (isStrict(kind)) over.push({ id, lane, rank });
    }
    if (limited.length > 0) wakeups.publish("limits.released", limited);
    if (over.length > 0) wakeups.runsQueued(over);
  }

  /** Ends runs; returns the ids that were accepted. */
  async end(runs: readonly FinishedRun[]): Promise<string[]> {
    return [...(await this.#finish(runs)).keys()];
  }

  #finish(runs: readonly FinishedRun[]): Promise<EndedClaims> {
    return this.#endBy(runs, (all) => this.#context.store.claims.finish(all));
  }

  async #endBy(runs: readonly FinishedRun[], finish: ClaimStore["finish"]): Promise<EndedClaims> {
    if (runs.length === 0) return noneEnded;
    const ended = await finish(runs);
    const freed = [...ended.values()].map(({ freedJobId }) => freedJobId).filter((jobId) => jobId !== null);
    publishFreed(this.#context.wakeups, freed);
    return ended;
  }

  /** Lets runs wait for a time before they are claimable again; returns the ids that were accepted. */
  async defer(runs: readonly DeferredRun[]): Promise<string[]> {
    return runs.length === 0 ? [] : this.#wait(await this.#context.store.claims.defer(runs));
  }

  #decide(session: WorkerSession, completions: readonly Completion[]): Decided[] {
    const at = this.#context.now();
    const decided: Decided[] = [];
    for (const completion of completions) {
      const run = session.held.get(completion.runId);
      if (run === undefined || run.fence !== completion.fence) continue;
      decided.push(this.#decideOne(run, completion, at));
    }
    return decided;
  }

  #decideOne(run: ClaimedRun, completion: Completion, now: Instant): Decided {
    const waitsMs = run.policy.breaker === undefined ? null : this.#deps.breakers.judge(run, completion);
    if (waitsMs !== null && (run.deadline === null || now + waitsMs < run.deadline)) {
      const { id, fence, session } = run;
      const rank = this.#rank(run, now + waitsMs);
      const deferred = { id, fence, session, delayMs: waitsMs, rank, reason: "breaker_open" };
      return { run, decision: { kind: "defer", run: deferred } };
    }
    const { outcome } = completion;
    if (outcome.kind === "succeeded")
      return { run, decision: decideSuccess(run, outcome.outputJson, now - completion.startedAgoMs) };
    const random = this.#context.random();
    const rankAt = (dueMs: Instant): number => this.#rank(run, dueMs);
    return { run, decision: decideCompletion({ run, completion, now, random, rankAt }) };
  }

  #rank({ namespaceId, lane, priority, deadline }: ClaimedRun, dueMs: Instant): number {
    const { queue = "", task = "" } = this.#context.store.lanes.get(lane) ?? {};
    return this.#deps.catalog.rank({ namespaceId, queue, task, dueMs, priority, deadlineMs: deadline ?? undefined });
  }

  async #write(decided: readonly Decided[]): Promise<Accepted> {
    const succeeded: FinishedRun[] = [];
    const noticed: FinishedRun[] = [];
    const ended: FinishedRun[] = [];
    const again: RetriedRun[] = [];
    const deferred: DeferredRun[] = [];
    const awaiting: AwaitingRun[] = [];
    for (const { run, decision } of decided) {
      if (decision.kind === "retry") again.push(decision.run);
      else if (decision.kind === "wait") awaiting.push(decision.run);
      else if (decision.kind === "defer") deferred.push(decision.run);
      else if (decision.run.status === "succeeded")
        (this.#deps.hasSubscribers(run) ? noticed : succeeded).push(decision.run);
      else ended.push(decision.run);
    }
    const written = Promise.all([
      this.#succeed(succeeded),
      this.#succeedNoticed(noticed),
      this.#finish(ended),
      this.#retry(again),
      this.defer(deferred),
      this.#await(awaiting),
    ]);
    // The others free their slots too, without a call of the claim loop.
    if (succeeded.length < decided.length) this.#deps.claimLoop.wake();
    const [accepted, withNotice, failed, ...others] = await written;
    for (const claims of [withNotice, failed]) for (const [id, { finishedAt }] of claims) accepted.set(id, finishedAt);
    for (const ids of others) for (const id of ids) accepted.set(id, null);
    return accepted;
  }

  async #succeed(runs: readonly FinishedRun[]): Promise<Map<string, Instant | null>> {
    if (runs.length === 0) return new Map();
    const { accepted, faults } = await this.#deps.claimLoop.complete(runs);
    if (faults.length === 0) return accepted as Map<string, Instant>;
    const failed = await this.#finish(faults.map(notStorable));
    return new Map([...accepted, ...[...failed].map(([id, { finishedAt }]) => [id, finishedAt] as const)]);
  }

  async #succeedNoticed(runs: readonly FinishedRun[]): Promise<EndedClaims> {
    if (runs.length === 0) return noneEnded;
    try {
      return await this.#endBy(runs, (all) => this.#context.store.claims.finishNoticed(all));
    } catch (error) {
      if (!isFaultOfRows(error)) throw error;
      const [only] = runs;
      if (runs.length === 1 && only !== undefined) return this.#finish([notStorable({ run: only, error })]);
      // One result that cannot be stored must not keep the others from being stored.
      return new Map(
        (await Promise.all(runs.map((run) => this.#succeedNoticed([run])))).flatMap((ended) => [...ended]),
      );
    }
  }

  /** A run whose handler waits without a callback fails: nothing could end it. */
  async #await(runs: readonly AwaitingRun[]): Promise<string[]> {
    if (runs.length === 0) return [];
    const waiting = await this.#context.store.callbacks.wait(runs);
    if ([...waiting.values()].some((isAnswered) => isAnswered)) this.#deps.onAnswered();
    const others = runs.filter(({ id }) => !waiting.has(id));
    return [...waiting.keys(), ...(await this.end(others.map(notCallable)))];
  }

  async #retry(runs: readonly RetriedRun[]): Promise<string[]> {
    return runs.length === 0 ? [] : this.#wait(await this.#context.store.claims.retry(runs));
  }

  async #wait(waiting: readonly WaitingRun[]): Promise<string[]> {
    await endStopped(
      this.#context,
      waiting.filter((run) => run.isStopped).map((run) => run.id),
    );
    this.#context.wakeups.runsDue(waiting.filter((run) => !run.isStopped));
    return waiting.map((run) => run.id);
  }

  #announce(decided: readonly Decided[], accepted: Accepted, count: number): void {
    const { emit, now, store, wakeups } = this.#context;
    const at = now();
    for (const { run, decision } of decided) {
      const finishedAt = accepted.get(run.id);
      if (finishedAt === undefined) continue;
      const { namespaceId, id: runId, jobId } = run;
      const { task = "", queue = "" } = store.lanes.get(run.lane) ?? {};
      const error = errorOf(decision);
      if (error !== null) wakeups.publish("run.failed", { namespaceId, runId, task, error });
      if (decision.kind === "finish") {
        this.#announceEnd({ run, ended: decision.run, finishedAt: finishedAt ?? at }, at);
        continue;
      }
      const of = { namespaceId, runId, jobId, task, queue };
      if (decision.kind === "retry") emit({ type: "run.retrying", ...of, delayMs: decision.run.delayMs });
      else if (decision.kind === "wait")
        emit({ type: "run.waiting", ...of, timeoutMs: Math.max(0, decision.run.until - at) });
      else emit({ type: "run.snoozed", ...of, delayMs: decision.run.delayMs });
    }
    const refused = count - accepted.size;
    if (refused > 0) emit({ type: "write.fenced", statement: "run.finish", count: refused });
  }

  /** `finishedAt` is the time of the run's row: the event has the duration that callers read from that. */
  #announceEnd({ run, ended, finishedAt }: AnnouncedEnd, at: Instant): void {
    const { emit, store } = this.#context;
    const { queues, durations } = this.#deps.catalog;
    const { namespaceId, id: runId, jobId } = run;
    const { task = "", queue = "" } = store.lanes.get(run.lane) ?? {};
    const { status, startedAt } = ended;
    const durationMs = Math.max(0, finishedAt - Math.floor(startedAt));
    const event = { type: runEndEvents[status], namespaceId, runId, jobId, task, queue, durationMs } as const;
    if (status === "succeeded" && queues.orderOf(namespaceId, queue)?.kind === "sjf") durations.note(event, durationMs);
    emit(event);
    if (run.policy.sla !== undefined && status !== "cancelled") emitLateEnd(run, event, at, emit);
  }
}

/** The runs whose result was accepted; with the time of their end, if they have ended. */
type Accepted = Map<string, Instant | null>;

interface AnnouncedEnd {
  readonly run: ClaimedRun;
  readonly ended: FinishedRun;
  readonly finishedAt: Instant;
}

const noneEnded: EndedClaims = new Map();

/** The runs whose claim is over: a run that waits for a callback keeps its claim. */
function overOf(decided: readonly Decided[]): ClaimedRun[] {
  const over: ClaimedRun[] = [];
  for (const { run, decision } of decided) if (decision.kind !== "wait") over.push(run);
  return over;
}

function errorOf(decision: Decision): RunError | null {
  if (decision.kind === "retry") return decision.run.record.error ?? null;
  return decision.kind === "finish" && decision.run.status === "failed" ? decision.run.error : null;
}

function notCallable({ id, fence, session, startedAt }: AwaitingRun): FinishedRun {
  const message = "The handler waits for a callback that it never opened.";
  const error = named({ type: "CallbackNotOpen", message, retryable: false });
  return { id, fence, session, status: "failed", reason: "handler_error", output: "null", error, startedAt };
}

/** The handler succeeded and its result cannot be stored: the run fails, because another try would end the same way. */
function notStorable({ run, error }: CompletionResult["faults"][number]): FinishedRun {
  const message = `The result cannot be stored: ${error instanceof Error ? error.message : String(error)}`;
  const stored = named({ type: "ResultNotStorable", message, retryable: false });
  return { ...run, status: "failed", reason: "handler_error", output: "null", error: stored };
}
