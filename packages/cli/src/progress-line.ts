import type { Io } from "./io.js";
import { plainText } from "./table.js";

const barWidth = 24;

/** `[######------]  25 %  12k rows` */
export function progressBar(fraction: number, text: string | null): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * barWidth);
  const bar = `[${"#".repeat(full)}${"-".repeat(barWidth - full)}]`;
  const percent = `${Math.floor(fraction * 100)}`.padStart(3);
  return `${bar} ${percent} %${text === null ? "" : `  ${plainText(text)}`}`;
}

/** A line that is overwritten on a terminal; elsewhere each state is a line of its own, printed once. */
export class ProgressLine {
  readonly #io: Pick<Io, "info" | "stderrIsTerminal" | "stderr">;
  #shown = "";

  constructor(io: Pick<Io, "info" | "stderrIsTerminal" | "stderr">) {
    this.#io = io;
  }

  show(line: string): void {
    if (line === this.#shown) return;
    this.#shown = line;
    if (this.#io.stderrIsTerminal) this.#io.stderr.write(`\r\u001b[K${this.#fitting(line)}`);
    else this.#io.info(`carillon: ${line}`);
  }

  /** A line longer than the terminal is wide could not be overwritten. */
  #fitting(line: string): string {
    const { stderr } = this.#io;
    const columns = "columns" in stderr && typeof stderr.columns === "number" ? stderr.columns : 80;
    return line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`;
  }

  /** A line that stays. */
  print(line: string): void {
    this.clear();
    this.#io.info(line);
  }

  /** An Io whose messages are printed above this line. */
  ioAbove(io: Io): Pick<Io, "info" | "now" | "sleep"> {
    return { info: (text) => this.print(text), now: () => io.now(), sleep: (ms, signal) => io.sleep(ms, signal) };
  }

  /** Makes room for other lines. */
  clear(): void {
    if (this.#io.stderrIsTerminal && this.#shown !== "") this.#io.stderr.write("\r\u001b[K");
    this.#shown = this.#io.stderrIsTerminal ? "" : this.#shown;
  }
}

/** Counts to a known number on such a line; only on a terminal. */
export class CountLine {
  readonly #line: ProgressLine;
  readonly #isShown: boolean;
  readonly #total: number;
  readonly #word: string;
  #seen = 0;

  constructor(io: Pick<Io, "info" | "stderrIsTerminal" | "stderr">, total: number, word: string) {
    this.#line = new ProgressLine(io);
    this.#isShown = io.stderrIsTerminal;
    this.#total = total;
    this.#word = word;
  }

  step(): void {
    this.#seen += 1;
    if (!this.#isShown) return;
    this.#line.show(progressBar(this.#seen / this.#total, `${this.#seen} of ${this.#total} ${this.#word}`));
  }

  end(): void {
    this.#line.clear();
  }
}
