import type { EnqueueSpec } from "@carillon/core";
import { expect, it } from "vitest";
import { RunEnqueuer } from "../../../src/enqueue/run-enqueuer.js";
import type { LaneName, NewRun } from "@carillon/store";

/** An enqueuer that knows no lane yet; a lane is named by what it requires. */
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
  let asked = 0;
  const enqueuer = new RunEnqueuer({
    lanes: { known: () => null, ensure: (names) => (asked++, ensure(names)) },
    queues: { isKnown: () => false, orderOf: () => null, ensure: async () => undefined },
    insertNow: {
      add: async (run: NewRun) => {
        stored.push(run);
        return 0;
      },
    } as never,
    insertRun: {} as never,
    insertDeduped: {} as never,
    chunk: 100,
    rank: () => 0,
    newId: () => `id-${stored.length}`,
    now: () => 0,
    shards: 1,
    catchupWindowMs: 0,
    onDueRuns: () => undefined,
    onQueued: () => undefined,
  });
  const laneOf = (payload: unknown) => lanes[stored.find((run) => run.payload === payload)?.lane ?? -1];
  return { enqueuer, laneOf, asked: () => asked };
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

it("runs that are asked for together while no lane is known lie each in the lane of what it requires", async () => {
  const { enqueuer, laneOf, asked } = setUp();
  const specs = [spec("any"), spec("gpu", { gpu: "a100" }), spec("eu", { region: "eu" }), spec("also any")];
  await Promise.all(specs.map((one) => enqueuer.enqueue(1, one)));
  expect(specs.map(({ payload }) => laneOf(payload))).toEqual(["", "gpu=a100", "region=eu", ""]);
  expect(asked()).toBe(3);
});
