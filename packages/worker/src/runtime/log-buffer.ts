import { type DurationMs, type LogLevel, type LogLine, noteLimits } from "@carillon/core";

interface BufferedLine extends Omit<LogLine, "agoMs"> {
  readonly at: DurationMs;
  readonly bytes: number;
}

/** Lines that are sent together. */
export interface LogChunk {
  readonly bytes: number;
  /** With their ages at the time of the call. */
  lines(): LogLine[];
}

const maxChunkBytes = 65_536;
const maxChunkLines = 500;
/** Reserved for the text that says how much of a line was cut. */
const noticeBytes = 64;

/** The unsent log lines of one attempt: numbers them, cuts long ones, and counts those over the attempt's limit. */
export class LogBuffer {
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
