import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { type WriteStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

export interface NodeSettings {
  /** The root folder of the checkout that the node runs. */
  readonly root: string;
  readonly name: string;
  /** The same after each restart, because workers know the node by its port. */
  readonly port: number;
  readonly databaseUrl: string;
  readonly leaseMs: number;
  readonly workerTimeoutMs: number;
  readonly logPath: string;
  /** A module to load before the product; set for mutants only. */
  readonly preload: string | null;
  readonly env: Readonly<Record<string, string>>;
}

const pauseBeforeStartMs = 300;
const maxUnexpectedExits = 20;

/** One node of the product in its own process, started by the command line as a user would. */
export class NodeProcess {
  readonly #settings: NodeSettings;
  readonly #log: WriteStream;
  #root: string;
  readonly #events = new Map<string, number>();
  #child: ChildProcess | null = null;
  #url: string | null = null;
  #isStopping = false;
  #unexpectedExits = 0;

  constructor(settings: NodeSettings) {
    this.#settings = settings;
    this.#root = settings.root;
    this.#log = createWriteStream(settings.logPath, { flags: "a" });
  }

  /** Null while the node is down or does not listen yet. */
  get url(): string | null {
    return this.#url;
  }

  /** Null while the node is down. */
  get pid(): number | null {
    return this.#child?.exitCode === null && this.#child.signalCode === null ? (this.#child.pid ?? null) : null;
  }

  /**
   * The sum of an event's `count` field over all restarts of the node. `event statement` counts one statement alone.
   */
  count(event: string): number {
    return this.#events.get(event) ?? 0;
  }

  /** How often the node exited although the harness did not stop it. */
  get unexpectedExits(): number {
    return this.#unexpectedExits;
  }

  /** Resolves when the node listens. A node that exits by itself is started again, as a supervisor would do. */
  async start(): Promise<void> {
    this.#isStopping = false;
    const child = this.#launch();
    this.#child = child;
    const listening = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on("line", (line) => {
          const url = this.#readLine(line);
          if (url === null) return;
          this.#url = url;
          resolve();
        });
      }
    });
    const restarted = once(child, "exit").then(async () => {
      this.#url = null;
      if (this.#isStopping) return;
      this.#unexpectedExits += 1;
      if (this.#unexpectedExits > maxUnexpectedExits)
        throw new Error(`The node exited too often; see ${this.#settings.logPath}.`);
      await sleep(pauseBeforeStartMs);
      if (!this.#isStopping) await this.start();
    });
    await Promise.race([listening, restarted]);
  }

  /** From its next start on, the node runs the product in this checkout. */
  use(root: string): void {
    this.#root = root;
  }

  /** Sends SIGKILL at once; `end` waits for the exit. */
  kill(): void {
    this.#isStopping = true;
    this.#child?.kill("SIGKILL");
  }

  /** Sends the signal and waits for the exit. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#isStopping = true;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child?.kill("SIGCONT");
  }

  #launch(): ChildProcessByStdio<null, Readable, Readable> {
    const { preload, env } = this.#settings;
    const shim = join(this.#root, "packages/carillon/bin/carillon.js");
    return spawn(process.execPath, [...(preload === null ? [] : ["--import", preload]), shim, ...this.#args()], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...env, PATH: process.env["PATH"], CARILLON_SKIP_BUILD: "1", CARILLON_OUTBOUND_ALLOWLIST: "loopback" },
    });
  }

  #args(): string[] {
    const { name, port, databaseUrl, leaseMs, workerTimeoutMs } = this.#settings;
    const flags = {
      "database-url": databaseUrl,
      port,
      "node-name": name,
      "shard-lease": `${leaseMs}ms`,
      "worker-timeout": `${workerTimeoutMs}ms`,
      "worker-slots": 100,
      "shutdown-grace-period": "1s",
      "database-connect-timeout": "1m",
      "log-format": "json",
    };
    return ["server", "start", ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, String(value)])];
  }

  /** Counts the event of a log line; returns the address if the line contains it. */
  #readLine(line: string): string | null {
    this.#log.write(`${line}\n`);
    const { msg, statement, count } = parsedLine(line);
    if (typeof msg === "string" && typeof count === "number") {
      const names = typeof statement === "string" ? [msg, `${msg} ${statement}`] : [msg];
      for (const name of names) this.#events.set(name, this.count(name) + count);
    }
    return /^carillon: listening on (\S+)$/.exec(line)?.[1] ?? null;
  }
}

function parsedLine(line: string): { msg?: unknown; statement?: unknown; count?: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
