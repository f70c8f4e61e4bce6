import type { SessionKind } from "@carillon/store";
import { expect, it } from "vitest";
import { TaskServers } from "../../../src/dispatch/sessions/task-servers.js";

const kind: SessionKind = { queues: ["*"], state: "active", count: 1, slots: 1 };

function setUp() {
  const served = { now: 0, tasks: [] as string[], reads: 0 };
  const sessions = {
    kinds: async (_: number, task: string) => {
      served.reads++;
      return served.tasks.includes(task) ? [kind] : [];
    },
    servedTasks: async () => served.tasks,
  };
  const servers = new TaskServers(sessions, { monotonic: () => served.now });
  const ask = async (task = "pdf") =>
    (await servers.whyUnserved(1, { task, queue: "default", policy: {} }))?.similarTask ?? null;
  const isServed = async () => (await servers.whyUnserved(1, { task: "pdf", queue: "default", policy: {} })) === null;
  return { served, ask, isServed };
}

it("a served task is read once in ten seconds, and concurrent calls share the read", async () => {
  const { served, isServed } = setUp();
  served.tasks = ["pdf"];
  expect(await Promise.all([isServed(), isServed(), isServed()])).toEqual([true, true, true]);
  served.now = 9_999;
  expect(await isServed()).toBe(true);
  expect(served.reads).toBe(1);
  served.tasks = [];
  served.now = 10_000;
  expect(await isServed()).toBe(false);
});

it("a task without a worker is read again after a second, so that a worker that has just started counts", async () => {
  const { served, isServed } = setUp();
  expect(await isServed()).toBe(false);
  served.tasks = ["pdf"];
  served.now = 999;
  expect(await isServed()).toBe(false);
  served.now = 1_000;
  expect(await isServed()).toBe(true);
});

it("the hint names a served task only if its name is similar", async () => {
  const { served, ask } = setUp();
  served.tasks = ["invoice.pdf", "email.welcome"];
  expect(await ask("invioce.pdf")).toBe("invoice.pdf");
  expect(await ask("backup")).toBeNull();
});
