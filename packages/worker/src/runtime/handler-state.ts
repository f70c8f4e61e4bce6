import { checkOptions, option } from "@carillon/contract/check";
import {
  type Assignment,
  type DurationMs,
  type LogLevel,
  type LogLine,
  type NoteAnswer,
  type NoteContent,
  noteLimits,
  type RunNote,
} from "@carillon/core";
import { NonRetryableError, RunStoppedError, SnoozeError } from "./errors.js";
import type { StateSender } from "./reporter.js";
import type { StopSignal } from "./stop-signal.js";
import type { OnceOptions, Work } from "./task.js";
import type { WorkerTimers } from "./timers.js";

const progressIntervalMs: DurationMs = 1_000;
const logIntervalMs: DurationMs = 200;

/** The checkpoint, progress and log of one attempt, and what its handler loads. Created when the handler first uses one of them. */
export class HandlerState {
  readonly #assignment: Assignment;
  readonly #stop: StopSignal;
  readonly #sender: StateSender;
  readonly #timers: WorkerTimers;
  readonly #log: LogBuffer;
  readonly #unanswered = new Set<Promise<NoteAnswer>>();
  #progress: (NoteContent & { kind: "progress" }) | null = null;
  #progressTimer: unknown = null;
  #logTimer: unknown = null;
  #savedJson: string | null = null;
  /** Orders checkpoints and progress within the attempt. */
  #number = 0;
  #isClosed = false;

  constructor(assignment: Assignment, stop: StopSignal, sender: StateSender, timers: WorkerTimers) {
    this.#assignment = assignment;
    this.#stop = stop;
    this.#sender = sender;
    this.#timers = timers;
    this.#log = new LogBuffer(() => timers.monotonic());
  }

  /** Throws when the run must stop, when its claim is lost, and when the engine refuses the value. */
  async request(content: NoteContent, key?: string): Promise<NoteAnswer> {
    const answer = await this.#unlessStopped(this.#send(() => content, sizeOf(content), key));
    if (answer.kind === "lost") throw this.#stop.reason ?? new RunStoppedError("claim_lost");
    if (answer.kind === "refused") throw new RangeError(answer.message);
    return answer;
  }

  /** The checkpoint of this attempt, else of an earlier one; the first attempt has no earlier one to load. */
  async loadCheckpoint(isFirst: boolean): Promise<unknown> {
    let valueJson = this.#savedJson;
    if (valueJson === null && !isFirst) {
      const answer = await this.request({ kind: "checkpoint_load" });
      if (answer.kind === "value") valueJson = answer.valueJson;
    }
    return valueJson === null ? undefined : (JSON.parse(valueJson) as unknown);
  }

  async saveCheckpoint(value: unknown): Promise<void> {
    const valueJson = toStateJson("a checkpoint", value);
    this.#savedJson = valueJson;
    this.#number += 1;
    await this.request({ kind: "checkpoint", number: this.#number, valueJson }, this.#key("checkpoint"));
  }

  /** Sends the first value at once, then the latest one once a second. */
  progress(fraction: number, text: string | null): void {
    if (this.#isClosed) return;
    this.#number += 1;
    this.#progress = { kind: "progress", number: this.#number, fraction, text };
    if (this.#progressTimer === null) this.#sendProgress();
  }

  log(level: LogLevel, message: string, fields: object | undefined): void {
    if (this.#isClosed || !this.#log.add(level, message, fields)) return;
    if (this.#log.isFull) this.#sendLog();
    else this.#logTimer ??= this.#timers.setTimeout(() => this.#sendLog(), logIntervalMs);
  }

  /** The handler has ended. Resolves when everything it left is answered; null if nothing is unanswered. */
  close(): Promise<unknown> | null {
    this.#isClosed = true;
    this.#timers.clearTimeout(this.#progressTimer);
    this.#log.end();
    this.#sendLog();
    return this.#unanswered.size === 0 ? null : Promise.all(this.#unanswered);
  }

  #sendProgress(): void {
    const content = this.#progress;
    this.#progress = null;
    this.#progressTimer = null;
    if (content === null) return;
    void this.#sender.send({
      note: () => this.#toNote(content),
      bytes: 2 * noteLimits.progressTextLength,
      key: this.#key("progress"),
    });
    this.#progressTimer = this.#timers.setTimeout(() => this.#sendProgress(), progressIntervalMs);
  }

  #sendLog(): void {
    this.#timers.clearTimeout(this.#logTimer);
    this.#logTimer = null;
    for (const chunk of this.#log.takeChunks()) {
      void this.#send(() => ({ kind: "log", lines: chunk.lines() }), chunk.bytes);
    }
  }

  #send(content: () => NoteContent, bytes: number, key?: string): Promise<NoteAnswer> {
    const note = (): RunNote => this.#toNote(content());
    const answer = this.#sender.send({ note, bytes, ...(key === undefined ? {} : { key }) });
    this.#unanswered.add(answer);
    void answer.finally(() => this.#unanswered.delete(answer));
    return answer;
  }

  #toNote(content: NoteContent): RunNote {
    const { runId, fence } = this.#assignment;
    return { ...content, runId, fence };
  }

  #key(kind: string): string {
    return `${kind} ${this.#assignment.runId} ${this.#assignment.fence}`;
  }

