import type { WorkerHeartbeatAnswer, WorkerStateAnswer, WorkerPollAnswer, WorkerRegistered } from "@carillon/client";
import type { Assignment, Completion, DurationMs, NoteAnswer, RunNote } from "@carillon/core";
import { wait, type WorkerTimers } from "../../runtime/timers.js";
import type { StartedRun, TransportEvents } from "../../runtime/transport.js";
import type { Heartbeat, StartHeartbeat } from "./heartbeat.js";
import { ResultQueue } from "./result-queue.js";
import { backoffMs, type Caller, pickCaller, type ServerCalls, ServerRefused, SessionGone } from "./server-calls.js";
import { type ClaimRef, claimsJson, stateJson, type PollAnswer, toNoteAnswer, toPollAnswer } from "./wire.js";

export interface HttpSessionOptions extends Caller {
  readonly registered: WorkerRegistered;
  readonly calls: ServerCalls;
  readonly events: TransportEvents;
  readonly timers: WorkerTimers;
  /** From 0 to 1, for the jitter of delays. */
  readonly random: () => number;
  readonly urls: readonly string[];
  readonly heartbeat: StartHeartbeat;
}

/** For the round trip and the server's work, beyond the time that a poll may wait. */
const requestTimeoutMs: DurationMs = 10_000;
const maxTries = 3;

interface PollRequest {
  readonly waitMs: DurationMs;
  readonly results?: string;
  readonly isDraining?: boolean;
}

/**
 * One registration of a worker. Beside the heartbeats at most two requests are in flight: a poll that waits for runs, and one that
 * carries results.
 */
export class HttpSession {
  readonly #options: HttpSessionOptions;
  readonly #held = new HeldClaims();
  readonly #polls = new PollTracker();
  readonly #results: ResultQueue;
  readonly #over = new AbortController();
  readonly #heartbeat: Heartbeat;
  #polling: Promise<void> = Promise.resolve();
  #isPaused = false;
  /** When the server last answered a poll or a heartbeat. */
  #answeredAt: DurationMs;
  #acknowledged = 0;
  #isDisconnected = false;
  #isCheckingClaims = false;
  #checkTimer: unknown = null;

