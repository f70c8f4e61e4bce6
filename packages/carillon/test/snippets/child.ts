import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

interface ChildOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A program of a document: one that ends by itself, or one that stays until it is asked to stop. */
export class Child {
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  readonly #lines: AsyncIterable<string>[];
  output = "";

  constructor(command: string, args: readonly string[], { cwd, env }: ChildOptions) {
    this.#child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("the child has no output");
    this.#lines = [createInterface({ input: stdout }), createInterface({ input: stderr })];
    this.#ended = once(this.#child, "exit").then(([code, signal]) => String(signal ?? code));
  }

  /** Its exit code or signal, when it has ended and all that it said is read. */
  async end(limitMs: number): Promise<string> {
    const limit = AbortSignal.timeout(limitMs);
    limit.addEventListener("abort", () => this.#kill("SIGKILL"));
    await Promise.all(this.#lines.map((lines) => this.#read(lines, () => false)));
    return limit.aborted ? `did not end within ${limitMs} ms` : this.#ended;
  }

  /** Whether it says a line with this text, before it ends and in time. */
  async says(text: string, limitMs: number): Promise<boolean> {
    const limit = AbortSignal.timeout(limitMs);
    limit.addEventListener("abort", () => this.#kill("SIGKILL"));
    const found = this.#lines.map(async (lines) => {
      if (!(await this.#read(lines, (line) => line.includes(text)))) throw new Error("not said");
    });
    return Promise.any(found).then(
      () => true,
      () => false,
    );
  }

  /** Asks it to stop; answers what went wrong. */
  async stop(limitMs: number): Promise<string | null> {
    this.#kill("SIGTERM");
    const limit = AbortSignal.timeout(limitMs);
    limit.addEventListener("abort", () => this.#kill("SIGKILL"));
    const ended = await this.#ended;
    return ended === "0" || ended === "SIGTERM" ? null : `ended with ${ended} when asked to stop`;
  }

  async #read(lines: AsyncIterable<string>, isLast: (line: string) => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const reader = lines as ReturnType<typeof createInterface>;
      reader.on("line", (line) => {
        this.output += `${line}\n`;
        if (isLast(line)) resolve(true);
      });
      reader.once("close", () => resolve(false));
    });
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    process.kill(-this.#child.pid, signal);
  }
}
