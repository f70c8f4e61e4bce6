import { isRunEnd } from "@carillon/core";
import { LocalTransport, type Task, Worker } from "@carillon/worker";
import { freshDatabase } from "@carillon/testkit";
import { type Database, Engine, type EngineEvent, openDatabase } from "../../src/index.js";
import { hostPorts, newId } from "./store-harness.js";

/** Nodes with their loops running, and workers inside them. */
export class EngineHarness {
  readonly events: EngineEvent[] = [];
  readonly url: string;
  readonly #drop: () => Promise<void>;
  readonly #databases: Database[] = [];
  readonly #engines: Engine[] = [];
  readonly #workers: Worker[] = [];
  #watchers: { readonly holds: () => boolean; readonly resolve: () => void }[] = [];

  private constructor(url: string, drop: () => Promise<void>) {
    this.url = url;
    this.#drop = drop;
  }

  static async create(): Promise<EngineHarness> {
    const fresh = await freshDatabase({ migrated: true });
    return new EngineHarness(fresh.url, () => fresh.drop());
  }

  get database(): Database {
    const [first] = this.#databases;
    if (first === undefined) throw new Error("no node was started");
    return first;
  }

  async startNode(name = "test", url = this.url): Promise<Engine> {
    const database = await openDatabase({ url, schema: "carillon", ...hostPorts });
    this.#databases.push(database);
    const node = { name, address: null, version: "0" };
    const alone = this.#engines.length === 0;
    const engine = new Engine({ database, ...hostPorts, newId, node, alone, onEvent: (event) => this.#take(event) });
    this.#engines.push(engine);
    await engine.start();
    return engine;
  }

  async startWorker(engine: Engine, ...tasks: Task[]): Promise<Worker> {
    const transport = new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId });
    const timers = { ...hostPorts.timers, monotonic: hostPorts.clock.monotonic, soon: setImmediate };
    const worker = new Worker({ transport, timers, tasks, name: "w", queues: ["default"], slots: 10 });
    this.#workers.push(worker);
    await worker.start();
    return worker;
  }

  /** Resolves when the condition holds; checked after every event and by `checkConditions`. */
  until(holds: () => boolean): Promise<void> {
    return holds() ? Promise.resolve() : new Promise((resolve) => this.#watchers.push({ holds, resolve }));
  }

  /** How many runs have ended, with any status. */
  countEnds(): number {
    return this.events.filter(isRunEnd).length;
  }

  count(type: EngineEvent["type"]): number {
    return this.events.filter((event) => event.type === type).length;
  }

  checkConditions(): void {
    for (const watcher of this.#watchers) if (watcher.holds()) watcher.resolve();
    this.#watchers = this.#watchers.filter((watcher) => !watcher.holds());
  }

  /** Workers and nodes, as if the last of them had gone. */
  async stopNodes(): Promise<void> {
    for (const worker of this.#workers.splice(0)) await worker.stop(0);
    for (const engine of this.#engines.splice(0)) await engine.stop();
  }

  async close(): Promise<void> {
    await this.stopNodes();
    for (const database of this.#databases) await database.close();
    await this.#drop();
  }

  #take(event: EngineEvent): void {
    this.events.push(event);
    this.checkConditions();
  }
}

/** A task whose runs the test ends one by one, with the order in which they began and ended. */
export class JournalTask {
  readonly task: Task;
  readonly entries: string[] = [];
  readonly signals = new Map<number, AbortSignal>();
  readonly #open = new Map<number, () => void>();
  #begun = 0;

  /** Each run is known by the number with which it began; `onChange` is called at every entry. */
  constructor(name: string, onChange: () => void) {
    this.task = {
      name,
      run: (_payload, { signal }) =>
        new Promise((resolve, reject) => {
          const number = ++this.#begun;
          const end = (word: string, settle: () => void) => (): void => {
            if (!this.#open.delete(number)) return;
            this.entries.push(`${word} ${number}`);
            settle();
            onChange();
          };
          this.#open.set(
            number,
            end("end", () => resolve(number)),
          );
          this.signals.set(number, signal);
          signal.addEventListener(
            "abort",
            end("stop", () => reject(new Error("stopped"))),
            { once: true },
          );
          this.entries.push(`begin ${number}`);
          onChange();
        }),
    };
  }

  get begun(): number {
    return this.#begun;
  }

  end(number: number): void {
    this.#open.get(number)?.();
  }

  /** Whether two of its runs were ever open at the same time. */
  get hasOverlap(): boolean {
    let open = 0;
    return this.entries.some((entry) => (open += entry.startsWith("begin") ? 1 : -1) > 1);
  }
}
