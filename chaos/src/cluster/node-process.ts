import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { type WriteStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../root.js";

export interface NodeSettings {
  readonly name: string;
  /** The same in all its lives: workers know it by that. */
  readonly port: number;
  readonly databaseUrl: string;
  readonly leaseMs: number;
  readonly workerTimeoutMs: number;
  readonly logPath: string;
  /** A module to load first; only mutants have one. */
  readonly preload: string | null;
  readonly env: Readonly<Record<string, string>>;
}

const pauseBeforeStartMs = 300;
const mostOwnEnds = 20;

/** One node of the product as a process of its own, started by its command line as a user would. */
export class NodeProcess {
  readonly #settings: NodeSettings;
  readonly #log: WriteStream;
  readonly #events = new Map<string, number>();
  #child: ChildProcess | null = null;
  #url: string | null = null;
  #isStopping = false;
  #ownEnds = 0;

  constructor(settings: NodeSettings) {
    this.#settings = settings;
    this.#log = createWriteStream(settings.logPath, { flags: "a" });
  }

  /** Null while the node is down or has not begun to listen. */
  get url(): string | null {
    return this.#url;
  }

  /** Null while the node is down. */
  get pid(): number | null {
    return this.#child?.exitCode === null && this.#child.signalCode === null ? (this.#child.pid ?? null) : null;
  }

  /**
   * How often the node has logged an event, over all its lives; some events stand for several things. `event statement` counts
   * those of one statement.
   */
  count(event: string): number {
    return this.#events.get(event) ?? 0;
  }

  /** How often the node ended without being told to. */
  get ownEnds(): number {
    return this.#ownEnds;
  }

  /** Resolves when the node serves. One that ends by itself is started again, as a supervisor would. */
  async start(): Promise<void> {
    this.#isStopping = false;
    const child = this.#launch();
    this.#child = child;
    const served = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on("line", (line) => {
          const url = this.#read(line);
          if (url === null) return;
          this.#url = url;
          resolve();
        });
      }
    });
    const startedAgain = once(child, "exit").then(async () => {
      this.#url = null;
      if (this.#isStopping) return;
      this.#ownEnds += 1;
      if (this.#ownEnds > mostOwnEnds) throw new Error(`ends again and again; see ${this.#settings.logPath}`);
      await sleep(pauseBeforeStartMs);
      if (!this.#isStopping) await this.start();
    });
    await Promise.race([served, startedAgain]);
  }

  /** Kill -9, at this instant; `end` waits until it is gone. */
  kill(): void {
    this.#isStopping = true;
    this.#child?.kill("SIGKILL");
  }

  /** Ends it by a signal and waits until it is gone. */
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
    const shim = join(root, "packages/carillon/bin/carillon.js");
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

  /** Counts what a log line tells; answers the address when the line is the one that says it. */
  #read(line: string): string | null {
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
