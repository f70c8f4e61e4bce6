// One Carillon server in its own process, started through the command line as a user would.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { cpuSecondsOf } from "./bench-postgres.mjs";

const shim = fileURLToPath(new URL("../packages/carillon/bin/carillon.js", import.meta.url));
/** How many log lines an error shows. */
const shownLines = 30;

export class ServerProcess {
  /** Resolves when the server listens. `nodeFlags` are flags of Node.js, such as --cpu-prof; `settings` those of the server. */
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
    await server.#listening();
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

  /** The address of its API. */
  get url() {
    return this.#url;
  }

  /** Suspends the process; its connections stay open. */
  freeze() {
    this.#child.kill("SIGSTOP");
  }

  /** Resident memory of the process in megabytes, now and at its peak. */
  memoryMb() {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    const of = (field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1_000;
    return { now: of("VmRSS"), peak: of("VmHWM") };
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

  #listening() {
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
        const lines = this.#lines.slice(-shownLines).join("\n");
        const error = new Error(`${this.#name} ended unexpectedly:\n${lines}`);
        reject(error);
        console.error(error.message);
      });
    });
  }
}
