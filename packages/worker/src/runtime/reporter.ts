import type { Assignment, Completion, DurationMs, NoteAnswer, RunNote } from "@carillon/core";
import type { WorkerTimers } from "./timers.js";
import type { Transport } from "./transport.js";

export interface ResultReporterOptions {
  readonly transport: Pick<Transport, "complete" | "isSessionLost">;
  readonly timers: WorkerTimers;
  readonly onRefused: (runId: string) => void;
  readonly onFailure: (error: unknown) => void;
}

const retryDelayMs: DurationMs = 500;
const maxInFlight = 4;

/** Sends results in batches: those of one turn of the event loop go together. Keeps each result until the engine answers it. */
export class ResultReporter {
  readonly #options: ResultReporterOptions;
  #pending: Completion[] = [];
  #inFlight = 0;
  #isScheduled = false;
  #isBackingOff = false;
  #onIdle: (() => void)[] = [];

  constructor(options: ResultReporterOptions) {
    this.#options = options;
  }

  add(completion: Completion): void {
    this.#pending.push(completion);
    this.#schedule();
  }

  /** The session is lost: the engine accepts none of the pending results. */
  discard(): void {
    this.#pending = [];
    this.#resolveIdle();
  }

  /** Resolves when every result is answered or discarded. */
  async idle(): Promise<void> {
    if (this.#pending.length + this.#inFlight > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isBackingOff || this.#inFlight >= maxInFlight) return;
    this.#isScheduled = true;
    this.#options.timers.soon(() => {
      this.#isScheduled = false;
      if (this.#pending.length > 0) void this.#send();
    });
  }

  async #send(): Promise<void> {
    const { transport, onRefused } = this.#options;
    const batch = this.#pending;
    this.#pending = [];
    this.#inFlight++;
    try {
      const accepted = await transport.complete(batch);
      if (accepted.size < batch.length) for (const { runId } of batch) if (!accepted.has(runId)) onRefused(runId);
    } catch (error) {
      this.#retryLater(batch, error);
    } finally {
      this.#inFlight--;
    }
    if (this.#pending.length > 0) this.#schedule();
    else this.#resolveIdle();
  }

  #retryLater(batch: readonly Completion[], error: unknown): void {
    const { transport, timers, onFailure } = this.#options;
    if (transport.isSessionLost(error)) return;
    onFailure(error);
    this.#pending = [...batch, ...this.#pending];
    this.#isBackingOff = true;
    timers.setTimeout(() => {
      this.#isBackingOff = false;
      this.#schedule();
    }, retryDelayMs);
  }

  #resolveIdle(): void {
    if (this.#pending.length + this.#inFlight === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

interface ReportableRun {
  readonly assignment: Assignment;
  readonly startedAt: DurationMs;
  /** The engine was informed that it has started. */
  isStartReported: boolean;
}

export interface StartReporterOptions {
  readonly transport: Pick<Transport, "started">;
  readonly timers: WorkerTimers;
  readonly activeRuns: () => Iterable<ReportableRun>;
  readonly onFailure: (error: unknown) => void;
}

/** The start of a run is reported when the run takes longer than this. */
const startReportIntervalMs: DurationMs = 3_000;

/** Reports at intervals which runs have started: a lost worker counts as a lost attempt only for those. */
export class StartReporter {
  readonly #options: StartReporterOptions;
  #timer: unknown = null;
  #isStopped = false;

  constructor(options: StartReporterOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#isStopped) return;
    const report = (): void => void this.#report().finally(() => this.start());
    this.#timer = this.#options.timers.setTimeout(report, startReportIntervalMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.timers.clearTimeout(this.#timer);
  }

  async #report(): Promise<void> {
    const { transport, timers, activeRuns, onFailure } = this.#options;
    const unreported = [...activeRuns()].filter((run) => !run.isStartReported);
    if (unreported.length === 0) return;
    const now = timers.monotonic();
    try {
      await transport.started(
        unreported.map(({ assignment: { runId, fence }, startedAt }) => ({ runId, fence, agoMs: now - startedAt })),
      );
      for (const run of unreported) run.isStartReported = true;
    } catch (error) {
      onFailure(error);
    }
  }
}

