import { compileSchedule, type Instant, type ScheduleContext, type ScheduleSpec } from "@carillon/core";
import type { EngineEvent } from "../../src/index.js";
import type { FireStore } from "../../src/schedules/fire-store.js";
import { Scheduler, type SchedulerOptions } from "../../src/scheduler/scheduler.js";
import type { Queued } from "@carillon/store";
import { newId, type StoreHarness, storeHarness } from "./store-harness.js";
import { membershipOf } from "../../src/cluster/coordinator.js";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

export interface LedgerRow {
  readonly version: number;
  readonly reason: string;
  readonly from: Instant;
  readonly to: Instant;
  readonly count: number;
  readonly detail: string | null;
}

export interface NodeOptions extends Partial<
  Pick<SchedulerOptions, "calendars" | "follow" | "resumeExpired" | "limits" | "onStopped">
> {
  /** Stands between the scheduler and the store. */
  readonly around?: (store: FireStore) => FireStore;
}

/** A scheduler that tests crank by hand, over a real store, with every shard of the cluster. */
export interface SchedulerNode {
  readonly scheduler: Scheduler;
  readonly events: EngineEvent[];
  readonly queued: Queued[];
  /** The node's clock minus the database's. */
  skewMs: number;
  /** Ticks until nothing is left to do at once. */
  settle(): Promise<void>;
  /** Ticks until this many such events were told. */
  until(type: EngineEvent["type"], times?: number): Promise<void>;
  count(type: EngineEvent["type"]): number;
}

export interface SchedulerHarness extends StoreHarness {
  /** Takes every shard from whoever had them. */
  node(options?: NodeOptions): Promise<SchedulerNode>;
  /** Instants of the job's scheduled runs, live or finished. */
  fired(jobId: string): Promise<Instant[]>;
  ledger(jobId: string): Promise<LedgerRow[]>;
  due(jobId: string): Promise<Record<string, unknown>>;
  /** Stores a maintenance window as a change does. */
  window(name: string, definition: object | null): Promise<void>;
  select(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]>;
}

export async function schedulerHarness(): Promise<SchedulerHarness> {
  const h = await storeHarness();
  const select = async (text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
    (await h.db.query({ text }, values)).rows;
  return {
    ...h,
    select,
    node: (options) => makeNode(h, options),
    async fired(jobId) {
      const rows = await select(
        `select nominal_at from carillon.run where job_id = $1 and trigger = 'schedule'
         union all select nominal_at from carillon.run_history where job_id = $1 and trigger = 'schedule' order by 1`,
        jobId,
      );
      return rows.map((row) => Number(row["nominal_at"]));
    },
    async ledger(jobId) {
      const { rows } = await h.db.query<LedgerRow>(
        {
          text: `select version, reason, from_at as "from", to_at as "to", count, detail
                 from carillon.occurrence where job_id = $1 order by from_at, reason`,
        },
        [jobId],
      );
      return rows;
    },
    due: async (jobId) => (await select("select * from carillon.job_due where job_id = $1", jobId))[0] ?? {},
    window: (name, definition) => putWindow(h, name, definition),
  };
}

async function makeNode(h: StoreHarness, options: NodeOptions = {}): Promise<SchedulerNode> {
  const { around = (store) => store, limits, ...rest } = options;
  const { node: nodeId, shards } = await h.takeAll(newId());
  const membership = membershipOf(nodeId, new Map(shards.map(({ id, epoch }) => [id, epoch])));
  const events: EngineEvent[] = [];
  const queued: Queued[] = [];
  const node = { skewMs: 0 };
  const scheduler = new Scheduler({
    ...rest,
    store: around(h.store.fires),
    now: () => h.db.clock.now() + node.skewMs,
    membership: () => membership,
    onQueued: (runs) => void queued.push(...runs),
    onEvent: (event) => void events.push(event),
    limits: { rereadAfterMs: 0, ...limits },
  });
  const count = (type: EngineEvent["type"]): number => events.filter((event) => event.type === type).length;
  return Object.assign(node, {
    scheduler,
    events,
    queued,
    count,
    async until(type: EngineEvent["type"], times = 1) {
      while (count(type) < times) await scheduler.tick();
    },
    async settle() {
      // Paced as in production. Until what is next is a good way off: after a read that took long, hints rest for a second.
      for (let ticks = 0; ticks < 5_000; ticks += 1) {
        await scheduler.tick();
        const { idleMs } = scheduler;
        if (idleMs > 1_100) return;
        await new Promise((resolve) => setTimeout(resolve, idleMs));
      }
      throw new Error("the scheduler finds no rest");
    },
  });
}

async function putWindow(h: StoreHarness, name: string, definition: object | null): Promise<void> {
  await h.db.transaction(async (tx) => {
    await tx.query({ text: "delete from carillon.maintenance_window where name = $1" }, [name]);
    if (definition !== null) {
      const text = `insert into carillon.maintenance_window (namespace_id, name, definition, created_at, updated_at)
                    values (1, $1, $2, now(), now())`;
      await tx.query({ text }, [name, JSON.stringify(definition)]);
    }
    await tx.query({ text: "update carillon.revision set value = value + 1 where name = 'windows'" });
  });
}

/** Every instant of a schedule with from <= instant <= to. */
export function instantsOf(
  schedule: ScheduleSpec,
  from: Instant,
  to: Instant,
  context: Partial<ScheduleContext> = {},
): Instant[] {
  const compiled = compileSchedule(schedule, { jobId: newId(), ...context });
  return compiled.between(from - 1, to, 1_000_000).map((fire) => fire.nominal);
}

/** Of these instants: those that are neither fired nor in the ledger, and those that are both or twice so. */
export function account(instants: readonly Instant[], fired: readonly Instant[], ledger: readonly LedgerRow[]) {
  const times = (at: Instant): number =>
    fired.filter((one) => one === at).length + ledger.filter((range) => range.from <= at && at <= range.to).length;
  return {
    lost: instants.filter((at) => times(at) === 0),
    twice: instants.filter((at) => times(at) > 1),
    counted: fired.length + ledger.reduce((sum, range) => sum + range.count, 0),
  };
}