  constructor(options: HttpSessionOptions) {
    this.#options = options;
    const { timers, registered, urls, heartbeat } = options;
    this.#answeredAt = timers.monotonic();
    this.#results = new ResultQueue((json) => this.#sendResults(json));
    this.#heartbeat = heartbeat({
      urls,
      ...pickCaller(options),
      path: this.#path("heartbeat"),
      everyMs: registered.heartbeat_ms,
      idleEveryMs: registered.idle_heartbeat_ms ?? registered.heartbeat_ms,
      onLost: () => this.#lose(),
    });
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  start(): void {
    this.#polling = this.#pollUntilPaused();
    this.#scheduleCheck();
  }

  async complete(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    const accepted = await this.#results.add(completions);
    this.#release(completions);
    return accepted;
  }

  /** Makes the server answer the waiting poll. Runs that are still on their way arrive with that answer or with this call's. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    try {
      await this.#retry(async () => this.#deliver(await this.#poll({ waitMs: 0, isDraining: true })));
      await this.#polling;
    } catch (error) {
      if (!(error instanceof SessionGone)) throw error;
      this.#lose();
    }
  }

  async started(runs: readonly StartedRun[]): Promise<void> {
    const started = runs.map(({ runId, fence, agoMs }) => ({ run_id: runId, fence, ago_ms: Math.round(agoMs) }));
    await this.#post<WorkerHeartbeatAnswer>("heartbeat", JSON.stringify({ started }));
  }

  async note(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    try {
      const { answers } = await this.#post<WorkerStateAnswer>("state", stateJson(notes));
      return answers.map(toNoteAnswer);
    } catch (error) {
      if (error instanceof SessionGone) this.#lose();
      if (!(error instanceof ServerRefused && error.isFinal)) throw error;
      return notes.map(() => ({ kind: "refused", message: error.message }));
    }
  }

  async giveBack(claims: readonly ClaimRef[]): Promise<void> {
    // Repeated until it succeeds: while the session lasts, the server keeps these runs for this worker.
    await this.#retry(() => this.#post("release", `{"runs":${claimsJson(claims)}}`), Number.POSITIVE_INFINITY);
    this.#release(claims);
  }

  async close(): Promise<void> {
    const isClosed = this.isOver;
    this.#end();
    if (!isClosed) await this.#retry(() => this.#post("close", "{}", new AbortController().signal));
  }

  /** Sends one poll after the other. After a failure it tries the other nodes, then waits longer and longer. */
  async #pollUntilPaused(): Promise<void> {
    const { timers, events, random, calls, registered } = this.#options;
    for (let failures = 0; !this.#isPaused && !this.isOver;) {
      try {
        this.#deliver(await this.#poll({ waitMs: registered.poll_ms }));
        failures = 0;
      } catch (error) {
        if (this.isOver) return;
        if (error instanceof SessionGone) return this.#lose();
        events.onFailure(error);
        failures++;
        if (failures % calls.nodeCount === 0)
          await this.#wait(timers, backoffMs(Math.ceil(failures / calls.nodeCount), random()));
      }
    }
  }

  async #sendResults(json: string): Promise<readonly string[]> {
    try {
      const answer = await this.#poll({ waitMs: 0, results: json });
      this.#deliver(answer);
      return answer.refused;
    } catch (error) {
      if (error instanceof SessionGone) this.#lose();
      throw error;
    }
  }

  async #poll({ waitMs, results, isDraining = this.#isPaused }: PollRequest): Promise<PollAnswer> {
    const poll = this.#polls.begin();
    const { number, endedUpTo, listsHeld } = poll;
    const json =
      `{"number":${number},"ended_up_to":${endedUpTo},"wait_ms":${waitMs}` +
      (listsHeld ? `,"held":${claimsJson(this.#held)}` : "") +
      (results === undefined ? "" : `,"results":${results}`) +
      (isDraining ? `,"draining":true}` : "}");
    try {
      const timeoutMs = waitMs + requestTimeoutMs;
      const { calls } = this.#options;
      const polled = await calls.post<WorkerPollAnswer>(this.#path("poll"), json, {
        timeoutMs,
        signal: this.#over.signal,
      });
      this.#polls.answered(poll);
      this.#answeredAt = this.#options.timers.monotonic();
      this.#heartbeat.pollAnswered();
      return toPollAnswer(polled);
    } catch (error) {
      this.#polls.failed(poll);
      throw error;
    }
  }

  #deliver({ runs, stops, lost, mustDrain, mustLeave }: PollAnswer): void {
    if (this.isOver) return;
    const { events } = this.#options;
    const newRuns = this.#held.take(runs);
    if (newRuns.length > 0) {
      this.#heartbeat.setHolding(true);
      events.onAssign(newRuns);
    }
    if (stops.length > 0) events.onStop(stops);
    this.#stopLost(lost);
    if (mustDrain && !this.#isPaused) events.onDrain(mustLeave);
  }

  #release(claims: readonly ClaimRef[]): void {
    this.#held.release(claims);
    if (this.#held.size === 0) this.#heartbeat.setHolding(false);
  }

  /** Other workers have these runs: the results of this one would be refused. */
  #stopLost(lost: readonly ClaimRef[]): void {
    if (lost.length === 0 || this.isOver) return;
    this.#options.events.onStop(lost.map((claim) => ({ ...claim, reason: "claim_lost" })));
  }

  /** Checks at intervals which claims are over, and whether the server still answers. */
  #scheduleCheck(): void {
    const { timers, registered } = this.#options;
    this.#checkTimer = timers.setTimeout(() => {
      this.#checkConnection();
      if (!this.#isCheckingClaims) void this.#checkClaims();
      this.#scheduleCheck();
    }, registered.heartbeat_ms);
  }

  /**
   * Asks handlers to stop before the server gives their runs to others. A worker without runs sends heartbeats rarely and has nothing to
   * stop.
   */
  #checkConnection(): void {
    const { timers, registered, events } = this.#options;
    const now = timers.monotonic();
    const { acknowledged } = this.#heartbeat;
    if (acknowledged !== this.#acknowledged) this.#answeredAt = now;
    this.#acknowledged = acknowledged;
    const isDisconnected = this.#held.size > 0 && now - this.#answeredAt > (registered.timeout_ms * 2) / 3;
    if (isDisconnected && !this.#isDisconnected) events.onDisconnected();
    this.#isDisconnected = isDisconnected;
  }

  async #checkClaims(): Promise<void> {
    if (this.#held.size === 0) return;
    this.#isCheckingClaims = true;
    try {
      const { lost } = await this.#post<WorkerHeartbeatAnswer>("heartbeat", `{"held":${claimsJson(this.#held)}}`);
      this.#stopLost(lost.map(({ run_id: runId, fence }) => ({ runId, fence })));
    } catch (error) {
      if (error instanceof SessionGone) this.#lose();
      // Other errors are reported by the polls.
    } finally {
      this.#isCheckingClaims = false;
    }
  }

  #lose(): void {
    if (this.isOver) return;
    this.#end();
    this.#options.events.onLost();
  }

  #end(): void {
    this.#over.abort();
    this.#heartbeat.stop();
    this.#options.timers.clearTimeout(this.#checkTimer);
  }

  #path(verb: string): string {
    return `/v1/workers/${this.#options.registered.id}:${verb}`;
  }

  #post<Answer>(verb: string, json: string, signal = this.#over.signal): Promise<Answer> {
    return this.#options.calls.post<Answer>(this.#path(verb), json, { timeoutMs: requestTimeoutMs, signal });
  }

  async #retry(work: () => Promise<unknown>, limit = maxTries): Promise<void> {
    const { timers, random } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        return void (await work());
      } catch (error) {
        const isFinal = error instanceof SessionGone || (error instanceof ServerRefused && error.isFinal);
        if (tries >= limit || isFinal || (this.isOver && limit > maxTries)) throw error;
        await this.#wait(timers, backoffMs(tries, random()));
      }
    }
  }

  /** Ends early when the session is over. */
  async #wait(timers: WorkerTimers, delayMs: DurationMs): Promise<void> {
    await wait(delayMs, this.#over.signal, timers).catch(() => undefined);
  }
}