export interface StateSenderOptions {
  readonly transport: Pick<Transport, "note" | "isSessionLost">;
  readonly timers: WorkerTimers;
  /** The claim of a note is over: another worker may have its run. */
  readonly onLost: (note: RunNote) => void;
  readonly onFailure: (error: unknown) => void;
}

/** A note to send. It is built when it is sent, because the age of log lines is known only then. */
export interface StateMessage {
  readonly note: () => RunNote;
  readonly bytes: number;
  /** Replaces a queued message of the same key; both get the answer of the later one. */
  readonly key?: string;
}

interface Entry {
  message: StateMessage;
  readonly answer: Promise<NoteAnswer>;
  readonly resolve: (answer: NoteAnswer) => void;
}

const maxNotes = 200;
/** One call fits into a request of the HTTP transport. */
const maxBytes = 524_288;
const lost: NoteAnswer = { kind: "lost" };

/**
 * Sends the state of handlers in batches: messages of one turn of the event loop go together, and one call is in flight at a time, so
 * that notes arrive in order. Keeps each message until the engine answers it.
 */
export class StateSender {
  readonly #options: StateSenderOptions;
  readonly #byKey = new Map<string, Entry>();
  #pending: Entry[] = [];
  #isBusy = false;
  /** Grows with every lost session. */
  #epoch = 0;

  constructor(options: StateSenderOptions) {
    this.#options = options;
  }

  /** Never rejects: a failed call is repeated until the session is lost. */
  send(message: StateMessage): Promise<NoteAnswer> {
    const queued = message.key === undefined ? undefined : this.#byKey.get(message.key);
    if (queued !== undefined) {
      queued.message = message;
      return queued.answer;
    }
    const entry = newEntry(message);
    if (message.key !== undefined) this.#byKey.set(message.key, entry);
    this.#pending.push(entry);
    this.#schedule();
    return entry.answer;
  }

  /** The session is lost: answers every pending message with `lost`. */
  discard(): void {
    this.#epoch++;
    this.#byKey.clear();
    for (const entry of this.#pending.splice(0)) entry.resolve(lost);
  }

  #schedule(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#options.timers.soon(() => void this.#send());
  }

  async #send(): Promise<void> {
    const { transport, timers, onFailure } = this.#options;
    const epoch = this.#epoch;
    const batch = this.#takeBatch();
    try {
      if (batch.length > 0) {
        const notes = batch.map((entry) => entry.message.note());
        this.#resolve(batch, notes, await transport.note(notes));
      }
    } catch (error) {
      if (epoch !== this.#epoch || transport.isSessionLost(error)) for (const entry of batch) entry.resolve(lost);
      else {
        onFailure(error);
        this.#pending = [...batch, ...this.#pending];
        await new Promise<void>((resolve) => void timers.setTimeout(resolve, retryDelayMs));
      }
    }
    this.#isBusy = false;
    if (this.#pending.length > 0) this.#schedule();
  }

  #takeBatch(): Entry[] {
    const batch: Entry[] = [];
    let bytes = 0;
    for (const entry of this.#pending) {
      bytes += entry.message.bytes;
      if (batch.length === maxNotes || (batch.length > 0 && bytes > maxBytes)) break;
      batch.push(entry);
      if (entry.message.key !== undefined) this.#byKey.delete(entry.message.key);
    }
    this.#pending = this.#pending.slice(batch.length);
    return batch;
  }

  #resolve(batch: readonly Entry[], notes: readonly RunNote[], answers: readonly NoteAnswer[]): void {
    batch.forEach((entry, index) => {
      const note = notes[index];
      const answer = answers[index] ?? { kind: "refused", message: "the server did not answer it" };
      if (answer.kind === "lost" && note !== undefined) this.#options.onLost(note);
      entry.resolve(answer);
    });
  }
}

function newEntry(message: StateMessage): Entry {
  let resolve: Entry["resolve"] = () => undefined;
  const answer = new Promise<NoteAnswer>((settle) => (resolve = settle));
  return { message, answer, resolve };
}
