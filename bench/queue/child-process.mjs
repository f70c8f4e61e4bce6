// The parent's side of child.mjs.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const childPath = fileURLToPath(new URL("child.mjs", import.meta.url));

export class Child {
  /** All systems run under the same Node. */
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

  /** Ends it in order if it does so within a while. */
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
