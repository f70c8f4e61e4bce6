import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

export interface ShellAnswer {
  readonly code: number;
  /** Of the last answer over HTTP that the command got; null where it asked for none. */
  readonly status: number | null;
  readonly output: string;
}

/** Reads the path of a file with a command, runs it in itself, so that variables stay, and says how it ended. */
const loop = `while IFS= read -r file <&3; do
  export READER_STATUS="$file.status"
  . "$file" >"$file.out" 2>&1 </dev/null
  echo "$?" >&4
done`;

/** One shell for all commands of a document. */
export class ShellSession {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  readonly #dir: string;
  #count = 0;

  constructor(dir: string, env: Readonly<Record<string, string>>) {
    this.#dir = dir;
    this.#child = spawn("bash", ["-c", loop], {
      cwd: dir,
      env,
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    this.#answers = createInterface({ input: this.#child.stdio[4] as Readable })[Symbol.asyncIterator]();
  }

  /** Ends the shell and its processes when the command exceeds its time. */
  async run(command: string, limitMs: number): Promise<ShellAnswer> {
    const file = join(this.#dir, `.command-${(this.#count += 1)}`);
    await writeFile(file, `${command}\n`);
    (this.#child.stdio[3] as Writable).write(`${file}\n`);
    const limit = AbortSignal.timeout(limitMs);
    const end = (): void => this.end();
    limit.addEventListener("abort", end);
    const { value, done } = await this.#answers.next();
    limit.removeEventListener("abort", end);
    const output = await readFile(`${file}.out`, "utf8").catch(() => "");
    if (done) return { code: -1, status: null, output: `${output}did not end within ${limitMs} ms` };
    const said = await readFile(`${file}.status`, "utf8").catch(() => null);
    const status = said === null ? null : Number(said.slice(-3));
    return { code: Number(value), status, output: `${output}${said?.slice(0, -3) ?? ""}` };
  }

  end(): void {
    if (this.#child.pid !== undefined && this.#child.exitCode === null) process.kill(-this.#child.pid, "SIGKILL");
  }

  async close(): Promise<void> {
    const exited = once(this.#child, "exit");
    (this.#child.stdio[3] as Writable).end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await exited;
  }
}
