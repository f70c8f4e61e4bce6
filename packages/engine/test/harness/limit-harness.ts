import type { EnqueueSpec, Instant, RunPolicy } from "@carillon/core";
import type { Engine, EngineEvent } from "../../src/index.js";
import { EngineHarness } from "./engine-harness.js";

/** A start or an end of a handler. */
export interface JournalEntry {
  readonly kind: "begin" | "end";
  readonly key: string;
  readonly number: number;
  readonly runId: string;
  readonly at: Instant;
}

/** Nodes with workers whose handlers keep a journal of their starts and ends, and end when the test ends them. */
export class LimitHarness {
  readonly journal: JournalEntry[] = [];
  readonly engines: EngineHarness;
  readonly #open = new Map<number, { key: string; end: (error?: Error) => void }>();
  #begun = 0;
  /** Handlers end by themselves as soon as they have begun. */
  isEager = false;

  private constructor(engines: EngineHarness) {
    this.engines = engines;
  }

  static async create(): Promise<LimitHarness> {
    return new LimitHarness(await EngineHarness.create());
  }

  async startNode(name?: string): Promise<Engine> {
    const engine = await this.engines.startNode(name);
    await this.startWorker(engine);
    return engine;
  }

  async startWorker(engine: Engine): Promise<void> {
    await this.engines.startWorker(engine, { name: "work", run: (payload, { runId }) => this.#run(payload, runId) });
  }

  spec(policy: RunPolicy, payload: unknown = { key: "a" }, over: Partial<EnqueueSpec> = {}): EnqueueSpec {
    return { task: "work", payload, queue: "default", priority: 4, runAt: null, policy, labels: {}, ...over };
  }

  async enqueue(engine: Engine, policy: RunPolicy, payloads: readonly unknown[]): Promise<string[]> {
    const made = await engine.enqueuer.enqueueMany(
      "default",
      payloads.map((payload) => this.spec(policy, payload)),
    );
    return made.map((one) => {
      if ("error" in one) throw one.error;
      return one.id;
    });
  }

  until(holds: () => boolean): Promise<void> {
    return this.engines.until(holds);
  }

  /** Keys of the runs that are open now. */
  get open(): string[] {
    return [...this.#open.values()].map((one) => one.key);
  }

  get begun(): number {
    return this.#begun;
  }

  get ended(): number {
    return this.journal.filter((entry) => entry.kind === "end").length;
  }

  /** The most runs of one key that were ever open at once. */
  maxOpen(): Map<string, number> {
    const open = new Map<string, number>();
    const most = new Map<string, number>();
    for (const { kind, key } of this.journal) {
      const count = (open.get(key) ?? 0) + (kind === "begin" ? 1 : -1);
      open.set(key, count);
      most.set(key, Math.max(count, most.get(key) ?? 0));
    }
    return most;
  }

  /** Ends the run that began first, of all or of one key. */
  endOne(key?: string, error?: Error): void {
    for (const run of this.#open.values()) {
      if (key !== undefined && run.key !== key) continue;
      run.end(error);
      return;
    }
    throw new Error(`no run of ${key ?? "any key"} is open`);
  }

  endAll(): void {
    for (const run of this.#open.values()) run.end();
  }

  events(type: EngineEvent["type"]): EngineEvent[] {
    return this.engines.events.filter((event) => event.type === type);
  }

  /** Resolves when the query has a row. */
  async untilRow(text: string, values: readonly unknown[] = []): Promise<void> {
    while ((await this.query(text, values)).length === 0);
  }

  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.engines.database.query<Row>({ text }, [...values])).rows;
  }

  async close(): Promise<void> {
    this.isEager = true;
    this.endAll();
    await this.engines.close();
  }

  #run(payload: unknown, runId: string): Promise<null> {
    const number = ++this.#begun;
    const key = (payload as { key?: string } | null)?.key ?? "";
    const write = (kind: JournalEntry["kind"]): unknown =>
      this.journal.push({ kind, key, number, runId, at: Date.now() });
    return new Promise((resolve, reject) => {
      const end = (error?: Error): void => {
        if (!this.#open.delete(number)) return;
        write("end");
        if (error === undefined) resolve(null);
        else reject(error);
        this.engines.checkConditions();
      };
      this.#open.set(number, { key, end });
      write("begin");
      if (this.isEager) setImmediate(end);
      this.engines.checkConditions();
    });
  }
}