  /** The signal interrupts a handler that waits for an answer. Requests that it makes after its signal are not interrupted. */
  #unlessStopped(answer: Promise<NoteAnswer>): Promise<NoteAnswer> {
    if (this.#stop.reason !== null) return answer;
    return new Promise((resolve, reject) => {
      const removeCallback = this.#stop.onAbort(reject);
      void answer.then(resolve).finally(removeCallback);
    });
  }
}

/** While another run executes the same `once`, this one is snoozed for so long. */
const busyDelayMs: DurationMs = 5_000;

export const onceOptions = option.object({ keepMs: option.number(1, noteLimits.maxOnceKeepMs) });

/** Throws a NonRetryableError for wrong options: a retry would pass the same. */
export function checkOnceOptions(key: string, options: OnceOptions): void {
  try {
    checkOptions(onceOptions, options, { name: "ctx.once", subject: key });
  } catch (error) {
    throw new NonRetryableError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** `step` and `once`: parts of a run whose recorded result is reused. Concurrent calls of the same name share one outcome. */
export class RecordedSteps {
  readonly #state: HandlerState;
  /** No earlier claim exists, so nothing can be recorded. */
  readonly #isFirst: boolean;
  readonly #steps = new Map<string, Promise<unknown>>();
  readonly #onces = new Map<string, Promise<unknown>>();

  constructor(state: HandlerState, isFirst: boolean) {
    this.#state = state;
    this.#isFirst = isFirst;
  }

  async step(name: string, work: Work<unknown>): Promise<unknown> {
    checkName("the name of a step", name);
    if (!this.#steps.has(name) && this.#steps.size >= noteLimits.steps) {
      throw new NonRetryableError(`a run may have ${noteLimits.steps} steps`);
    }
    return share(this.#steps, name, () => this.#step(name, work));
  }

  async once(key: string, work: Work<unknown>, keepMs: DurationMs): Promise<unknown> {
    checkName("the key of a once", key);
    return share(this.#onces, key, () => this.#once(key, work, keepMs));
  }

  async #step(name: string, work: Work<unknown>): Promise<unknown> {
    if (!this.#isFirst) {
      const recorded = await this.#state.request({ kind: "step_load", name });
      if (recorded.kind === "value") return JSON.parse(recorded.valueJson);
    }
    const result = await work();
    const valueJson = toStateJson(`the result of the step ${JSON.stringify(name)}`, result);
    await this.#state.request({ kind: "step", name, valueJson });
    return JSON.parse(valueJson);
  }

  async #once(key: string, work: Work<unknown>, keepMs: DurationMs): Promise<unknown> {
    const begun = await this.#state.request({ kind: "once_begin", key, keepMs });
    if (begun.kind === "value") return JSON.parse(begun.valueJson);
    if (begun.kind === "busy") throw new SnoozeError(busyDelayMs, `another run executes ${JSON.stringify(key)}`);
    const result = await work();
    const valueJson = toStateJson(`the result of ${JSON.stringify(key)}`, result);
    await this.#state.request({ kind: "once_end", key, valueJson });
    return JSON.parse(valueJson);
  }
}

/** A failed outcome is not shared: the next call starts again. */
function share(outcomes: Map<string, Promise<unknown>>, name: string, start: () => Promise<unknown>): Promise<unknown> {
  const running = outcomes.get(name);
  if (running !== undefined) return running;
  const outcome = start();
  outcomes.set(name, outcome);
  outcome.catch(() => outcomes.delete(name));
  return outcome;
}

/** A value as JSON text, within the limit. A retry would produce the same value, so a failure here is final. */
function toStateJson(what: string, value: unknown): string {
  const text: string | undefined = JSON.stringify(value === undefined ? null : value);
  if (text === undefined) throw new NonRetryableError(`${what} must be JSON, not a ${typeof value}`);
  const bytes = Buffer.byteLength(text);
  if (bytes > noteLimits.valueBytes) {
    throw new NonRetryableError(
      `${what} has ${bytes} bytes as JSON, and ${noteLimits.valueBytes} is the most: store it elsewhere and save a reference`,
    );
  }
  return text;
}

function checkName(what: string, name: string): void {
  if (name.length >= 1 && name.length <= noteLimits.nameLength) return;
  throw new NonRetryableError(`${what} has 1 to ${noteLimits.nameLength} characters, not ${name.length}`);
}

function sizeOf(content: NoteContent): number {
  return "valueJson" in content ? content.valueJson.length * 2 : 256;
}

interface BufferedLine extends Omit<LogLine, "agoMs"> {
  readonly at: DurationMs;
  readonly bytes: number;
}

/** Lines that are sent together. */
interface LogChunk {
  readonly bytes: number;
  /** With their ages at the time of the call. */
  lines(): LogLine[];
}

const maxChunkBytes = 65_536;
const maxChunkLines = 500;
/** Reserved for the text that says how much of a line was cut. */
const noticeBytes = 64;

/** The unsent log lines of one attempt: numbers them, cuts long ones, and counts those over the attempt's limit. */
class LogBuffer {
  readonly #monotonic: () => DurationMs;
  #lines: BufferedLine[] = [];
  #bufferedBytes = 0;
  #lastNumber = 0;
  #attemptBytes = 0;
  #omittedCount = 0;

  constructor(monotonic: () => DurationMs) {
    this.#monotonic = monotonic;
  }

  /** Whether there is enough to fill a chunk. */
  get isFull(): boolean {
    return this.#lines.length >= maxChunkLines || this.#bufferedBytes >= maxChunkBytes;
  }

  /** False: the attempt has reached its limit, and the line is only counted. */
  add(level: LogLevel, message: string, fields: object | undefined): boolean {
    const line = cutLine(message, fields);
    if (this.#lastNumber >= noteLimits.logLines || this.#attemptBytes + line.bytes > noteLimits.logBytes) {
      this.#omittedCount += 1;
      return false;
    }
    this.#attemptBytes += line.bytes;
    this.#push(level, line);
    return true;
  }

  /** The attempt logs no more: if lines were omitted, adds a last line with their count. */
  end(): void {
    if (this.#omittedCount === 0) return;
    const text = `${this.#omittedCount} more lines were left out: an attempt may log ${noteLimits.logLines} lines and ${noteLimits.logBytes} bytes`;
    this.#omittedCount = 0;
    this.#push("warn", cutLine(text, undefined));
  }

  takeChunks(): LogChunk[] {
    const chunks: LogChunk[] = [];
    let lines: BufferedLine[] = [];
    let bytes = 0;
    const closeChunk = (): void => {
      if (lines.length > 0) chunks.push(this.#toChunk(lines, bytes));
      [lines, bytes] = [[], 0];
    };
    for (const line of this.#lines) {
      lines.push(line);
      bytes += line.bytes;
      if (lines.length >= maxChunkLines || bytes >= maxChunkBytes) closeChunk();
    }
    closeChunk();
    [this.#lines, this.#bufferedBytes] = [[], 0];
    return chunks;
  }

  #push(level: LogLevel, { message, fieldsJson, bytes }: CutLine): void {
    this.#lastNumber += 1;
    this.#lines.push({ number: this.#lastNumber, level, message, fieldsJson, bytes, at: this.#monotonic() });
    this.#bufferedBytes += bytes;
  }

  #toChunk(lines: readonly BufferedLine[], bytes: number): LogChunk {
    return {
      bytes: bytes + 100 * lines.length,
      lines: () => {
        const now = this.#monotonic();
        return lines.map(({ at, bytes: _bytes, ...line }) => ({ ...line, agoMs: now - at }));
      },
    };
  }
}

interface CutLine {
  readonly message: string;
  readonly fieldsJson: string | null;
  readonly bytes: number;
}

/** A message that is too long is cut, with the number of missing bytes; fields that do not fit beside it are omitted. */
function cutLine(text: string, fields: object | undefined): CutLine {
  const message = cutText(text);
  const bytes = Buffer.byteLength(message);
  if (fields === undefined) return { message, fieldsJson: null, bytes };
  const fieldsJson = toFieldsJson(fields);
  const size = Buffer.byteLength(fieldsJson);
  if (bytes + size <= noteLimits.logLineBytes) return { message, fieldsJson, bytes: bytes + size };
  const notice = JSON.stringify({ left_out: `fields of ${size} bytes` });
  return { message, fieldsJson: notice, bytes: bytes + notice.length };
}

function cutText(text: string): string {
  const maxBytes = noteLimits.logLineBytes - noticeBytes;
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const whole = Buffer.from(text);
  // In stream mode the decoder drops a character that the cut would split.
  const kept = new TextDecoder().decode(whole.subarray(0, maxBytes), { stream: true });
  return `${kept} … (${whole.length - Buffer.byteLength(kept)} bytes more)`;
}

/** Errors are expanded, because JSON shows none of their members. Fields that have no JSON (a cycle, a bigint) become a note that says so. */
function toFieldsJson(fields: object): string {
  try {
    const text: string | undefined = JSON.stringify(fields, (_key, value: unknown) =>
      value instanceof Error ? { type: value.name, message: value.message, stack: value.stack } : value,
    );
    return text ?? "{}";
  } catch (error) {
    return JSON.stringify({ left_out: `fields that are no JSON: ${error instanceof Error ? error.message : "?"}` });
  }
}
