// One node of the product as a process of its own, started by its command line as a user would.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { cpuSecondsOf } from "./cpu.mjs";

const shim = fileURLToPath(new URL("../../packages/carillon/bin/carillon.js", import.meta.url));
/** Kept to be shown if something goes wrong. */
const linesKept = 30;

export class ServerProcess {
  /** Resolves when the node serves. `nodeFlags` are Node's own, such as --cpu-prof; `settings` the server's. */
  static async start({ name, url, nodeFlags = [], settings = {} }) {
    const flags = {
      "database-url": url,
      port: 0,
      "node-name": name,
      "worker-slots": 0,
      "log-format": "json",
      "shutdown-grace-period": "1s",
      ...settings,
    };
    const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
    const child = spawn(process.execPath, [...nodeFlags, shim, "server", "start", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH, CARILLON_SKIP_BUILD: "1" },
    });
    const server = new ServerProcess(name, child);
    await server.#served();
    return server;
  }

  #name;
  #child;
  #lines = [];
  #gone;
  #isEnding = false;
  #url = null;

  constructor(name, child) {
    this.#name = name;
    this.#child = child;
    this.#gone = once(child, "exit");
  }

  /** Where its API listens. */
  get url() {
    return this.#url;
  }

  /** It stays as it is, with its connections, and does nothing more. */
  freeze() {
    this.#child.kill("SIGSTOP");
  }

  /** Megabytes that the process has in memory, and the most that it ever had. */
  memoryMb() {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    const of = (field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1_000;
    return { now: of("VmRSS"), most: of("VmHWM") };
  }

  cpuSeconds() {
    return cpuSecondsOf(this.#child.pid);
  }

  /** Log lines with this message, as objects. */
  logged(message) {
    return this.#lines.filter((line) => line.includes(`"msg":"${message}"`)).map((line) => JSON.parse(line));
  }

  async end(signal = "SIGTERM") {
    this.#isEnding = true;
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
    await this.#gone;
  }

  #served() {
    return new Promise((resolve, reject) => {
      for (const stream of [this.#child.stdout, this.#child.stderr]) {
        createInterface({ input: stream }).on("line", (line) => {
          this.#lines.push(line);
          if (!line.startsWith("carillon: listening on ")) return;
          this.#url = line.split(" ").at(-1);
          resolve();
        });
      }
      void this.#gone.then(() => {
        if (this.#isEnding) return;
        const told = this.#lines.slice(-linesKept).join("\n");
        const error = new Error(`${this.#name} ended by itself:\n${told}`);
        reject(error);
        console.error(error.message);
      });
    });
  }
}
