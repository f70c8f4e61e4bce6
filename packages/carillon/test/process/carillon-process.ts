import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

const shim = fileURLToPath(new URL("../../bin/carillon.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A process without output for this time has a fault; its output so far explains more than the runner's time limit. */
const PATIENCE_MS = 90_000;

const started = new Set<CarillonProcess>();

/** A real `carillon` process in a process group of its own. Tests wait for what it says, never for time. */
export class CarillonProcess {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #news = new EventEmitter().setMaxListeners(0);
  readonly #lines: string[] = [];
  #output = { stdout: "", stderr: "" };

  constructor(args: readonly string[], { cwd, env }: StartOptions = {}) {
    this.#child = spawn(process.execPath, [shim, ...args], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      cwd,
      env: { PATH: process.env["PATH"] ?? "", CARILLON_SKIP_BUILD: "1", ...env },
    });
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("the child has no output");
    const read = Promise.all([this.#read(stdout, "stdout"), this.#read(stderr, "stderr")]);
    this.ended = once(this.#child, "exit").then(async ([code, signal]) => {
      await read;
      started.delete(this);
      this.#news.emit("ended");
      return { code, signal };
    });
    started.add(this);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stdout(): string {
    return this.#output.stdout;
  }

  get stderr(): string {
    return this.#output.stderr;
  }

  /** The first line of either output that matches, from the start or as soon as it comes. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    const limit = AbortSignal.timeout(PATIENCE_MS);
    for (let at = 0; ;) {
      for (; at < this.#lines.length; at++) {
        const found = pattern.exec(this.#lines[at] ?? "");
        if (found) return found;
      }
      if (!started.has(this)) throw new Error(`ended without ${String(pattern)}:\n${this.stdout}${this.stderr}`);
      await once(this.#news, "news", { signal: limit }).catch(() => {
        throw new Error(`no line matched ${String(pattern)} in time:\n${this.stdout}${this.stderr}`);
      });
    }
  }

  /** Resolves when it says something, or ends. */
  async next(): Promise<void> {
    await once(this.#news, "news");
  }

  /** How many lines match so far. */
  count(pattern: RegExp): number {
    return this.#lines.filter((line) => pattern.test(line)).length;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** As a terminal does on Ctrl-C. */
  killGroup(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }

  /** Asks it to stop and waits for its end. */
  async stop(): Promise<Ended> {
    this.kill("SIGTERM");
    return this.ended;
  }

  async #read(stream: Readable, name: "stdout" | "stderr"): Promise<void> {
    this.#news.on("ended", () => this.#news.emit("news"));
    for await (const line of createInterface({ input: stream })) {
      this.#output[name] += `${line}\n`;
      this.#lines.push(line);
      this.#news.emit("news");
    }
  }
}

/** Kills the processes that a failed test left running. */
export async function killStarted(): Promise<void> {
  const left = [...started];
  for (const process of left) process.kill("SIGKILL");
  await Promise.all(left.map((process) => process.ended));
}
