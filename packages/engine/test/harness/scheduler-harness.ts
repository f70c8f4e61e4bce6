import { compileSchedule, type Instant, type ScheduleContext, type ScheduleSpec } from "@carillon/core";
import type { Queued } from "@carillon/store";
import { membershipOf } from "../../src/cluster/shards.js";
import type { EngineEvent } from "../../src/index.js";
import { Scheduler, type SchedulerDeps } from "../../src/scheduler/scheduler.js";
import type { FireStore } from "../../src/schedules/fire-store.js";
import { reportStopped, schedulerContext } from "./scheduler-context.js";
import { newId, type StoreHarness, storeHarness } from "./store-harness.js";

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

export interface NodeOptions extends Pick<SchedulerDeps, "calendars" | "limits"> {
  /** Called with the running runs that a fire stops. */
  readonly onStopped?: (runIds: readonly string[]) => void;
  /** Wraps the store that the scheduler uses. */
  readonly around?: (store: FireStore) => FireStore;
}

/** A scheduler over a real store that owns every shard; the test ticks it. */
export interface SchedulerNode {
  readonly scheduler: Scheduler;
  readonly events: EngineEvent[];
  readonly queued: Queued[];
  /** The node's clock minus the database's. */
  skewMs: number;
  /** Ticks until the next tick may wait. */
  settle(): Promise<void>;
  /** Ticks until this many such events were emitted. */
  until(type: EngineEvent["type"], times?: number): Promise<void>;
  count(type: EngineEvent["type"]): number;
}

export interface SchedulerHarness extends StoreHarness {
  /** Takes every shard from its owner. */
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
  const { around = (store) => store, limits, calendars, onStopped = () => undefined } = options;
  const { node: nodeId, shards } = await h.takeAll(newId());
  const membership = membershipOf(nodeId, new Map(shards.map(({ id, epoch }) => [id, epoch])));
  const events: EngineEvent[] = [];
  const queued: Queued[] = [];
  const node = { skewMs: 0 };
  const context = schedulerContext({
    now: () => h.db.clock.now() + node.skewMs,
    membership: () => membership,
    onQueued: (runs) => void queued.push(...runs),
    emit: (event) => void events.push(event),
  });
  const scheduler = new Scheduler(context, {
    store: reportStopped(around(h.store.fires), onStopped),
    ...(calendars !== undefined && { calendars }),
    limits: { aheadMs: 0, rereadAfterMs: 0, ...limits },
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
      // Paced as in production. After a long read the shard reader ignores requests for up to a second, so only a longer pause means idle.
      for (let ticks = 0; ticks < 5_000; ticks += 1) {
        await scheduler.tick();
        const { idleMs } = scheduler;
        if (idleMs > 1_100) return;
        await new Promise((resolve) => setTimeout(resolve, idleMs));
      }
      throw new Error("The scheduler has not become idle in 5,000 ticks.");
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

/** lost: instants that are neither fired nor in the ledger. twice: instants that are in both, or in one of them more than once. */
export function account(instants: readonly Instant[], fired: readonly Instant[], ledger: readonly LedgerRow[]) {
  const times = (at: Instant): number =>
    fired.filter((one) => one === at).length + ledger.filter((range) => range.from <= at && at <= range.to).length;
  return {
    lost: instants.filter((at) => times(at) === 0),
    twice: instants.filter((at) => times(at) > 1),
    counted: fired.length + ledger.reduce((sum, range) => sum + range.count, 0),
  };
}
