import { randomBytes } from "node:crypto";
import { makeUuidV7, systemClock, systemRandom, systemSoon, systemTimers, webhookQueue } from "@carillon/core";
import type { Delivery, DeliveryList, Run, Webhook, WebhookWithSecret } from "@carillon/contract";
import { Engine, openDatabase } from "@carillon/engine";
import { freshDatabase } from "@carillon/testkit";
import {
  AddressRules,
  builtInTasks,
  checkedAddresses,
  httpCall,
  LocalTransport,
  type Task,
  Worker,
} from "@carillon/worker";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { webhookSender } from "../../../src/events/webhook-delivery.js";
import { apiUnderTest } from "../../unit/api/api-under-test.js";
import { startReceiver } from "./receiver.js";

const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
const timers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };

/** A node with a worker, a webhook sender that may connect to this machine, and the API. */
async function startNode() {
  const fresh = await freshDatabase({ migrated: true });
  const database = await openDatabase({ url: fresh.url, schema: "carillon", ...ports });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "test", address: null, version: "0" };
  const engine = new Engine({ database, ...ports, newId, node, alone: true, limits: { webhookFailingMs: 60_000 } });
  await engine.start();
  const received: unknown[] = [];
  const recorder: Task = { name: "record.callback", run: (payload) => void received.push(payload) };
  const rules = new AddressRules(["loopback"]);
  const sender = webhookSender({
    webhooks: engine.webhooks,
    callbackSecrets: engine.callbackSecrets,
    namespace: "default",
    post: async ({ url, ...request }) =>
      httpCall({ ...request, url, method: "POST", timers, addresses: await checkedAddresses(url, rules) }),
    now: () => database.clock.now(),
    version: "0",
    onDelivery: () => undefined,
  });
  const workerOf = (tasks: readonly Task[], queues: readonly string[]): Worker =>
    new Worker({
      transport: new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId }),
      tasks: [...tasks],
      name: "test",
      queues: [...queues],
      slots: 5,
      timers,
      onEvent: () => undefined,
    });
  const workers = [workerOf([...builtInTasks(timers), recorder], ["*"]), workerOf([sender], [webhookQueue])];
  for (const worker of workers) await worker.start();
  const api = apiUnderTest({ engine, workers: engine.workerApi, now: () => database.clock.now() });
  return {
    ...api,
    database,
    received,
    async close() {
      for (const worker of workers) await worker.stop(0);
      await engine.stop();
      await database.close();
      await fresh.drop();
    },
  };
}

let node: Awaited<ReturnType<typeof startNode>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  node = await startNode();
});
afterAll(() => node.close());
beforeEach(async () => {
  receiver = await startReceiver();
  return async () => {
    for (const { id } of (await node.get("/v1/webhooks")).json<{ webhooks: Webhook[] }>().webhooks)
      await node.send("DELETE", `/v1/webhooks/${id}`);
    await receiver.close();
  };
});

const endpoint = async (over: object = {}): Promise<WebhookWithSecret> => {
  const made = await node.post("/v1/webhooks", { url: `${receiver.url}/hook`, ...over });
  expect(made.statusCode).toBe(201);
  return made.json();
};
const ask = async (task: string, over: object = {}) =>
  (await node.post("/v1/runs", { task, payload: {}, ...over })).json<{ id: string }>();
const once = { retry: { max_attempts: 1 } };

