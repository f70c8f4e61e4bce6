import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { actor, spec } from "../../harness/change-harness.js";
import { EngineHarness } from "../../harness/engine-harness.js";

let h: EngineHarness;
beforeEach(async () => {
  h = await EngineHarness.create();
});
afterEach(() => h.close());

describe("two nodes with a worker each", () => {
  it("starts every job of a chain once for each run of the first, on two nodes with a worker each", async () => {
    const [one, two] = [await h.startNode("one"), await h.startNode("two")];
    const ended = new Map<string, number>();
    const counting = (name: string) => ({
      name,
      run: async () => {
        ended.set(name, (ended.get(name) ?? 0) + 1);
        h.checkConditions();
        return { rows: 1 };
      },
    });
    for (const node of [one, two]) await h.startWorker(node, ...["first", "second", "third"].map(counting));
    const firing = { overlap: "allow" } as const;
    const { id } = await one.jobs.create("default", spec({ key: "first", task: "first", firing }));
    const after = (job: string, when?: string) => ({
      kind: "after" as const,
      after: [{ job, on: "success" as const, ...(when !== undefined && { when }) }],
    });
    const chain = { key: "second", task: "second", firing, schedule: after("first", "output.rows == 1") };
    await one.jobs.create("default", spec(chain));
    await two.jobs.create("default", spec({ key: "third", task: "third", firing, schedule: after("second") }));
    const runs = 20;
    for (let n = 0; n < runs; n++) await (n % 2 === 0 ? one : two).jobs.runNow("default", { id }, {}, actor);
    await h.until(() => ended.get("third") === runs);
    expect(Object.fromEntries(ended)).toEqual({ first: runs, second: runs, third: runs });
  });
});
