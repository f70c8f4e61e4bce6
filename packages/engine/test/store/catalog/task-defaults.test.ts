import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import type { WorkerRegistration } from "../../../src/dispatch/sessions/worker-registration.js";
import type { EngineEvent } from "../../../src/events.js";
import { Tasks } from "../../../src/catalog/tasks.js";
import { createEngineStore } from "../../harness/engine-store.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let gateway: Gateway;
let events: readonly EngineEvent[];
let hints = 0;
let tests = 0;
/** Each test has a task of its own. */
let task = "";
beforeAll(async () => {
  h = await storeHarness();
  ({ gateway, events } = gatewayOver(h, { wakeups: { announce: () => void hints++ } }));
});
afterAll(async () => {
  gateway.stop();
  await h.close();
});
beforeEach(() => {
  task = `task-${++tests}`;
});

const nothing = (): void => undefined;

function open(defaults?: WorkerRegistration["defaults"], namespaces?: readonly string[]): Promise<string> {
  const worker = { namespace: "default", name: "w", queues: ["default"], tasks: [task], slots: 1, nodeId: null };
  const handlers = { onAssign: nothing, onStop: nothing, onLost: nothing };
  return gateway.open({ ...worker, ...handlers, ...(defaults && { defaults }), ...(namespaces && { namespaces }) });
}

async function row(namespaceId = 1): Promise<{ defaults: object; revision: number; xmin: string } | undefined> {
  const text = "select defaults, revision, xmin::text from carillon.task where name = $1 and namespace_id = $2";
  return (await h.db.query<{ defaults: object; revision: number; xmin: string }>({ text }, [task, namespaceId]))
    .rows[0];
}

const changes = () => events.filter((event) => event.type === "task.defaults_changed" && event.task === task);

it("equal task defaults write no row, and different defaults win, emit an event and reach other nodes", async () => {
  const other = createEngineStore(h.db).taskCache;
  await other.refresh();
  await open({ [task]: { timeout: "2m", retry: { max_attempts: 5 } } });
  const first = await row();
  expect(first?.defaults).toEqual({ timeout: "2m", retry: { max_attempts: 5 } });
  await open({ [task]: { retry: { max_attempts: 5 }, timeout: "2m" } });
  expect(await row()).toEqual(first);
  expect([changes().length, hints]).toEqual([1, 1]);
  await open({ [task]: { timeout: "3m" } });
  const last = await row();
  expect(last?.revision).toBeGreaterThan(first?.revision ?? 0);
  expect(changes()).toHaveLength(2);
  expect(h.store.taskCache.defaultsOf("default", task)).toEqual({ timeout: "3m" });
  await other.refresh();
  expect(other.defaultsOf("default", task)).toEqual({ timeout: "3m" });
});

it("a worker without a registration keeps the defaults of its tasks, and one with empty defaults removes them", async () => {
  await open({ [task]: {} });
  expect(await row()).toBeUndefined();
  await open({ [task]: { priority: 7 } });
  await open();
  expect((await row())?.defaults).toEqual({ priority: 7 });
  await open({ [task]: {} });
  expect((await row())?.defaults).toEqual({});
  expect(h.store.taskCache.defaultsOf("default", task)).toEqual({});
});

it("workers that start together with equal defaults create one row", async () => {
  await Promise.all(Array.from({ length: 8 }, () => open({ [task]: { priority: 7 } })));
  expect((await row())?.defaults).toEqual({ priority: 7 });
  expect(changes()).toHaveLength(1);
});

it("defaults apply to the namespaces that a worker names, and to its own if it serves all", async () => {
  await h.store.namespaces.create("billing", 1);
  const billing = (await h.store.namespaces.find("billing")) ?? 0;
  await open({ [task]: { priority: 7 } }, ["billing"]);
  expect([await row(), (await row(billing))?.defaults]).toEqual([undefined, { priority: 7 }]);
  await open({ [task]: { priority: 8 } }, ["*"]);
  expect([(await row())?.defaults, (await row(billing))?.defaults]).toEqual([{ priority: 8 }, { priority: 7 }]);
});

it("a task is shown with its defaults, also when no worker serves it any more", async () => {
  const api = new Tasks({ store: h.store, inNamespace: (_name, work) => work(1) }, h.store.taskCache);
  await gateway.close(await open({ [task]: { queue: "mail" } }));
  expect(await api.get("default", task)).toMatchObject({ name: task, workers: 0, defaults: { queue: "mail" } });
  const { rows } = await api.list("default", { pageSize: 100 });
  expect(rows.find(({ name }) => name === task)?.defaults).toEqual({ queue: "mail" });
});
