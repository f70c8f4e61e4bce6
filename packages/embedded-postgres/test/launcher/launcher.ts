import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** What the child process reports; see child.mjs. */
export interface LauncherEvent {
  readonly event: "held" | "ready" | "failed" | "stopped" | "interrupted" | "log";
  readonly url?: string;
  readonly port?: number;
  readonly pid?: number;
  readonly adopted?: boolean;
  readonly code?: string;
  readonly message?: string;
  readonly line?: string;
}

export interface LauncherOptions {
  readonly dataDir: string;
  readonly holdAt?: string;
  readonly binaryDir?: string;
  readonly sharedDir?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

const started: ChildProcess[] = [];

/** A process of its own that starts an embedded PostgreSQL and can be killed at a named moment. */
export class Launcher {
  readonly #child: ChildProcess;
  readonly #events: LauncherEvent[] = [];
  readonly #news = new EventEmitter();
  readonly #closed: Promise<unknown>;

  constructor(options: LauncherOptions, account?: { readonly uid: number; readonly gid: number }) {
    const script = fileURLToPath(new URL("child.mjs", import.meta.url));
    const stdio: ["pipe", "pipe", "inherit"] = ["pipe", "pipe", "inherit"];
    // A group of its own, as a shell gives to what it starts.
    const child = spawn(process.execPath, [script, JSON.stringify(options)], { stdio, detached: true, ...account });
    this.#child = child;
    this.#closed = once(child, "close");
    this.#news.setMaxListeners(0);
    started.push(child);
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#events.push(JSON.parse(line) as LauncherEvent);
      this.#news.emit("event");
    });
    child.on("close", () => this.#news.emit("event"));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The first event of one of these kinds, past or future; fails when the process ends without it. */
  async until(...kinds: readonly LauncherEvent["event"][]): Promise<LauncherEvent> {
    for (;;) {
      const found = this.#events.find(({ event }) => kinds.includes(event));
      if (found) return found;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new Error(`The launcher ended without ${kinds.join(" or ")}: ${JSON.stringify(this.#events)}`);
      }
      await once(this.#news, "event");
    }
  }

  async ready(): Promise<{ url: string; port: number; pid: number; adopted: boolean }> {
    const event = await this.until("ready", "failed");
    const { url, port, pid, adopted } = event;
    if (url === undefined || port === undefined || pid === undefined || adopted === undefined) {
      throw new Error(`The start failed: ${JSON.stringify(event)}`);
    }
    return { url, port, pid, adopted };
  }

  /** Asks for the stop and waits for the end of the process. */
  async stop(): Promise<void> {
    this.requestStop();
    await this.#closed;
  }

  requestStop(): void {
    this.#child.stdin?.end("stop\n");
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }

  interruptGroup(): void {
    process.kill(-this.pid, "SIGINT");
  }
}

/** Ends launchers that a failed test left running. */
export async function killLaunchers(): Promise<void> {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "close");
  }
}
