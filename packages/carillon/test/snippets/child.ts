import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";

interface ChildOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** By itself, or by the signal; 143 is how a shell says that its command was ended by it. */
const goodEnds: ReadonlySet<string> = new Set(["0", "SIGTERM", "143"]);

/** A program of a document: one that ends by itself, or one that stays until it is asked to stop. */
export class Child {
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  readonly #lines: Interface[];
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
    const read = Promise.all(this.#lines.map((lines) => this.#read(lines, () => false)));
    const isInTime = await this.#within(limitMs, read);
    return isInTime ? this.#ended : `${await this.#ended}: did not end within ${limitMs} ms`;
  }

  /** Whether it says a line with this text, before it ends and in time. */
  async says(text: string, limitMs: number): Promise<boolean> {
    const found = this.#lines.map(async (lines) => {
      if (!(await this.#read(lines, (line) => line.includes(text)))) throw new Error("not said");
    });
    let isSaid = false;
    const said = Promise.any(found).then(
      () => (isSaid = true),
      () => undefined,
    );
    await this.#within(limitMs, said);
    return isSaid;
  }

  /** Asks it to stop; answers what went wrong. */
  async stop(limitMs: number): Promise<string | null> {
    this.#kill("SIGTERM");
    await this.#within(limitMs, this.#ended);
    const ended = await this.#ended;
    return goodEnds.has(ended) ? null : `ended with ${ended} when asked to stop`;
  }

  /** Waits, and kills it when that takes too long; answers whether it did not. */
  async #within(limitMs: number, wanted: Promise<unknown>): Promise<boolean> {
    const limit = AbortSignal.timeout(limitMs);
    const kill = (): void => this.#kill("SIGKILL");
    limit.addEventListener("abort", kill);
    await wanted;
    limit.removeEventListener("abort", kill);
    return !limit.aborted;
  }

  #read(lines: Interface, isLast: (line: string) => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      lines.on("line", (line) => {
        this.output += `${line}\n`;
        if (isLast(line)) resolve(true);
      });
      lines.once("close", () => resolve(false));
    });
  }

  #kill(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    process.kill(-this.#child.pid, signal);
  }
}
