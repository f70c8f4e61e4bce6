import type { EnqueueSpec } from "@carillon/core";
import { freshDatabase } from "@carillon/testkit";
import { LocalTransport, Worker } from "@carillon/worker";
import { Client } from "pg";
import { type Database, Engine, openDatabase } from "../../src/index.js";
import { hostPorts, newId } from "./store-harness.js";

/** One change of a run's row. */
interface Step {
  readonly what: "insert" | "update" | "delete";
  readonly state: string;
  readonly fence: number;
  readonly session: string | null;
  readonly attempt: number;
}

/** A client that may connect and nothing else. */
export interface Outsider {
  /** The messages on the nodes' own channels. */
  readonly received: readonly string[];
  /** Resolves when every message so far was received. */
  caughtUp(): Promise<void>;
  /** Sends a node a message. */
  say(gatewayId: string, text: string): Promise<void>;
}

const channelOf = (gatewayId: string): string => `carillon_to_${gatewayId}`;

/** Only changes of state, session or fence, not the record of a start. */
const journal = `
  create table public.step (
    number bigint generated always as identity, run text, what text, state text, fence bigint, session uuid, attempt int);
  create function public.note_step() returns trigger language plpgsql as $$
    declare r carillon.run;
    begin
      r := case when tg_op = 'DELETE' then old else new end;
      insert into public.step (run, what, state, fence, session, attempt)
      values (r.payload::text, lower(tg_op), r.state, r.fence, r.session_id, r.attempt);
      return null;
    end $$;
  create trigger note_step after insert or delete on carillon.run for each row execute function public.note_step();
  create trigger note_change after update on carillon.run for each row
    when (old.state <> new.state or old.fence <> new.fence or old.session_id is distinct from new.session_id)
    execute function public.note_step();`;

/** Nodes that store runs, nodes with workers, and a journal of every change of a run. Runs are identified by their payload. */
export class DirectDispatchHarness {
  readonly url: string;
  readonly db: Database;
  /** The runs that handlers started, in their order, each with its worker. */
  readonly begun: string[] = [];
  readonly #drop: () => Promise<void>;
  readonly #databases: Database[] = [];
  readonly #engines: Engine[] = [];
  readonly #workers: Worker[] = [];
  readonly #closing: (() => Promise<void>)[] = [];
  readonly #ending = new Map<number, () => void>();
  #runs = 0;
  /** Handlers end as soon as they started. */
  isEager = true;

  private constructor(url: string, db: Database, drop: () => Promise<void>) {
    this.url = url;
    this.db = db;
    this.#drop = drop;
  }

  static async create(): Promise<DirectDispatchHarness> {
    const fresh = await freshDatabase({ migrated: true });
    const db = await openDatabase({ url: fresh.url, schema: "carillon", ...hostPorts });
    await db.query({ text: journal });
    return new DirectDispatchHarness(fresh.url, db, () => fresh.drop());
  }

  /** `isStill`: the clock of this node stands still, so that offers to it stay open until they are used up. */
  async node(name: string, { url = this.url, isStill = false } = {}): Promise<Engine> {
    const database = await openDatabase({ url, schema: "carillon", applicationName: name, ...hostPorts });
    this.#databases.push(database);
    const clock = isStill ? { now: Date.now, monotonic: () => 0 } : hostPorts.clock;
    const node = { name, address: null, version: "0" };
    const engine = new Engine({ database, ...hostPorts, clock, newId, node, alone: this.#engines.length === 0 });
    this.#engines.push(engine);
    await engine.start();
    return engine;
  }

  async worker(engine: Engine, name: string, slots = 10): Promise<Worker> {
    const transport = new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId });
    const timers = { ...hostPorts.timers, monotonic: hostPorts.clock.monotonic, soon: setImmediate };
    const run = (payload: unknown): Promise<null> => this.#run(Number(payload), name);
    const tasks = [{ name: "work", run }];
    const worker = new Worker({ transport, timers, tasks, name, queues: ["default"], slots });
    this.#workers.push(worker);
    await worker.start();
    return worker;
  }

  /** A role without any right, that listens on the channels of these gateways. */
  async outsider(gatewayIds: readonly string[]): Promise<Outsider> {
    const role = `r_${newId().replaceAll("-", "")}`;
    const client = new Client({ connectionString: this.url });
    await client.connect();
    await client.query(`create role ${role}`);
    this.#closing.push(async () => {
      await client.query(`reset role; drop role ${role}`);
      await client.end();
    });
    await client.query(`set role ${role}`);
    for (const id of gatewayIds) await client.query(`listen ${client.escapeIdentifier(channelOf(id))}`);
    const received: string[] = [];
    client.on("notification", ({ payload = "" }) => void received.push(payload));
    return {
      received,
      // Messages arrive before the answer to a later statement.
      caughtUp: async () => void (await client.query("select 1")),
      say: async (id, text) => void (await client.query("select pg_notify($1, $2)", [channelOf(id), text])),
    };
  }

  /** Returns the number that identifies the run. */
  async enqueue(engine: Engine, payload = ++this.#runs): Promise<number> {
    const spec: EnqueueSpec = {
      task: "work",
      payload,
      queue: "default",
      priority: 4,
      runAt: null,
      policy: {},
      labels: {},
    };
    await engine.enqueuer.enqueue("default", spec);
    return payload;
  }

  /** Resolves when a run of this node was stored for a worker, and has ended: the rest of the offer stays open. Returns the worker's session. */
  async untilDirect(engine: Engine): Promise<string> {
    for (;;) {
      const run = await this.enqueue(engine);
      await this.untilEnded(run);
      const [first] = await this.steps(run);
      if (first?.state === "running" && first.session !== null) return first.session;
    }
  }

  async steps(run: number): Promise<Step[]> {
    const text = "select what, state, fence::int, session, attempt from public.step where run = $1 order by number";
    return (await this.db.query<Step>({ text }, [String(run)])).rows;
  }

  /** Resolves when the steps are as wanted. */
  async untilSteps(run: number, holds: (steps: readonly Step[]) => boolean): Promise<void> {
    while (!holds(await this.steps(run)));
  }

  untilEnded(run: number): Promise<void> {
    return this.untilSteps(run, (steps) => steps.at(-1)?.what === "delete");
  }

  /** The changes of a run, in short. */
  async story(run: number): Promise<string[]> {
    return (await this.steps(run)).map(({ what, state, fence }) => `${what} ${state} ${fence}`);
  }

  /** The tries and losses of a run that has ended. */
  async spent(run: number): Promise<unknown> {
    const text = "select status, attempt::int, losses::int from carillon.run_history where payload::text = $1";
    return (await this.db.query({ text }, [String(run)])).rows;
  }

  begins(run: number): string[] {
    return this.begun.filter((begin) => begin.startsWith(`${run} `));
  }

  end(run: number): void {
    this.#ending.get(run)?.();
  }

  async close(): Promise<void> {
    this.isEager = true;
    for (const end of this.#ending.values()) end();
    for (const close of this.#closing) await close();
    for (const worker of this.#workers) await worker.stop(0);
    for (const engine of this.#engines) await engine.stop();
    for (const database of [...this.#databases, this.db]) await database.close();
    await this.#drop();
  }

  async #run(run: number, worker: string): Promise<null> {
    this.begun.push(`${run} ${worker}`);
    if (!this.isEager) await new Promise<void>((resolve) => this.#ending.set(run, resolve));
    return null;
  }
}
