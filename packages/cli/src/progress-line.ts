import type { Client } from "@carillon/client";
import type { Backfill, BulkOperation } from "@carillon/contract";
import { Reconnect } from "./client.js";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { plainText } from "./output.js";

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

const pollMs = 500;

interface Watched<Work> {
  /** As it was when the watch began. */
  readonly started: Work;
  readonly read: () => Promise<Work>;
  readonly progress: (work: Work) => string;
  /** The command that shows it again. */
  readonly again: string;
}

/** Polls work that a server does by itself until it has ended, and shows its progress. */
async function watch<Work extends { readonly id: string; readonly state: string }>(
  io: Io,
  { started, read, progress, again }: Watched<Work>,
): Promise<Work> {
  const line = new ProgressLine(io);
  const reconnect = new Reconnect(line.ioAbove(io), { hasAnswered: true });
  const removeListener = io.onInterrupt(() =>
    line.print(`carillon: ${started.id} goes on in the server; watch it again with: carillon ${again}`),
  );
  try {
    for (let work = started; ; work = await reconnect.retryWhileAway(read)) {
      line.show(progress(work));
      if (work.state !== "running") return work;
      await io.sleep(pollMs);
    }
  } finally {
    removeListener();
    line.clear();
  }
}

export function watchBackfill(io: Io, client: Client, started: Backfill): Promise<Backfill> {
  return watch(io, {
    started,
    read: () => client.backfills.get(started.id),
    progress: backfillProgress,
    again: `backfill get ${started.id} --watch`,
  });
}

function backfillProgress({ total, made, passed, skipped, state }: Backfill): string {
  const parts = [
    `${made} of ${total} made`,
    ...(passed > 0 ? [`${passed} ran before`] : []),
    ...(skipped > 0 ? [`${skipped} left out for overlap`] : []),
  ];
  return progressBar(total === 0 ? 1 : (made + passed + skipped) / total, `${state}: ${parts.join(", ")}`);
}

export const exitCodeOfBackfill = ({ state }: Backfill): ExitCode =>
  state === "aborted" ? ExitCode.cancelled : ExitCode.ok;

export function watchOperation(io: Io, client: Client, started: BulkOperation): Promise<BulkOperation> {
  return watch(io, {
    started,
    read: () => client.operations.get(started.id),
    progress: operationProgress,
    again: `operation get ${started.id} --watch`,
  });
}

export const operationState = ({ state, state_reason: reason }: BulkOperation): string =>
  reason === null ? state : `${state} (${reason})`;

/** With a bar only if the number of runs is known. */
function operationProgress(operation: BulkOperation): string {
  const { total, seen, done, failed, skipped } = operation;
  const text = `${operationState(operation)}: ${done} done, ${failed} failed, ${skipped} skipped of ${seen} seen`;
  return total === null || total === 0 ? text : progressBar(seen / total, text);
}

export function exitCodeOfOperation({ state, failed }: BulkOperation): ExitCode {
  if (state === "aborted") return ExitCode.cancelled;
  return failed > 0 ? ExitCode.failure : ExitCode.ok;
}
