import { type ChildProcess, spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import type { DurationMs } from "@carillon/core";
import type { WorkerTimers } from "@carillon/worker";

export interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | undefined;
  readonly graceMs: DurationMs;
  readonly signal: AbortSignal;
  readonly timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">;
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
}

export interface CommandEnd {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Runs a command in a process group of its own. When the signal fires, the group gets TERM, and KILL after the grace time. When
 * the command has ended, processes that it left in its group get KILL too. Rejects if the command cannot be started.
 */
export function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { command, args, cwd, env, stdin, signal, timers, graceMs } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env,
      detached: true,
      shell: false,
      stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    let timer: unknown = null;
    const stop = (): void => {
      signalGroup(child, "SIGTERM");
      timer = timers.setTimeout(() => signalGroup(child, "SIGKILL"), graceMs);
    };
    const cleanUp = (): void => {
      timers.clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    };
    child.once("error", (error) => {
      cleanUp();
      reject(error);
    });
    child.stdout?.on("data", options.onStdout);
    child.stderr?.on("data", options.onStderr);
    // A command may end without reading its input.
    child.stdin?.on("error", () => undefined).end(stdin);
    child.once("exit", () => signalGroup(child, "SIGKILL"));
    child.once("close", (code, killedBy) => {
      cleanUp();
      resolve({ code, signal: killedBy });
    });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is empty.
  }
}

const maxLineLength = 8_192;

/** Passes the output of a process on by lines and keeps its end. */
export class OutputTail {
  readonly #maxBytes: number;
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  #line = "";
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(maxBytes: number, onLine: (line: string) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  get text(): string {
    return this.#maxBytes === 0 ? "" : Buffer.concat(this.#chunks).subarray(-this.#maxBytes).toString("utf8");
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
    if (this.#bytes > this.#maxBytes) this.#isCut = true;
    for (let first = this.#chunks[0]; first !== undefined; first = this.#chunks[0]) {
      if (this.#bytes - first.length < this.#maxBytes) return;
      this.#bytes -= first.length;
      this.#chunks.shift();
    }
  }

  #split(text: string): void {
    const lines = (this.#line + text).split(/\r?\n/);
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#onLine(line.slice(0, maxLineLength));
    // A line without an end is passed on in pieces.
    while (this.#line.length > maxLineLength) {
      this.#onLine(this.#line.slice(0, maxLineLength));
      this.#line = this.#line.slice(maxLineLength);
    }
  }
}
