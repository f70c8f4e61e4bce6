import type { DurationMs, NoteAnswer, RunNote } from "@carillon/core";
import type { WorkerTimers } from "./timers.js";
import type { Transport } from "./transport.js";

export interface NotebookOptions {
  readonly transport: Pick<Transport, "note" | "isSessionLost">;
  readonly timers: WorkerTimers;
  /** The claim of a note is over: its run is somebody else's. */
  readonly onLost: (note: RunNote) => void;
  readonly onFailure: (error: unknown) => void;
}

/** What is to be sent, made when it is: how long ago something was is known only then. */
export interface Page {
  readonly note: () => RunNote;
  readonly bytes: number;
  /** One that waits under the same key is replaced: both are answered as the later one. */
  readonly key?: string;
}

interface Entry {
  page: Page;
  readonly answer: Promise<NoteAnswer>;
  readonly resolve: (answer: NoteAnswer) => void;
}

const pauseAfterErrorMs: DurationMs = 500;
const mostNotes = 200;
/** A call fits into a request of the HTTP transport. */
const mostBytes = 524_288;
const lost: NoteAnswer = { kind: "lost" };

/**
 * Sends what handlers leave behind in batches: what comes in one turn goes together, and one call is under way at a time, so that
 * notes arrive in their order. A note is kept until somebody answers for it.
 */
export class Notebook {
  readonly #options: NotebookOptions;
  readonly #byKey = new Map<string, Entry>();
  #pending: Entry[] = [];
  #isBusy = false;
  #epoch = 0;

  constructor(options: NotebookOptions) {
    this.#options = options;
  }

  /** Never rejects: what cannot be sent is tried again until the session is lost. */
  send(page: Page): Promise<NoteAnswer> {
    const twin = page.key === undefined ? undefined : this.#byKey.get(page.key);
    if (twin !== undefined) {
      twin.page = page;
      return twin.answer;
    }
    const entry = newEntry(page);
    if (page.key !== undefined) this.#byKey.set(page.key, entry);
    this.#pending.push(entry);
    this.#sendSoon();
    return entry.answer;
  }

  /** The session is gone: nobody takes them. */
  forget(): void {
    this.#epoch++;
    this.#byKey.clear();
    for (const entry of this.#pending.splice(0)) entry.resolve(lost);
  }

  #sendSoon(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#options.timers.soon(() => void this.#send());
  }

  async #send(): Promise<void> {
    const { transport, timers, onFailure } = this.#options;
    const epoch = this.#epoch;
    const batch = this.#nextBatch();
    try {
      if (batch.length > 0) {
        const notes = batch.map((entry) => entry.page.note());
        this.#settle(batch, notes, await transport.note(notes));
      }
    } catch (error) {
      if (epoch !== this.#epoch || transport.isSessionLost(error)) for (const entry of batch) entry.resolve(lost);
      else {
        onFailure(error);
        this.#pending = [...batch, ...this.#pending];
        await new Promise<void>((resolve) => void timers.setTimeout(resolve, pauseAfterErrorMs));
      }
    }
    this.#isBusy = false;
    if (this.#pending.length > 0) this.#sendSoon();
  }

  #nextBatch(): Entry[] {
    const batch: Entry[] = [];
    let bytes = 0;
    for (const entry of this.#pending) {
      bytes += entry.page.bytes;
      if (batch.length === mostNotes || (batch.length > 0 && bytes > mostBytes)) break;
      batch.push(entry);
      if (entry.page.key !== undefined) this.#byKey.delete(entry.page.key);
    }
    this.#pending = this.#pending.slice(batch.length);
    return batch;
  }

  #settle(batch: readonly Entry[], notes: readonly RunNote[], answers: readonly NoteAnswer[]): void {
    batch.forEach((entry, index) => {
      const note = notes[index];
      const answer = answers[index] ?? { kind: "refused", message: "the server did not answer it" };
      if (answer.kind === "lost" && note !== undefined) this.#options.onLost(note);
      entry.resolve(answer);
    });
  }
}

function newEntry(page: Page): Entry {
  let resolve: Entry["resolve"] = () => undefined;
  const answer = new Promise<NoteAnswer>((settle) => (resolve = settle));
  return { page, answer, resolve };
}
