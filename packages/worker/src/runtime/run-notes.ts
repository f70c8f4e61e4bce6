import {
  type Assignment,
  type DurationMs,
  type LogLevel,
  type NoteAnswer,
  type NoteContent,
  noteLimits,
  type RunNote,
} from "@carillon/core";
import { RunStoppedError } from "./errors.js";
import { LineBuffer } from "./line-buffer.js";
import type { Notebook } from "./notebook.js";
import type { StopSignal } from "./stop-signal.js";
import type { WorkerTimers } from "./timers.js";

const progressEveryMs: DurationMs = 1_000;
const logEveryMs: DurationMs = 200;

/** What one attempt leaves behind: made when its handler first asks for something of the kind. */
export class RunNotes {
  readonly #assignment: Assignment;
  readonly #stop: StopSignal;
  readonly #notebook: Notebook;
  readonly #timers: WorkerTimers;
  readonly #lines: LineBuffer;
  readonly #underWay = new Set<Promise<NoteAnswer>>();
  #progress: (NoteContent & { kind: "progress" }) | null = null;
  #progressTimer: unknown = null;
  #logTimer: unknown = null;
  #saved: string | null = null;
  #number = 0;
  #isClosed = false;

  constructor(assignment: Assignment, stop: StopSignal, notebook: Notebook, timers: WorkerTimers) {
    this.#assignment = assignment;
    this.#stop = stop;
    this.#notebook = notebook;
    this.#timers = timers;
    this.#lines = new LineBuffer(() => timers.monotonic());
  }

  /** Throws when the run is to stop or is somebody else's, and when what was given cannot be kept. */
  async ask(content: NoteContent, key?: string): Promise<NoteAnswer> {
    const answer = await this.#unlessStopped(this.#send(() => content, sizeOf(content), key));
    if (answer.kind === "lost") throw this.#stop.reason ?? new RunStoppedError("claim_lost");
    if (answer.kind === "refused") throw new RangeError(answer.message);
    return answer;
  }

  /** What this attempt saved, else what an earlier one did; the first has none to ask for. */
  async load(isFirst: boolean): Promise<unknown> {
    let valueJson = this.#saved;
    if (valueJson === null && !isFirst) {
      const answer = await this.ask({ kind: "checkpoint_load" });
      if (answer.kind === "value") valueJson = answer.valueJson;
    }
    return valueJson === null ? undefined : (JSON.parse(valueJson) as unknown);
  }

  async save(valueJson: string): Promise<void> {
    this.#saved = valueJson;
    this.#number += 1;
    await this.ask({ kind: "checkpoint", number: this.#number, valueJson }, this.#key("checkpoint"));
  }

  /** The latest wins; sent at once, then once a second. */
  progress(fraction: number, text: string | null): void {
    if (this.#isClosed) return;
    this.#number += 1;
    this.#progress = { kind: "progress", number: this.#number, fraction, text };
    if (this.#progressTimer === null) this.#sendProgress();
  }

  log(level: LogLevel, message: string, fields: object | undefined): void {
    if (this.#isClosed || !this.#lines.add(level, message, fields)) return;
    if (this.#lines.isFull) this.#sendLines();
    else this.#logTimer ??= this.#timers.setTimeout(() => this.#sendLines(), logEveryMs);
  }

  /** The handler has ended. Resolves when all that it left was answered for; null: it left nothing that is still under way. */
  close(): Promise<unknown> | null {
    this.#isClosed = true;
    this.#timers.clearTimeout(this.#progressTimer);
    this.#lines.end();
    this.#sendLines();
    return this.#underWay.size === 0 ? null : Promise.all(this.#underWay);
  }

  #sendProgress(): void {
    const content = this.#progress;
    this.#progress = null;
    this.#progressTimer = null;
    if (content === null) return;
    void this.#notebook.send({
      note: () => this.#note(content),
      bytes: 2 * noteLimits.progressTextLength,
      key: this.#key("progress"),
    });
    this.#progressTimer = this.#timers.setTimeout(() => this.#sendProgress(), progressEveryMs);
  }

  #sendLines(): void {
    this.#timers.clearTimeout(this.#logTimer);
    this.#logTimer = null;
    for (const chunk of this.#lines.take()) {
      const lines = (): NoteContent => ({ kind: "log", lines: chunk.lines() });
      void this.#send(lines, chunk.bytes);
    }
  }

  #send(content: () => NoteContent, bytes: number, key?: string): Promise<NoteAnswer> {
    const note = (): RunNote => this.#note(content());
    const answer = this.#notebook.send({ note, bytes, ...(key === undefined ? {} : { key }) });
    this.#underWay.add(answer);
    void answer.finally(() => this.#underWay.delete(answer));
    return answer;
  }

  #note(content: NoteContent): RunNote {
    const { runId, fence } = this.#assignment;
    return { ...content, runId, fence };
  }

  #key(kind: string): string {
    return `${kind} ${this.#assignment.runId} ${this.#assignment.fence}`;
  }

  /** A handler that waits for the database is woken by its signal; what it does after that, it may wait for. */
  #unlessStopped(answer: Promise<NoteAnswer>): Promise<NoteAnswer> {
    if (this.#stop.reason !== null) return answer;
    return new Promise((resolve, reject) => {
      const leave = this.#stop.onAbort(reject);
      void answer.then(resolve).finally(leave);
    });
  }
}

function sizeOf(content: NoteContent): number {
  return "valueJson" in content ? content.valueJson.length * 2 : 256;
}