/**
 * Numbers the polls of a session and tracks which were answered. After a poll that failed, the next polls list all held claims until
 * one of them is answered: the server then repeats the assignments and stop requests of the failed answer.
 */
export class PollTracker {
  readonly #inFlight = new Set<number>();
  #lastNumber = 0;
  #failedUpTo = 0;
  /** All polls up to this one were over when the server learned the held claims. */
  #listedUpTo = 0;

  begin(): { readonly number: number; readonly endedUpTo: number; readonly listsHeld: boolean } {
    const number = ++this.#lastNumber;
    this.#inFlight.add(number);
    const endedUpTo = Math.min(...this.#inFlight) - 1;
    return { number, endedUpTo, listsHeld: this.#failedUpTo > this.#listedUpTo };
  }

  answered({ number, endedUpTo, listsHeld }: ReturnType<PollTracker["begin"]>): void {
    this.#inFlight.delete(number);
    if (listsHeld) this.#listedUpTo = Math.max(this.#listedUpTo, endedUpTo);
  }

  failed({ number }: ReturnType<PollTracker["begin"]>): void {
    this.#inFlight.delete(number);
    this.#failedUpTo = Math.max(this.#failedUpTo, number);
  }
}

/** How many ended claims are remembered, in case an answer that was in flight repeats one. */
const maxEnded = 50_000;

/** The claims that this worker holds. Ignores a claim that the server sends twice. */
export class HeldClaims {
  /** Queued, active, or ended with a result that is not answered yet: fences by run. */
  readonly #held = new Map<string, number>();
  readonly #ended = new Map<string, number>();

  get size(): number {
    return this.#held.size;
  }

  /** Adds the claims and returns those that were unknown. */
  take(runs: readonly Assignment[]): Assignment[] {
    return runs.filter(({ runId, fence }) => {
      if (this.#held.get(runId) === fence || this.#ended.get(runId) === fence) return false;
      this.#held.set(runId, fence);
      return true;
    });
  }

  /** The claims have ended: their results were answered, or they were given back. */
  release(claims: readonly ClaimRef[]): void {
    for (const { runId, fence } of claims) {
      if (this.#held.get(runId) === fence) this.#held.delete(runId);
      this.#ended.delete(runId);
      this.#ended.set(runId, fence);
    }
    for (const runId of this.#ended.keys()) {
      if (this.#ended.size <= maxEnded) break;
      this.#ended.delete(runId);
    }
  }

  *[Symbol.iterator](): Iterator<ClaimRef> {
    for (const [runId, fence] of this.#held) yield { runId, fence };
  }
}
