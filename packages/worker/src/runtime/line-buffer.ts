import { type DurationMs, type LogLevel, type LogLine, noteLimits } from "@carillon/core";

interface WrittenLine extends Omit<LogLine, "agoMs"> {
  readonly at: DurationMs;
  readonly bytes: number;
}

/** Lines that go together. */
export interface LineChunk {
  readonly bytes: number;
  /** As they are sent now. */
  lines(): LogLine[];
}

const chunkBytes = 65_536;
const mostInChunk = 500;
/** Room for the words that say what was cut. */
const noticeBytes = 64;

/** The lines of one attempt on their way: numbered, cut to their bounds, and what was left out counted. */
export class LineBuffer {
  readonly #monotonic: () => DurationMs;
  #waiting: WrittenLine[] = [];
  #waitingBytes = 0;
  #number = 0;
  #bytes = 0;
  #leftOut = 0;

  constructor(monotonic: () => DurationMs) {
    this.#monotonic = monotonic;
  }

  /** Enough to be sent without waiting for more. */
  get isFull(): boolean {
    return this.#waiting.length >= mostInChunk || this.#waitingBytes >= chunkBytes;
  }

  /** False: the attempt has logged as much as it may, and the line is only counted. */
  add(level: LogLevel, message: string, fields: object | undefined): boolean {
    const line = cutLine(message, fields);
    const bytes = line.bytes;
    if (this.#number >= noteLimits.logLines || this.#bytes + bytes > noteLimits.logBytes) {
      this.#leftOut += 1;
      return false;
    }
    this.#bytes += bytes;
    this.#push(level, line);
    return true;
  }

  /** The attempt writes no more: if lines were left out, the last one says how many. */
  end(): void {
    if (this.#leftOut === 0) return;
    const words = `${this.#leftOut} more lines were left out: an attempt may log ${noteLimits.logLines} lines and ${noteLimits.logBytes} bytes`;
    this.#leftOut = 0;
    this.#push("warn", cutLine(words, undefined));
  }

  take(): LineChunk[] {
    const chunks: LineChunk[] = [];
    let open: WrittenLine[] = [];
    let bytes = 0;
    const shut = (): void => {
      if (open.length > 0) chunks.push(this.#chunk(open, bytes));
      [open, bytes] = [[], 0];
    };
    for (const line of this.#waiting) {
      open.push(line);
      bytes += line.bytes;
      if (open.length >= mostInChunk || bytes >= chunkBytes) shut();
    }
    shut();
    [this.#waiting, this.#waitingBytes] = [[], 0];
    return chunks;
  }

  #push(level: LogLevel, { message, fieldsJson, bytes }: CutLine): void {
    this.#number += 1;
    this.#waiting.push({ number: this.#number, level, message, fieldsJson, bytes, at: this.#monotonic() });
    this.#waitingBytes += bytes;
  }

  #chunk(lines: readonly WrittenLine[], bytes: number): LineChunk {
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

/** A line that is too long keeps its beginning and says how much is missing; fields that do not fit beside it are left out. */
function cutLine(text: string, fields: object | undefined): CutLine {
  const message = cutText(text);
  const bytes = Buffer.byteLength(message);
  if (fields === undefined) return { message, fieldsJson: null, bytes };
  const fieldsJson = jsonOf(fields);
  const size = Buffer.byteLength(fieldsJson);
  if (bytes + size <= noteLimits.logLineBytes) return { message, fieldsJson, bytes: bytes + size };
  const notice = JSON.stringify({ left_out: `fields of ${size} bytes` });
  return { message, fieldsJson: notice, bytes: bytes + notice.length };
}

function cutText(text: string): string {
  const most = noteLimits.logLineBytes - noticeBytes;
  if (text.length * 3 <= most || Buffer.byteLength(text) <= most) return text;
  const whole = Buffer.from(text);
  // A character that the cut would split is left out.
  const kept = new TextDecoder().decode(whole.subarray(0, most), { stream: true });
  return `${kept} … (${whole.length - Buffer.byteLength(kept)} bytes more)`;
}

/** Errors have nothing that JSON shows; what cannot be written (a cycle, a bigint) says so. */
function jsonOf(fields: object): string {
  try {
    const text: string | undefined = JSON.stringify(fields, (_key, value: unknown) =>
      value instanceof Error ? { type: value.name, message: value.message, stack: value.stack } : value,
    );
    return text ?? "{}";
  } catch (error) {
    return JSON.stringify({ left_out: `fields that are no JSON: ${error instanceof Error ? error.message : "?"}` });
  }
}
