import { expect, it } from "vitest";
import { judgeYear } from "./oracle/judge-year.js";
import { Simulation } from "./world/simulation.js";

const five = Date.UTC(2026, 0, 5, 5);
const minute = 60_000;

it("accepts a run that was decided before a maintenance window opened, and whose statement hung until it was open", async () => {
  const dueAt = five + 59 * minute;
  const world: Simulation = new Simulation({
    seed: 1,
    startsAt: five,
    around: (store, tables) => ({
      ...store,
      // The fire is the statement after this read.
      async loadRuns(...args) {
        const due = await store.loadRuns(...args);
        if (tables.now() === dueAt)
          for (const node of world.cluster.up) node.fault = { how: "stall", forMs: 5 * minute };
        return due;
      },
    }),
  });
  const times = { kind: "recurring", cron: "0 6 * * *", timeZone: "UTC", durationMs: 60 * minute } as const;
  world.setWindows([{ name: "early", mode: "hold", scope: {}, time: times }], true);
  await world.cluster.start(0);
  const schedule = { kind: "at", at: dueAt } as const;
  const spec = { task: "echo", queue: "mail", priority: 4, payload: null, schedule, policy: {}, labels: {} };
  world.create({ spec: { ...spec, firing: { misfireThresholdMs: 1 } }, bornAt: five, runMs: 1_000 });
  world.agenda.add(dueAt + 30 * minute, () => undefined);
  await world.run(dueAt + 30 * minute);
  const record = world.record(world.now);
  expect(record.ended.map(({ run }) => run.createdAt)).toEqual([dueAt + 5 * minute]);
  expect(judgeYear(record).report).toBe("");
});