/** Polls until the condition holds; each poll is a call that waits for the database. */
async function until<Value>(poll: () => Promise<Value | null>): Promise<Value> {
  for (;;) {
    const found = await poll();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const deliveriesOf = async (id: string): Promise<readonly Delivery[]> =>
  (await node.get(`/v1/webhooks/${id}/deliveries`)).json<DeliveryList>().deliveries;

describe("webhook endpoints", () => {
  it("a webhook endpoint gets every end of a run that it subscribes to, signed, once [INV-10]", async () => {
    const { secret } = await endpoint({ on: ["succeeded", "failed"], include: ["payload", "error"] });
    const good = await ask("echo", { payload: { a: 1 } });
    const bad = await ask("fail", once);
    await receiver.until(2);
    const byRun = new Map(receiver.received.map((one) => [one.body.data["id"], one]));
    expect(byRun.get(good.id)?.body).toMatchObject({
      specversion: "1.0",
      type: "run.succeeded",
      data: { status: "succeeded", task: "echo", payload: { a: 1 }, error: null },
    });
    expect(byRun.get(bad.id)?.body).toMatchObject({ type: "run.failed", data: { status: "failed" } });
    expect(byRun.get(bad.id)?.body.data["error"]).not.toBeNull();
    for (const one of receiver.received) {
      expect(one.isSignedBy(secret)).toBe(true);
      expect(one.isSignedBy("whsec_AAAA")).toBe(false);
      expect(one.id).toBe(one.body.id);
    }
    // A delivery is itself a run, about which no webhook is sent.
    expect(new Set(receiver.received.map(({ body }) => body.data["task"]))).toEqual(new Set(["echo", "fail"]));
  });

  it("a webhook endpoint gets no event that it did not subscribe to", async () => {
    await endpoint({ on: ["failed"], tasks: ["fail"] });
    await ask("echo");
    const bad = await ask("fail", once);
    await receiver.until(1);
    expect(receiver.received.map(({ body }) => body.data["id"])).toEqual([bad.id]);
  });

  it("retries a message until the endpoint accepts it, with the same id and a log of the attempts [INV-10]", async () => {
    const { id } = await endpoint();
    receiver.answer(503, 503);
    await node.post(`/v1/webhooks/${id}:test`, {});
    await receiver.until(3);
    const done = await until(async () => (await deliveriesOf(id)).find(({ status }) => status === "succeeded") ?? null);
    expect(done).toMatchObject({ response_status: 204, attempt: 3, message_id: receiver.received[0]?.id });
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(1);
  });

  it("a manually repeated message keeps its id [INV-10]", async () => {
    const { id } = await endpoint();
    await node.post(`/v1/webhooks/${id}:test`, {});
    await receiver.until(1);
    const [sent] = await deliveriesOf(id);
    const again = await node.post(`/v1/webhooks/${id}/deliveries/${sent?.id}:redeliver`, {});
    expect(again.statusCode).toBe(202);
    await receiver.until(2);
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(1);
    expect((await node.post(`/v1/webhooks/${id}/deliveries/run_1:redeliver`, {})).statusCode).toBe(404);
    expect((await node.get(`/v1/webhooks/${id}/deliveries/${sent?.id}`)).json()).toMatchObject({ id: sent?.id });
    const { id: other } = await endpoint();
    expect((await node.get(`/v1/webhooks/${other}/deliveries/${sent?.id}`)).statusCode).toBe(404);
  });

  it("changing a secret loses no message: both secrets sign for a time", async () => {
    const { id, secret } = await endpoint();
    const rotated = (await node.post(`/v1/webhooks/${id}:rotateSecret`, { overlap: "1h" })).json<WebhookWithSecret>();
    await node.post(`/v1/webhooks/${id}:test`, {});
    await receiver.until(1);
    expect([secret, rotated.secret].map((one) => receiver.received[0]?.isSignedBy(one))).toEqual([true, true]);
    const last = (await node.post(`/v1/webhooks/${id}:rotateSecret`, { overlap: "0s" })).json<WebhookWithSecret>();
    await node.post(`/v1/webhooks/${id}:test`, {});
    await receiver.until(2);
    const signed = [rotated.secret, last.secret].map((one) => receiver.received[1]?.isSignedBy(one));
    expect(signed).toEqual([false, true]);
  });

  it("disables an endpoint that answers 410 or fails too long, and can enable it again", async () => {
    const { id } = await endpoint();
    receiver.answer(410);
    await node.post(`/v1/webhooks/${id}:test`, {});
    const read = async () => (await node.get(`/v1/webhooks/${id}`)).json<Webhook>();
    const gone = await until(async () => ((await read()).enabled ? null : read()));
    expect(gone).toMatchObject({ enabled: false, disabled_reason: "gone" });
    const enabled = (await node.send("PATCH", `/v1/webhooks/${id}`, { enabled: true })).json<Webhook>();
    expect(enabled).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null });
    await node.database.query({ text: "update carillon.webhook set failing_since = now() - interval '1 hour'" });
    receiver.answer(500);
    await node.post(`/v1/webhooks/${id}:test`, {});
    const failing = await until(async () => ((await read()).enabled ? null : read()));
    expect(failing).toMatchObject({ enabled: false, disabled_reason: "failing" });
  });

  it("a message that was not accepted is a dead letter, and can be retried once", async () => {
    const { id } = await endpoint();
    receiver.answer(410);
    await node.post(`/v1/webhooks/${id}:test`, {});
    const dead = await until(async () => (await deliveriesOf(id)).find(({ status }) => status === "failed") ?? null);
    expect(dead).toMatchObject({ response_status: 410, error: { type: "HttpStatus410" } });
    expect(dead.error).not.toHaveProperty("stack");
    const run = (await node.get(`/v1/dead-letters/${dead.id}`)).json<Run>();
    expect(run).toMatchObject({ job_id: null, payload: { endpoint_id: id, message: { id: dead.message_id } } });
    await node.send("PATCH", `/v1/webhooks/${id}`, { enabled: true });
    const changed = await node.post(`/v1/runs/${dead.id}:retry`, { payload: {} });
    expect(changed.json()).toMatchObject({ status: 409, code: "run_not_repeatable" });
    const again = await node.post(`/v1/runs/${dead.id}:retry`, {});
    expect(again.statusCode).toBe(201);
    await receiver.until(2);
    expect(receiver.received[1]?.id).toBe(dead.message_id);
    const asked = await node.post(`/v1/runs/${dead.id}:retry`, {});
    expect([asked.statusCode, asked.json<Run>().id]).toEqual([200, again.json<Run>().id]);
    expect((await node.get(`/v1/runs/${dead.id}`)).json<Run>().retried_as).toBe(again.json<Run>().id);
  });

  it("refuses invalid endpoints, and changes of another version", async () => {
    expect((await node.post("/v1/webhooks", {})).json()).toMatchObject({ status: 400 });
    expect((await node.post("/v1/webhooks", { url: "ftp://x" })).statusCode).toBe(400);
    expect((await node.post("/v1/webhooks", { url: "https://u:p@example.com" })).statusCode).toBe(400);
    const { id } = await endpoint();
    const stale = await node.send("PATCH", `/v1/webhooks/${id}`, { on: ["failed"] }, { "if-match": '"v7"' });
    expect(stale.statusCode).toBe(412);
    expect((await node.get("/v1/webhooks/whk_1")).statusCode).toBe(404);
  });
});

