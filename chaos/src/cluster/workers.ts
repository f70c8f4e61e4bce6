import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { TcpProxy } from "@carillon/testkit";
import type { DoneFault } from "../judge/evidence.js";
import type { WorkerFault } from "../plan/worker-faults.js";
import { root } from "../root.js";

export interface WorkersOptions {
  readonly folder: string;
  readonly urls: readonly string[];
  readonly seed: number;
  /** No run hangs after this time, so that the server has the time to end the last one. */
  readonly hangsUntil: number;
}

/** More than a node's own worker has: the server assigns most runs to the worker with the most free slots. */
const slots = "120";

/** External workers over HTTP: a regular one that is disturbed, and a rogue one that sends false reports. */
export class Workers {
  readonly #regular: WorkerProcess;
  readonly #rogue: WorkerProcess;

  static async start({ folder, urls, seed, hangsUntil }: WorkersOptions): Promise<Workers> {
    const of = async (program: "regular-main" | "rogue-main", args: readonly string[]) =>
      WorkerProcess.make({ program, args, urls, logPath: join(folder, `${program}.log`) });
    const regular = await of("regular-main", [slots]);
    const rogue = await of("rogue-main", [slots, String(seed), String(hangsUntil)]);
    for (const worker of [regular, rogue]) worker.start();
    return new Workers(regular, rogue);
  }

  private constructor(regular: WorkerProcess, rogue: WorkerProcess) {
    this.#regular = regular;
    this.#rogue = rogue;
  }

  get pids(): number[] {
    return [this.#regular, this.#rogue].flatMap(({ pid }) => pid ?? []);
  }

  get falseReports(): number {
    return ["duplicate", "stale", "unowned", "hang", "hang_started"].reduce(
      (sum, falseReport) => sum + this.#rogue.count(falseReport),
      0,
    );
  }

  /** Results that the server refused. */
  get refused(): number {
    return this.#rogue.count("refused") + this.#regular.count("run.result_refused");
  }

  async disturb(plan: readonly WorkerFault[], loadStart: number): Promise<DoneFault[]> {
    const done: DoneFault[] = [];
    for (const { kind, atMs, lastsMs } of plan) {
      await sleep(Math.max(0, loadStart + atMs - Date.now()));
      const from = Date.now();
      await this.#inject(kind, lastsMs);
      done.push({ kind, node: null, from, until: Date.now() });
    }
    return done;
  }

  async close(): Promise<void> {
    await Promise.all([this.#regular.close(), this.#rogue.close()]);
  }

  async #inject(kind: WorkerFault["kind"], lastsMs: number): Promise<void> {
    const worker = this.#regular;
    if (kind === "worker_kill") {
      await worker.kill();
      await sleep(lastsMs);
      worker.start();
    } else if (kind === "worker_freeze") {
      worker.freeze();
      await sleep(lastsMs);
      worker.thaw();
    } else {
      worker.loseAnswers();
      await sleep(lastsMs);
      await worker.resume();
    }
  }
}

interface WorkerSettings {
  /** A program of chaos/src/workers. */
  readonly program: "regular-main" | "rogue-main";
  /** The arguments before the node addresses. */
  readonly args: readonly string[];
  readonly urls: readonly string[];
  readonly logPath: string;
}

/** A worker in its own process, with its own proxies to the nodes. */
class WorkerProcess {
  readonly #settings: WorkerSettings;
  readonly #proxies: readonly TcpProxy[];
  readonly #counts = new Map<string, number>();
  #child: ChildProcess | null = null;

  static async make(settings: WorkerSettings): Promise<WorkerProcess> {
    return new WorkerProcess(settings, await Promise.all(settings.urls.map(hostRewritingProxy)));
  }

  private constructor(settings: WorkerSettings, proxies: readonly TcpProxy[]) {
    this.#settings = settings;
    this.#proxies = proxies;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** How often the process printed this event, or the sum of the counts that it printed with it. */
  count(event: string): number {
    return this.#counts.get(event) ?? 0;
  }

  start(): void {
    const { program, args, urls, logPath } = this.#settings;
    const path = join(root, `chaos/dist/chaos/src/workers/${program}.js`);
    const proxiedUrls = urls.map((url, index) => this.#proxies[index]?.through(url) ?? url);
    const child = spawn(process.execPath, [path, ...args, ...proxiedUrls], { stdio: ["ignore", "pipe", "pipe"] });
    const log = createWriteStream(logPath, { flags: "a" });
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => {
        log.write(`${line}\n`);
        const [event = "", count = "1"] = line.split(" ");
        this.#counts.set(event, this.count(event) + (Number(count) || 0));
      });
    this.#child = child;
  }

  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child?.kill("SIGCONT");
  }

  /** The server receives the worker's next polls, and the answers are lost. */
  loseAnswers(): void {
    for (const proxy of this.#proxies) proxy.loseAnswerTo(":poll");
  }

  async resume(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.resume()));
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async close(): Promise<void> {
    await this.kill();
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }
}

/** A node accepts only its own name as Host, so the filter replaces the proxy's host by the node's. */
async function hostRewritingProxy(url: string): Promise<TcpProxy> {
  const { host } = new URL(url);
  return TcpProxy.start(url, {
    filter: (chunk, from) =>
      from === "client"
        ? Buffer.from(chunk.toString("latin1").replaceAll(/(\r\nhost: )[^\r]+/gi, `$1${host}`), "latin1")
        : chunk,
  });
}
