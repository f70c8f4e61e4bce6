import { type Clock, type Completion, type DurationMs, type Instant, named, type RunError } from "@carillon/core";
import type { NodeBreakers } from "../../breakers/node-breakers.js";
import type { OnEngineEvent, FailedRun } from "../../events.js";
import { emitLateEnd } from "../../runs/run-events.js";
import type { RankRun } from "../../catalog/rank-run.js";
import {
  type AwaitingRun,
  type CallbackStore,
  type ClaimedRun,
  type ClaimStore,
  type DeferredRun,
  type FinishedRun,
  freedJobs,
  isFaultOfRows,
  isStrict,
  type LaneStore,
  type Queued,
  type Random,
  type RetriedRun,
  type WaitingRun,
  type TaskOfQueue,
} from "@carillon/store";
import { type Decision, decideCompletion, decideSuccess, type Ended } from "./decide-completion.js";
import type { Exchanger, Settled } from "../claims/claim-loop.js";
import type { WorkerSession } from "../sessions/worker-session.js";

export interface ResultsOptions {
  readonly claims: Pick<ClaimStore, "finish" | "finishNoticed" | "retry" | "defer">;
  readonly callbacks: Pick<CallbackStore, "wait">;
  readonly exchanger: Pick<Exchanger, "finish" | "wake">;
  /** Says whether a run that failed is to wait for its breaker. */
  readonly breakers?: Pick<NodeBreakers, "judge">;
  readonly lanes: Pick<LaneStore, "get">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly now: () => Instant;
  readonly random: Random;
  readonly rank: RankRun;
  readonly onRetry: (runs: readonly WaitingRun[]) => void;
  readonly onFreed: (jobIds: readonly string[]) => void;
  readonly onStopped: (runIds: readonly string[]) => Promise<void>;
  /** Runs of strict queues are over: the next may begin. */
  readonly onSlotFree: (runs: readonly Queued[]) => void;
  /** Runs that held limits are over, for now or for good. */
  readonly onReleased?: (runIds: readonly string[]) => void;
  /** Callbacks of runs came before these began to wait. */
  readonly onAnswered: () => void;
  /** A run succeeded, and took so long. */
  readonly onDuration: (run: TaskOfQueue, durationMs: DurationMs) => void;
  /** Whether somebody is to be told that the run succeeded. */
  readonly isToldOf: (run: ClaimedRun) => boolean;
  /** An attempt failed, whatever follows. */
  readonly onFailed: (run: FailedRun) => void;
  readonly onEvent: OnEngineEvent;
}

interface Decided {
  readonly run: ClaimedRun;
  readonly decision: Decision;
}

/** Takes what workers say of their runs to the store. */
export class Results {
  readonly #options: ResultsOptions;

  constructor(options: ResultsOptions) {
    this.#options = options;
  }

  /** Answers the ids that were accepted. Throws if nothing is known of the outcome: then it may be asked again. */
  async take(session: WorkerSession, completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    const decided = this.#decide(session, completions);
    const accepted = await this.#settle(session, decided, completions.length);
    this.freeSlots(overOf(decided));
    return accepted;
  }

  /** The same of runs that no session holds. */
  async takeOf(ended: readonly Pick<Ended, "run" | "completion">[]): Promise<ReadonlySet<string>> {
    if (ended.length === 0) return new Set();
    const decided = ended.map(({ run, completion }) => this.#decideOne(run, completion, this.#options.now()));
    const accepted = await this.#write(decided);
    this.#announce(decided, accepted, decided.length);
    this.freeSlots(overOf(decided));
    return accepted;
  }

  async #settle(session: WorkerSession, decided: readonly Decided[], asked: number): Promise<ReadonlySet<string>> {
    const slots = session.weigh(decided.map(({ run }) => run));
    session.ending += slots;
    session.count(asked, this.#options.clock.monotonic());
    try {
      const accepted = await this.#write(decided);
      this.#announce(decided, accepted, asked);
      for (const { run } of decided) session.letGo(run);
      return accepted;
    } finally {
      session.ending -= slots;
    }
  }

  /** Whoever was accepted: the claims are over, and the next of their queues and limits may begin. */
  freeSlots(runs: readonly ClaimedRun[]): void {
    const { lanes, onSlotFree, onReleased } = this.#options;
    const limited: string[] = [];
    const over: Queued[] = [];
    for (const { id, lane, rank } of runs) {
      const kind = lanes.get(lane)?.kind ?? "plain";
      if (kind === "admitted") limited.push(id);
      else if (isStrict(kind)) over.push({ id, lane, rank });
    }
    if (limited.length > 0) onReleased?.(limited);
    if (over.length > 0) onSlotFree(over);
  }

  /** Ends runs in whatever way; answers the ids that were accepted. */
  async end(runs: readonly FinishedRun[]): Promise<string[]> {
    return this.#end(runs, (all) => this.#options.claims.finish(all));
  }

  async #end(runs: readonly FinishedRun[], finish: ClaimStore["finish"]): Promise<string[]> {
    if (runs.length === 0) return [];
    const ended = await finish(runs);
    this.#options.onFreed(freedJobs(ended));
    return [...ended.keys()];
  }

