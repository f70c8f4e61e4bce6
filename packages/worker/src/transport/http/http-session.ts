import type { Completion, DurationMs, NoteAnswer, RunNote } from "@carillon/core";
import type { WorkerHeard, WorkerNoted, WorkerPolled, WorkerRegistered } from "@carillon/client";
import type { WorkerTimers } from "../../runtime/timers.js";
import type { StartedRun, TransportEvents } from "../../runtime/transport.js";
import { ClaimsHeld } from "./claims-held.js";
import type { Beating, Heart } from "./heart/heart.js";
import { Polls } from "./polls.js";
import { type Caller, callerOf } from "./post.js";
import { ResultQueue } from "./result-queue.js";
import { backoffMs, type ServerCalls, ServerRefused, SessionGone } from "./server-calls.js";
import { noteAnswerOf, notesJson } from "./notes.js";
import { type ClaimName, claimsJson, newsOf, type PollNews } from "./wire.js";

export interface HttpSessionOptions extends Caller {
  readonly registered: WorkerRegistered;
  readonly calls: ServerCalls;
  readonly events: TransportEvents;
  readonly timers: WorkerTimers;
  /** From 0 to 1, for the jitter of waits. */
  readonly random: () => number;
  readonly urls: readonly string[];
  readonly heart: Heart;
}

/** Beyond the wait that was asked for: the way there and back, and a statement. */
const answerWithinMs: DurationMs = 10_000;
const mostTries = 3;

interface PollParts {
  readonly waitMs: DurationMs;
  readonly results?: string;
  readonly isDraining?: boolean;
}

/**
 * One registration of a worker. At most two requests are under way beside the heartbeats: a poll that waits for runs, and one
 * that brings results.
 */
export class HttpSession {
  readonly #options: HttpSessionOptions;
  readonly #held = new ClaimsHeld();
  readonly #polls = new Polls();
  readonly #results: ResultQueue;
  readonly #over = new AbortController();
  readonly #heart: Beating;
  #listening: Promise<void> = Promise.resolve();
  #isPaused = false;
  #heardAt: DurationMs;
  #acknowledged = 0;
  #isUnheard = false;
  #isComparing = false;
  #watching: unknown = null;