describe("callbacks of jobs", () => {
  it("a callback reports every kind of end of a job's runs to an address or a task", async () => {
    const callbacks = [
      { on: ["succeeded"], url: `${receiver.url}/good`, include: ["output"] },
      { on: ["dead"], url: `${receiver.url}/bad` },
      { on: ["failed"], task: "record.callback" },
    ];
    const made = await node.post("/v1/jobs", { task: "echo", payload: { n: 1 }, callbacks });
    expect(made.json<{ callbacks: unknown[] }>().callbacks).toHaveLength(3);
    await receiver.until(1);
    expect(receiver.received[0]).toMatchObject({ path: "/good", body: { data: { output: { n: 1 } } } });
    const bad = await ask("fail", { ...once, callbacks });
    await receiver.until(2);
    expect(receiver.received[1]).toMatchObject({ path: "/bad", body: { data: { id: bad.id } } });
    await until(async () => node.received[0] ?? null);
    expect(node.received).toMatchObject([{ type: "run.failed", data: { id: bad.id } }]);
    // Its deadline ends it before a worker can claim it.
    const late = await ask("unserved", { deadline: "1ms", callbacks });
    await receiver.until(3);
    expect(receiver.received[2]).toMatchObject({
      path: "/bad",
      body: { data: { id: late.id, status_reason: "expired" } },
    });
  });

  it("the secret of the namespace signs callbacks, and changes without losing any", async () => {
    const run = { callbacks: [{ on: ["succeeded"], url: `${receiver.url}/signed` }] };
    const rotate = async (overlap: string) =>
      (await node.post("/v1/callback-secret:rotate", { overlap })).json<{ secret: string }>().secret;
    const first = await rotate("0s");
    const second = await rotate("1h");
    await ask("echo", run);
    await receiver.until(1);
    expect([first, second].map((one) => receiver.received[0]?.isSignedBy(one))).toEqual([true, true]);
    const shown = (await node.get("/v1/callback-secret")).json<Record<string, unknown>>();
    expect(Object.keys(shown).toSorted()).toEqual(["made_at", "old_secret_until"]);
    const third = await rotate("0s");
    await ask("echo", run);
    await receiver.until(2);
    expect([second, third].map((one) => receiver.received[1]?.isSignedBy(one))).toEqual([false, true]);
  });

  it("failed callbacks are retried with the other dead letters", async () => {
    receiver.answer(410);
    const { id } = await ask("echo", { callbacks: [{ on: ["succeeded"], url: `${receiver.url}/cb` }] });
    const filter = { queue: webhookQueue };
    const dead = await until(async () => {
      const { dead_letters: letters } = (await node.get(`/v1/dead-letters?queue=${webhookQueue}`)).json<{
        dead_letters: Run[];
      }>();
      return letters.find(({ trigger }) => trigger.id === id) ?? null;
    });
    const done = (await node.post("/v1/dead-letters:redrive", { filter })).json<{ results: { id: string }[] }>();
    expect(done).toMatchObject({ done: done.results.length, refused: 0 });
    expect(done.results.map((one) => one.id)).toContain(dead.id);
    await receiver.until(2);
    expect(receiver.received.map((one) => one.path)).toEqual(["/cb", "/cb"]);
  });

  it("a callback needs either url or task", async () => {
    const refused = await node.post("/v1/jobs", { task: "echo", callbacks: [{ on: ["failed"] }] });
    expect(refused.json()).toMatchObject({ status: 400, errors: [{ pointer: "/callbacks/0" }] });
  });
});
