import type { JobSpec, ScheduleSpec } from "@carillon/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Engine } from "../../../src/index.js";
import { LimitHarness } from "../../harness/limit-harness.js";

let h: LimitHarness;
beforeEach(async () => {
  h = await LimitHarness.create();
});
afterEach(() => h.close());

const policy = { concurrency: { key: "customer:{payload.key}", limit: 1 } };
const payload = { key: "a" };

function job(schedule: ScheduleSpec): JobSpec {
  const firing = { overlap: "allow" as const };
  return { task: "work", payload, queue: "default", priority: 4, policy, labels: {}, schedule, firing };
}

async function thrice(make: () => Promise<unknown>): Promise<void> {
  for (let count = 0; count < 3; count++) await make();
}

const ways: Record<string, (engine: Engine) => Promise<unknown>> = {
  "a call for one run": (engine) => thrice(() => engine.enqueuer.enqueue("default", h.spec(policy, payload))),
  "a call for many": (engine) => h.enqueue(engine, policy, [payload, payload, payload]),
  "a delay": (engine) =>
    thrice(() => engine.enqueuer.enqueue("default", h.spec(policy, payload, { runAt: Date.now() + 300 }))),
  "a dedupe key": (engine) => {
    let count = 0;
    return thrice(() => {
      const dedupe = { key: `d${count++}`, on: "ignore" as const, windowMs: null };
      return engine.enqueuer.enqueue("default", h.spec(policy, payload, { dedupe }));
    });
  },
  "a one-off job": (engine) => thrice(() => engine.jobs.create("default", job({ kind: "at", at: Date.now() }))),
  "a schedule": (engine) => engine.jobs.create("default", job({ kind: "every", everyMs: 1_000, anchor: Date.now() })),
  "run-now": async (engine) => {
    const { id } = await engine.jobs.create("default", job({ kind: "manual" }));
    await thrice(() => engine.jobs.runNow("default", { id }, {}, { actor: null }));
  },
  "plain SQL": () =>
    thrice(() =>
      h.query("select carillon.enqueue('work', '{\"key\":\"a\"}', policy => $1::jsonb)", [JSON.stringify(policy)]),
    ),
};

test.each(Object.keys(ways))("runs that are created by %s are held to their limits [INV-14]", async (way) => {
  const engine = await h.startNode();
  await ways[way]?.(engine);
  for (let count = 1; count <= 3; count++) {
    await h.until(() => h.begun >= count);
    expect(h.open).toHaveLength(1);
    // The next run waits behind the gate, unless this was the last.
    if (count < 3) await h.untilRow("select from carillon.run where state = 'blocked'");
    h.endOne();
  }
  expect(h.maxOpen().get("a")).toBe(1);
});
