// The parent's side of child.mjs, and the clock that both sides share.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const childPath = fileURLToPath(new URL("child.mjs", import.meta.url));

export class Child {
  /** `execPath` is the Node.js that all systems run under. */
  static async start(system, options, execPath) {
    const process = fork(childPath, [system], { execPath, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const child = new Child(system, process);
    await child.#ready;
    await child.call("open", options);
    return child;
  }

  #process;
  #nextId = 0;
  #waiting = new Map();
  #ready;

  constructor(system, process) {
    this.#process = process;
    this.#ready = new Promise((resolve, reject) => {
      process.once("message", resolve);
      process.once("exit", (code) => reject(new Error(`${system} ended with ${code}`)));
    });
    process.on("message", ({ id, answer, error }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(answer);
      else waiting?.reject(new Error(`${system}: ${error}`));
    });
    process.on("exit", (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${system} ended with ${code}`));
    });
  }

  call(command, args) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.send({ id, command, args });
    });
  }

  /** Closes the process, and kills it if that takes too long. */
  async end() {
    if (this.#process.exitCode !== null) return;
    const exited = new Promise((resolve) => this.#process.once("exit", resolve));
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 10_000);
    await this.call("close").catch(() => {});
    if (this.#process.connected) this.#process.disconnect();
    await exited;
    clearTimeout(timer);
  }
}

/**
 * Milliseconds of a clock that all processes of the machine share and that is never adjusted, so that intervals between two processes are
 * correct. `performance.timeOrigin + performance.now()` is not: each process takes its origin from the time of day at its start, which NTP
 * adjusts meanwhile, here by milliseconds per minute.
 */
export const steadyMs = () => Number(process.hrtime.bigint()) / 1e6;
