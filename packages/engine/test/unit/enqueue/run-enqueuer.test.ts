import type { EnqueueSpec } from "@carillon/core";
import { expect, it } from "vitest";
import { RunEnqueuer, type RunEnqueuerContext, type RunEnqueuerDeps } from "../../../src/enqueue/run-enqueuer.js";
import type { LaneName, NewRun } from "@carillon/store";

/** An enqueuer that knows no lane yet. A lane is named after the labels that it requires. */
function setUp() {
  const stored: NewRun[] = [];
  const lanes: string[] = [];
  const ensure = async (names: readonly LaneName[]): Promise<number[]> => {
    await Promise.resolve();
    return names.map(({ requires = "" }) => {
      if (!lanes.includes(requires)) lanes.push(requires);
      return lanes.indexOf(requires);
    });
  };
  let lookups = 0;
  const context: RunEnqueuerContext = {
    newId: () => `id-${stored.length}`,
    now: () => 0,
    shardCount: 1,
    limits: { insertBatch: 100 },
    store: { lanes: { known: () => null, ensure: (names) => (lookups++, ensure(names)) } },
    wakeups: { runsDue: () => undefined, runsQueued: () => undefined },
  };
  const add = async (run: NewRun): Promise<number> => {
    stored.push(run);
    return 0;
  };
  const enqueuer = new RunEnqueuer(context, {
    catalog: {
      rank: () => 0,
      queues: { isKnown: () => false, orderOf: () => null, ensure: async () => undefined },
    },
    inserts: { runsNow: { add }, runs: {}, deduped: {} } as RunEnqueuerDeps["inserts"],
  });
  const laneOf = (payload: unknown) => lanes[stored.find((run) => run.payload === payload)?.lane ?? -1];
  return { enqueuer, laneOf, lookups: () => lookups };
}

const spec = (payload: string, requires?: Record<string, string>): EnqueueSpec => ({
  task: "render",
  queue: "default",
  priority: 4,
  payload,
  runAt: null,
  policy: requires === undefined ? {} : { requires },
  labels: {},
});

it("concurrent calls for unknown lanes store each run in the lane of its requirements, with one lookup per lane", async () => {
  const { enqueuer, laneOf, lookups } = setUp();
  const specs = [spec("any"), spec("gpu", { gpu: "a100" }), spec("eu", { region: "eu" }), spec("also any")];
  await Promise.all(specs.map((one) => enqueuer.enqueue(1, one)));
  expect(specs.map(({ payload }) => laneOf(payload))).toEqual(["", "gpu=a100", "region=eu", ""]);
  expect(lookups()).toBe(3);
});
