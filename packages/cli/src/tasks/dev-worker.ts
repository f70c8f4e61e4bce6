import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemTimers } from "@carillon/core";
import type { Companion } from "../node-process.js";
import type { Io } from "../io.js";
import { SourceWatch } from "./source-watch.js";

const program = fileURLToPath(new URL("../process.js", import.meta.url));
const isServing = /^carillon: serving /;

export interface DevWorkerOptions {
  /** The module with the tasks, as a whole path. */
  readonly entry: string;
  /** For `carillon worker start`. */
  readonly args: readonly string[];
}

/**
 * The user's tasks beside a node of `carillon dev`, in a process of their own. When a source file changes, a new process takes
 * over as soon as it has loaded; the old one lets its handlers end. If the new code does not load, the old one stays.
 */
export class DevWorker implements Companion {
  readonly #io: Io;
  readonly #options: DevWorkerOptions;
  readonly #processes = new Set<ChildProcess>();
  #watch: SourceWatch | null = null;
  #current: ChildProcess | null = null;
  #newest: ChildProcess | null = null;
  #url = "";

  constructor(io: Io, options: DevWorkerOptions) {
    this.#io = io;
    this.#options = options;
  }

  start({ url }: { readonly url: string }): void {
    this.#url = url;
    this.#watch = new SourceWatch(dirname(this.#options.entry), systemTimers, () => {
      this.#io.talk("carillon: a source file changed; loading the tasks again");
      this.#spawn();
    });
    this.#spawn();
  }

  async stop(): Promise<void> {
    this.#watch?.close();
    const ends = [...this.#processes].map((child) => once(child, "exit"));
    for (const child of this.#processes) child.kill("SIGTERM");
    await Promise.all(ends);
  }

  abandon(): void {
    for (const child of this.#processes) child.kill("SIGKILL");
  }

  #spawn(): void {
    const { entry, args } = this.#options;
    const command = [...process.execArgv, program, "worker", "start", entry, "--url", this.#url, ...args];
    // The channel carries nothing: its end tells the worker that we are gone, however we went.
    const stdio = ["ignore", "inherit", "pipe", "ipc"] as const;
    const child = spawn(process.execPath, command, { cwd: this.#io.cwd, env: { ...this.#io.env }, stdio: [...stdio] });
    this.#processes.add(child);
    this.#newest = child;
    if (child.stderr === null) throw new Error("the worker has no standard error");
    createInterface({ input: child.stderr }).on("line", (line) => {
      this.#io.talk(line);
      if (isServing.test(line)) this.#serves(child);
    });
    child.on("exit", (code) => this.#ended(child, code));
  }

  /** One that was overtaken before it served goes as well. */
  #serves(child: ChildProcess): void {
    if (child !== this.#newest) {
      child.kill("SIGTERM");
      return;
    }
    this.#current?.kill("SIGTERM");
    this.#current = child;
  }

  #ended(child: ChildProcess, code: number | null): void {
    this.#processes.delete(child);
    if (child === this.#current) this.#current = null;
    if (code !== 0 && child === this.#newest)
      this.#io.talk("carillon: the worker ended; it is started again when a source file changes");
  }
}