  /** Sends runs back to wait for a time; answers the ids that were accepted. */
  async defer(runs: readonly DeferredRun[]): Promise<string[]> {
    return runs.length === 0 ? [] : this.#wait(await this.#options.claims.defer(runs));
  }

  #decide(session: WorkerSession, completions: readonly Completion[]): Decided[] {
    const at = this.#options.now();
    const decided: Decided[] = [];
    for (const completion of completions) {
      const run = session.held.get(completion.runId);
      if (run === undefined || run.fence !== completion.fence) continue;
      decided.push(this.#decideOne(run, completion, at));
    }
    return decided;
  }

  #decideOne(run: ClaimedRun, completion: Completion, now: Instant): Decided {
    const waitsMs = run.policy.breaker === undefined ? null : (this.#options.breakers?.judge(run, completion) ?? null);
    if (waitsMs !== null && (run.deadline === null || now + waitsMs < run.deadline)) {
      const { id, fence, session } = run;
      const rank = this.#rank(run, now + waitsMs);
      const parked = { id, fence, session, delayMs: waitsMs, rank, reason: "breaker_open" };
      return { run, decision: { kind: "defer", run: parked } };
    }
    const { outcome } = completion;
    if (outcome.kind === "succeeded")
      return { run, decision: decideSuccess(run, outcome.outputJson, now - completion.startedAgoMs) };
    const random = this.#options.random();
    const rankAt = (dueMs: Instant): number => this.#rank(run, dueMs);
    return { run, decision: decideCompletion({ run, completion, now, random, rankAt }) };
  }

