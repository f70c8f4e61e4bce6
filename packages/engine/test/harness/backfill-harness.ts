import type { Instant } from "@carillon/core";
import type { Fence } from "@carillon/store";
import { BackfillRunner } from "../../src/backfills/backfill-runner.js";
import { BackfillStepper } from "../../src/backfills/backfill-stepper.js";
import { PastRules } from "../../src/backfills/past-rules.js";
import { CalendarCompiler } from "../../src/calendars/calendar-cache.js";
import { membershipOf } from "../../src/cluster/shards.js";
import type { BackfillRequest, BackfillView, EngineEvent } from "../../src/index.js";
import { actor, type ChangeHarness, changeHarness, period } from "./change-harness.js";
import type { EngineStore } from "./engine-store.js";
import { testContext } from "./test-context.js";

export const defaults: BackfillRequest = {
  from: 0,
  to: 0,
  perSecond: 1_000,
  concurrency: 1_000,
  repeats: false,
  force: false,
};

/** A node that takes steps of backfills when a test calls it, by a clock that only tests advance. */
export interface BackfillNode {
  readonly runner: BackfillRunner;
  readonly stepper: BackfillStepper;
  readonly events: EngineEvent[];
  fence: Fence;
}

export interface BackfillHarness extends ChangeHarness {
  /** The clock of every runner. */
  readonly time: { now: Instant };
  readonly node: BackfillNode;
  makeNode(fence: Fence, store?: EngineStore): BackfillNode;
  /** A recurring job that is not due: its latest occurrence has been fired or skipped. */
  settledJob: ChangeHarness["recurring"];
  /** Starts a backfill of the last so many occurrences. */
  start(jobId: string, count: number, over?: Partial<BackfillRequest>): Promise<BackfillView>;
  get(id: string): Promise<BackfillView>;
  /** Ticks, advancing the clock, until no step is left. */
  drain(node?: BackfillNode): Promise<void>;
  /** The nominal instants of a job's live runs, as how many periods before the latest. */
  places(jobId: string): Promise<number[]>;
  /** Deletes the live runs of a job, as if retention had deleted their days from history. */
  forgetRuns(jobId: string): Promise<void>;
}

export async function backfillHarness(): Promise<BackfillHarness> {
  const h = await changeHarness();
  const time = { now: Math.ceil(h.db.clock.now()) + 60_000 };
  const makeNode: BackfillHarness["makeNode"] = (fence, store = h.store) => {
    const now = (): Instant => time.now;
    const context = Object.assign(testContext({ store, now }), {
      membership: () => membershipOf(made.fence.node, new Map(made.fence.shards.map(({ id, epoch }) => [id, epoch]))),
    });
    const rules = new PastRules(store.past, new CalendarCompiler());
    const stepper = new BackfillStepper(context, { unitOfWork: store.unitOfWork, queues: store.queueCache, rules });
    const runner = new BackfillRunner(context, stepper);
    const made: BackfillNode = { runner, stepper, events: context.emitted, fence };
    return made;
  };
  const node = makeNode(h.fence);
  return {
    ...h,
    time,
    node,
    makeNode,
    settledJob: (over, ago = -1) => h.recurring(over, ago),
    start: (id, count, over = {}) =>
      h.engine.backfills.start("default", { id }, { ...defaults, ...lastOf(h, count), ...over }, actor),
    async get(id) {
      const view = await h.engine.backfills.get("default", id);
      if (view === null) throw new Error(`there is no backfill ${id}`);
      return view;
    },
    async drain(by = node) {
      for (let idle = 0; idle < 2; time.now += 1_000) idle = (await by.runner.tick()) === 0 ? idle + 1 : 0;
    },
    places: async (id) => (await h.runs(id)).map((run) => (h.last - Number(run["nominal_at"])) / period),
    forgetRuns: async (id) => void (await h.select("delete from carillon.run where job_id = $1", id)),
  };
}

export function lastOf({ last }: Pick<ChangeHarness, "last">, count: number): { from: Instant; to: Instant } {
  return { from: last - (count - 1) * period, to: last };
}
