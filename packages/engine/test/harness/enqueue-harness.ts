import type { Dedupe, EnqueueSpec } from "@carillon/core";
import { freshDatabase } from "@carillon/testkit";
import { type Database, Engine, openDatabase } from "../../src/index.js";
import type { EngineLimits } from "../../src/options.js";
import { hostPorts, newId } from "./store-harness.js";

export const runSpec = (over: Partial<EnqueueSpec> = {}): EnqueueSpec => ({
  task: "work",
  queue: "default",
  priority: 4,
  payload: { n: 1 },
  runAt: null,
  policy: {},
  labels: {},
  ...over,
});

export const keyed = (key: string, over: Partial<Dedupe> = {}): EnqueueSpec =>
  runSpec({ dedupe: { key, on: "ignore", windowMs: null, ...over } });

/** Nodes that store runs over one database; their loops do not run. */
export class EnqueueHarness {
  readonly url: string;
  readonly databases: Database[] = [];
  readonly #drop: () => Promise<void>;

  private constructor(url: string, drop: () => Promise<void>) {
    this.url = url;
    this.#drop = drop;
  }

  static async create(): Promise<EnqueueHarness> {
    const fresh = await freshDatabase({ migrated: true });
    return new EnqueueHarness(fresh.url, () => fresh.drop());
  }

  async node(limits: Partial<EngineLimits> = {}): Promise<Engine> {
    const database = await openDatabase({ url: this.url, schema: "carillon", ...hostPorts });
    this.databases.push(database);
    const node = { name: "test", address: null, version: "0" };
    return new Engine({ database, ...hostPorts, newId, node, alone: false, limits });
  }

  get database(): Database {
    const [first] = this.databases;
    if (first === undefined) throw new Error("there is no node");
    return first;
  }

  async rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.database.query<Row>({ text }, values)).rows;
  }

  /** The run ends as if a worker had done it. */
  async end(id: string): Promise<void> {
    await this.rows(
      `with ended as (delete from carillon.run where id = $1 returning *)
       insert into carillon.run_history (id, job_id, namespace_id, status, priority, run_at, nominal_at, created_at, trigger, task,
         queue, attempt, losses, fence, finished_at)
       select id, job_id, namespace_id, 'succeeded', priority, run_at, nominal_at, created_at, trigger, task, queue, 1, 0, 1,
         clock_timestamp() from ended`,
      [id],
    );
  }

  async hold(id: string): Promise<void> {
    await this.rows("update carillon.run set state = 'running', session_id = gen_random_uuid() where id = $1", [id]);
  }

  async close(): Promise<void> {
    for (const database of this.databases) await database.close();
    await this.#drop();
  }
}
