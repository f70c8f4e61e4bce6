import { StringDecoder } from "node:string_decoder";

const longestLine = 8_192;

/** Passes what a process writes on line by line, and keeps the end of it. */
export class OutputTail {
  readonly #most: number;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  #line = "";
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(most: number, onLine: (line: string) => void) {
    this.#most = most;
    this.#onLine = onLine;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  get text(): string {
    return this.#most === 0 ? "" : Buffer.concat(this.#chunks).subarray(-this.#most).toString("utf8");
  }

  add(chunk: Buffer): void {
    this.#keep(chunk);
    this.#split(this.#decoder.write(chunk));
  }

  end(): void {
    this.#split(this.#decoder.end());
    if (this.#line !== "") this.#onLine(this.#line);
    this.#line = "";
  }

  #keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#most) this.#isCut = true;
    for (let first = this.#chunks[0]; first !== undefined; first = this.#chunks[0]) {
      if (this.#bytes - first.length < this.#most) return;
      this.#bytes -= first.length;
      this.#chunks.shift();
    }
  }

  #split(text: string): void {
    const lines = (this.#line + text).split(/\r?\n/);
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#onLine(line.slice(0, longestLine));
    // One that never ends is passed on in pieces.
    while (this.#line.length > longestLine) {
      this.#onLine(this.#line.slice(0, longestLine));
      this.#line = this.#line.slice(longestLine);
    }
  }
}
