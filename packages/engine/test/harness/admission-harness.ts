import type { RunPolicy } from "@carillon/core";
import { LimitAdmitter } from "../../src/limits/limit-admitter.js";
import { audits, runAudit } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";
import { testContext } from "./test-context.js";
import { newRun, type StoreHarness, storeHarness } from "./store-harness.js";

export interface SteppedAdmitter {
  /** Notifies it that runs ended or were given back. */
  readonly released: (runIds: readonly string[]) => void;
  /** A step that begins with a sweep. */
  readonly tick: () => Promise<number>;
  /** A step without a sweep. */
  readonly tickOnly: () => Promise<number>;
}

/** Admission over a store, step by step. */
export class AdmissionHarness {
  readonly h: StoreHarness;
  readonly #lane: number;

  private constructor(h: StoreHarness, lane: number) {
    this.h = h;
    this.#lane = lane;
  }

  static async create(): Promise<AdmissionHarness> {
    const h = await storeHarness();
    await h.store.catalog.queues.ensure(1, ["default"]);
    const [lane = 0] = await h.store.lanes.ensure([{ queue: "default", task: "echo", kind: "gated" }]);
    return new AdmissionHarness(h, lane);
  }

  /** Empties the tables for the next test of the file. */
  async reset(): Promise<void> {
    await this.h.db.query({
      text: `truncate carillon.run, carillon.run_history, carillon.redrive, carillon.limit_key, carillon.limit_hold, carillon.worker_session;
             update carillon.queue set limits = null, pause = null; update carillon.namespace set limits = null;
             update carillon.revision set value = 0 where name = 'limits'`,
    });
  }

  /** The admitter of a node, over its own connections if it has some. */
  admitter(store: EngineStore = this.h.store, over: Partial<EngineStore> = {}): SteppedAdmitter {
    let time = 0;
    const context = testContext({
      database: this.h.db,
      store: { ...store, ...over },
      clock: { now: Date.now, monotonic: () => time },
    });
    const admitter = new LimitAdmitter(context, { limitOwners: { all: [] } });
    return {
      released: (runIds) => context.wakeups.publish("limits.released", runIds),
      tickOnly: () => admitter.tick(),
      tick() {
        time += 60_000;
        return admitter.tick();
      },
    };
  }

  /** Stores runs with these limits; returns their ids. */
  async runs(policy: RunPolicy, count: number, payload: unknown = { key: "a" }): Promise<string[]> {
    const runs = Array.from({ length: count }, (_, index) => {
      const run = newRun(this.#lane, { policy, payload });
      return { ...run, rank: run.rank + index, nominal: run.nominal + index, runAt: run.runAt };
    });
    await this.h.store.runs.insert(runs);
    return runs.map((run) => run.id);
  }

  /** How many runs are in each state. */
  async states(): Promise<Record<string, number>> {
    const { rows } = await this.h.db.query<{ state: string; count: number }>({
      text: "select state, count(*)::int as count from carillon.run group by state order by state",
    });
    return Object.fromEntries(rows.map((row) => [row.state, row.count]));
  }

  async used(): Promise<number[]> {
    const { rows } = await this.h.db.query<{ used: number }>({
      text: "select used from carillon.limit_key order by id",
    });
    return rows.map((row) => row.used);
  }

  async finish(session: string, runs: readonly { id: string; fence: number }[]): Promise<void> {
    const succeeded = runs.map(({ id, fence }) => ({
      session,
      id,
      fence,
      status: "succeeded" as const,
      reason: null,
      output: "null",
      error: null,
      startedAt: Date.now(),
    }));
    await this.h.store.claims.completeAndClaim({ succeeded, demand: null });
  }

  /** The violations that the audits of limits find. */
  async broken(): Promise<unknown[]> {
    const found = audits("carillon").filter(({ invariant }) => invariant === 8 || invariant === 14);
    const results = await Promise.all(found.map((audit) => runAudit(this.h.db, audit)));
    return results.filter((result) => result !== null);
  }

  close(): Promise<void> {
    return this.h.close();
  }
}