  #rank({ namespaceId, lane, priority, deadline }: ClaimedRun, dueMs: Instant): number {
    const { queue = "", task = "" } = this.#options.lanes.get(lane) ?? {};
    return this.#options.rank({ namespaceId, queue, task, dueMs, priority, deadlineMs: deadline ?? undefined });
  }

  async #write(decided: readonly Decided[]): Promise<Set<string>> {
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
        (this.#options.isToldOf(run) ? noticed : succeeded).push(decision.run);
      else ended.push(decision.run);
    }
    const written = Promise.all([
      this.#succeed(succeeded),
      this.#succeedAloud(noticed),
      this.end(ended),
      this.#retry(again),
      this.defer(deferred),
      this.#await(awaiting),
    ]);
    // The others leave their slots too, without a word to whoever claims.
    if (succeeded.length < decided.length) this.#options.exchanger.wake();
    const [accepted, ...others] = await written;
    for (const ids of others) for (const id of ids) accepted.add(id);
    return accepted;
  }

  async #succeed(runs: readonly FinishedRun[]): Promise<Set<string>> {
    if (runs.length === 0) return new Set();
    const { accepted, faults } = await this.#options.exchanger.finish(runs);
    if (faults.length === 0) return accepted as Set<string>;
    return new Set([...accepted, ...(await this.end(faults.map(notStorable)))]);
  }

  async #succeedAloud(runs: readonly FinishedRun[]): Promise<string[]> {
    if (runs.length === 0) return [];
    try {
      return await this.#end(runs, (all) => this.#options.claims.finishNoticed(all));
    } catch (error) {
      if (!isFaultOfRows(error)) throw error;
      const [only] = runs;
      if (runs.length === 1 && only !== undefined) return this.end([notStorable({ run: only, error })]);
      // One result that cannot be stored keeps none of the others.
      return (await Promise.all(runs.map((run) => this.#succeedAloud([run])))).flat();
    }
  }

  /** One that nobody can end has failed. */
  async #await(runs: readonly AwaitingRun[]): Promise<string[]> {
    if (runs.length === 0) return [];
    const waiting = await this.#options.callbacks.wait(runs);
    if ([...waiting.values()].some((isAnswered) => isAnswered)) this.#options.onAnswered();
    const others = runs.filter(({ id }) => !waiting.has(id));
    return [...waiting.keys(), ...(await this.end(others.map(notCallable)))];
  }

  async #retry(runs: readonly RetriedRun[]): Promise<string[]> {
    return runs.length === 0 ? [] : this.#wait(await this.#options.claims.retry(runs));
  }

  async #wait(waiting: readonly WaitingRun[]): Promise<string[]> {
    await this.#options.onStopped(waiting.filter((run) => run.isStopped).map((run) => run.id));
    this.#options.onRetry(waiting.filter((run) => !run.isStopped));
    return waiting.map((run) => run.id);
  }

  #announce(decided: readonly Decided[], accepted: ReadonlySet<string>, count: number): void {
    const { onEvent, onFailed, lanes, now } = this.#options;
    const at = now();
    for (const { run, decision } of decided) {
      if (!accepted.has(run.id)) continue;
      const { namespaceId, id: runId, jobId } = run;
      const { task = "", queue = "" } = lanes.get(run.lane) ?? {};
      const error = errorOf(decision);
      if (error !== null) onFailed({ namespaceId, runId, task, error });
      if (decision.kind === "finish") {
        this.#announceEnd(run, decision.run, at);
        continue;
      }
      const of = { namespaceId, runId, jobId, task, queue };
      if (decision.kind === "retry") onEvent({ type: "run.retried", ...of, delayMs: decision.run.delayMs });
      else if (decision.kind === "wait")
        onEvent({ type: "run.waiting", ...of, delayMs: Math.max(0, decision.run.until - at) });
      else onEvent({ type: "run.snoozed", ...of, delayMs: decision.run.delayMs });
    }
    const refused = count - accepted.size;
    if (refused > 0) onEvent({ type: "write.refused", statement: "run.finish", count: refused });
  }

  #announceEnd(run: ClaimedRun, ended: FinishedRun, at: Instant): void {
    const { onEvent, onDuration, lanes } = this.#options;
    const { namespaceId, id: runId, jobId } = run;
    const { task = "", queue = "" } = lanes.get(run.lane) ?? {};
    const { status, startedAt } = ended;
    const durationMs = Math.max(0, at - startedAt);
    const event = { type: "run.finished", namespaceId, runId, jobId, task, queue, status, durationMs } as const;
    if (status === "succeeded") onDuration(event, durationMs);
    onEvent(event);
    if (run.policy.sla !== undefined && status !== "cancelled") emitLateEnd(run, event, at, onEvent);
  }
}

/** Those whose claim is over: one that waits for a callback goes on under it. */
function overOf(decided: readonly Decided[]): ClaimedRun[] {
  const over: ClaimedRun[] = [];
  for (const { run, decision } of decided) if (decision.kind !== "wait") over.push(run);
  return over;
}

function errorOf(decision: Decision): RunError | null {
  if (decision.kind === "retry") return decision.run.record.error ?? null;
  return decision.kind === "finish" && decision.run.status === "failed" ? decision.run.error : null;
}

function notCallable({ id, fence, session, begunAt: startedAt }: AwaitingRun): FinishedRun {
  const message = "the handler waits for a callback that it never asked for";
  const error = named({ type: "CallbackNotOpen", message, retryable: false });
  return { id, fence, session, status: "failed", reason: "handler_error", output: "null", error, startedAt };
}

/** The work was done, and its result cannot be stored: the run failed, and another try would end the same way. */
function notStorable({ run, error }: Settled["faults"][number]): FinishedRun {
  const message = `the result cannot be stored: ${error instanceof Error ? error.message : String(error)}`;
  const stored = named({ type: "ResultNotStorable", message, retryable: false });
  return { ...run, status: "failed", reason: "handler_error", output: "null", error: stored };
}
