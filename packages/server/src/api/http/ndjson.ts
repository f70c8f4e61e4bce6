import { isUtf8 } from "node:buffer";
import { pending } from "@carillon/core";

/** A line of a body, with its number from 1. */
export type Line =
  | { readonly number: number; readonly value: unknown }
  /** It cannot be read. */
  | { readonly number: number; readonly fault: "too_large" | "not_json"; readonly detail: string };

export interface LineLimits {
  readonly lineBytes: number;
  /** Lines of one group. */
  readonly groupLines: number;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from("\ufeff");

/**
 * Reads the lines of a body in groups: those that have arrived, up to a number. Holds one chunk of the body and one unfinished line, for a body of any
 * length; the rest stays at the sender until the caller asks for the next group. Blank lines only count. Ends early when the signal fires.
 */
export async function* lineGroups(
  body: AsyncIterable<Uint8Array>,
  { lineBytes, groupLines }: LineLimits,
  signal?: AbortSignal,
): AsyncGenerator<Line[]> {
  const lines = new LineBuffer(lineBytes);
  const chunks = body[Symbol.asyncIterator]();
  const next = signal === undefined ? () => chunks.next() : nextUntil(signal, chunks);
  for (let chunk = await next(); ; chunk = await next()) {
    // The last line may be half of one.
    if (chunk === null) return;
    if (chunk.done === true) break;
    yield* groupsOf(lines.add(Buffer.from(chunk.value)), groupLines);
  }
  yield* groupsOf(lines.end(), groupLines);
}

type Chunk = IteratorResult<Uint8Array, unknown>;

/** The next chunk, or null from the moment that the signal fires. One listener in all: a race for each chunk would keep them all. */
function nextUntil(signal: AbortSignal, chunks: AsyncIterator<Uint8Array, unknown>): () => Promise<Chunk | null> {
  let wake: (none: null) => void = () => undefined;
  signal.addEventListener("abort", () => wake(null), { once: true });
  return () => {
    const { promise, resolve, reject } = pending<Chunk | null>();
    wake = resolve;
    if (signal.aborted) resolve(null);
    else chunks.next().then(resolve, reject);
    return promise;
  };
}

function* groupsOf(lines: readonly Line[], size: number): Generator<Line[]> {
  for (let start = 0; start < lines.length; start += size) yield lines.slice(start, start + size);
}

/** Splits chunks into lines. A line above the limit is dropped as it arrives, and only its number is kept. */
class LineBuffer {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #number = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): Line[] {
    const found: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#finish(found);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return found;
  }

  /** The last line needs no newline. */
  end(): Line[] {
    const found: Line[] = [];
    if (this.#bytes > 0) this.#finish(found);
    return found;
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  #finish(found: Line[]): void {
    const line = this.#read(++this.#number);
    if (line !== null) found.push(line);
    this.#parts = [];
    this.#bytes = 0;
  }

  /** Null for a blank line. */
  #read(number: number): Line | null {
    if (this.#bytes > this.#maxBytes) {
      return { number, fault: "too_large", detail: `The line is larger than ${this.#maxBytes} bytes.` };
    }
    let bytes = Buffer.concat(this.#parts);
    if (number === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)) {
      bytes = bytes.subarray(byteOrderMark.length);
    }
    if (bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1);
    if (!isUtf8(bytes)) return { number, fault: "not_json", detail: "The line is not valid UTF-8." };
    const text = bytes.toString("utf8");
    if (text.trim() === "") return null;
    try {
      return { number, value: JSON.parse(text) as unknown };
    } catch (error) {
      const reason = error instanceof Error ? error.message : "it does not parse";
      return { number, fault: "not_json", detail: `The line is not valid JSON: ${reason}.` };
    }
  }
}