  constructor(options: HttpSessionOptions) {
    this.#options = options;
    const { timers, registered, urls, heart } = options;
    this.#heardAt = timers.monotonic();
    this.#results = new ResultQueue((json) => this.#sendResults(json));
    this.#heart = heart({
      urls,
      ...callerOf(options),
      path: this.#path("heartbeat"),
      everyMs: registered.heartbeat_ms,
      idleEveryMs: registered.idle_heartbeat_ms ?? registered.heartbeat_ms,
      onLost: () => this.#lose(),
    });
  }

  start(): void {
    this.#listening = this.#listen();
    this.#watchLater();
  }

  async complete(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    const accepted = await this.#results.add(completions);
    this.#drop(completions);
    return accepted;
  }

  /** The server answers the poll that waits; what is on its way comes with either answer. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    try {
      await this.#again(async () => this.#tell(await this.#poll({ waitMs: 0, isDraining: true })));
      await this.#listening;
    } catch (error) {
      if (!(error instanceof SessionGone)) throw error;
      this.#lose();
    }
  }

  async started(runs: readonly StartedRun[]): Promise<void> {
    const started = runs.map(({ runId, fence, agoMs }) => ({ run_id: runId, fence, ago_ms: Math.round(agoMs) }));
    await this.#post<WorkerHeard>("heartbeat", JSON.stringify({ started }));
  }

  async note(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    try {
      const { answers } = await this.#post<WorkerNoted>("note", notesJson(notes));
      return answers.map(noteAnswerOf);
    } catch (error) {
      if (error instanceof SessionGone) this.#lose();
      if (!(error instanceof ServerRefused && error.isFinal)) throw error;
      return notes.map(() => ({ kind: "refused", message: error.message }));
    }
  }

  async giveBack(runs: readonly ClaimName[]): Promise<void> {
    // Nobody else would: as long as the session lasts, the server takes them for this worker's.
    await this.#again(() => this.#post("release", `{"runs":${claimsJson(runs)}}`), Number.POSITIVE_INFINITY);
    this.#drop(runs);
  }

  async close(): Promise<void> {
    const isClosed = this.#over.signal.aborted;
    this.#end();
    if (!isClosed) await this.#again(() => this.#post("close", "{}", new AbortController().signal));
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** One poll after the other. What fails is tried again, later and later, at one node after the other. */
  async #listen(): Promise<void> {
    const { timers, events, random, calls, registered } = this.#options;
    for (let failures = 0; !this.#isPaused && !this.isOver;) {
      try {
        this.#tell(await this.#poll({ waitMs: registered.poll_ms }));
        failures = 0;
      } catch (error) {
        if (this.isOver) return;
        if (error instanceof SessionGone) return this.#lose();
        events.onFailure(error);
        failures++;
        if (failures % calls.nodes === 0)
          await this.#wait(timers, backoffMs(Math.ceil(failures / calls.nodes), random()));
      }
    }
  }

  async #sendResults(json: string): Promise<readonly string[]> {
    try {
      const news = await this.#poll({ waitMs: 0, results: json });
      this.#tell(news);
      return news.refused;
    } catch (error) {
      if (error instanceof SessionGone) this.#lose();
      throw error;
    }
  }

  async #poll({ waitMs, results, isDraining = this.#isPaused }: PollParts): Promise<PollNews> {
    const poll = this.#polls.begin();
    const { number, heard, isToName } = poll;
    const json =
      `{"number":${number},"heard":${heard},"wait_ms":${waitMs}` +
      (isToName ? `,"held":${claimsJson(this.#held)}` : "") +
      (results === undefined ? "" : `,"results":${results}`) +
      (isDraining ? `,"draining":true}` : "}");
    try {
      const timeoutMs = waitMs + answerWithinMs;
      const { calls } = this.#options;
      const polled = await calls.post<WorkerPolled>(this.#path("poll"), json, { timeoutMs, signal: this.#over.signal });
      this.#polls.answered(poll);
      this.#heardAt = this.#options.timers.monotonic();
      this.#heart.polled();
      return newsOf(polled);
    } catch (error) {
      this.#polls.failed(poll);
      throw error;
    }
  }

  #tell({ runs, stops, lost, isToDrain, isToLeave }: PollNews): void {
    if (this.isOver) return;
    const { events } = this.#options;
    const fresh = this.#held.take(runs);
    if (fresh.length > 0) {
      this.#heart.hold(true);
      events.onAssign(fresh);
    }
    if (stops.length > 0) events.onStop(stops);
    this.#tellLost(lost);
    if (isToDrain && !this.#isPaused) events.onDrain(isToLeave);
  }

  #drop(runs: readonly ClaimName[]): void {
    this.#held.drop(runs);
    if (this.#held.size === 0) this.#heart.hold(false);
  }

  /** Somebody else has them: what is still done here is in vain. */
  #tellLost(lost: readonly ClaimName[]): void {
    if (lost.length === 0 || this.isOver) return;
    this.#options.events.onStop(lost.map((claim) => ({ ...claim, reason: "claim_lost" })));
  }

  /** Asks now and then which claims are over, and looks whether the server still hears of this worker. */
  #watchLater(): void {
    const { timers, registered } = this.#options;
    this.#watching = timers.setTimeout(() => {
      this.#lookForSilence();
      if (!this.#isComparing) void this.#compareHeld();
      this.#watchLater();
    }, registered.heartbeat_ms);
  }

  /** Handlers are asked to stop before the server gives their runs away. Who holds nothing is heard of seldom, and has nothing to stop. */
  #lookForSilence(): void {
    const { timers, registered, events } = this.#options;
    const now = timers.monotonic();
    const { acknowledged } = this.#heart;
    if (acknowledged !== this.#acknowledged) this.#heardAt = now;
    this.#acknowledged = acknowledged;
    const isUnheard = this.#held.size > 0 && now - this.#heardAt > (registered.silence_ms * 2) / 3;
    if (isUnheard && !this.#isUnheard) events.onUnheard();
    this.#isUnheard = isUnheard;
  }

  async #compareHeld(): Promise<void> {
    if (this.#held.size === 0) return;
    this.#isComparing = true;
    try {
      const { lost } = await this.#post<WorkerHeard>("heartbeat", `{"held":${claimsJson(this.#held)}}`);
      this.#tellLost(lost.map(({ run_id: runId, fence }) => ({ runId, fence })));
    } catch (error) {
      if (error instanceof SessionGone) this.#lose();
      // The polls tell of whatever else is wrong.
    } finally {
      this.#isComparing = false;
    }
  }

  #lose(): void {
    if (this.isOver) return;
    this.#end();
    this.#options.events.onLost();
  }

  #end(): void {
    this.#over.abort();
    this.#heart.stop();
    this.#options.timers.clearTimeout(this.#watching);
  }

  #path(verb: string): string {
    return `/v1/workers/${this.#options.registered.id}:${verb}`;
  }

  #post<Answer>(verb: string, json: string, signal = this.#over.signal): Promise<Answer> {
    return this.#options.calls.post<Answer>(this.#path(verb), json, { timeoutMs: answerWithinMs, signal });
  }

  async #again(work: () => Promise<unknown>, most = mostTries): Promise<void> {
    const { timers, random } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        return void (await work());
      } catch (error) {
        const isFinal = error instanceof SessionGone || (error instanceof ServerRefused && error.isFinal);
        if (tries >= most || isFinal || (this.isOver && most > mostTries)) throw error;
        await this.#wait(timers, backoffMs(tries, random()));
      }
    }
  }

  #wait(timers: WorkerTimers, delayMs: DurationMs): Promise<void> {
    const { signal } = this.#over;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        timers.clearTimeout(timer);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = timers.setTimeout(end, delayMs);
      signal.addEventListener("abort", end);
    });
  }
}
