import { TcpProxy } from "@carillon/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/index.js";
import { HandOverHarness } from "../../harness/direct-dispatch-harness.js";
import { newId } from "../../harness/store-harness.js";

let h: HandOverHarness;
let proxy: TcpProxy;
/** Stores runs. What was offered to it stands until it is used up. */
let storing: Engine;
/** Has the worker, and reaches the database over the proxy. */
let serving: Engine;
let session = "";

beforeEach(async () => {
  h = await HandOverHarness.create();
  proxy = await TcpProxy.start(h.url);
  storing = await h.node("storing", { isStill: true });
  serving = await h.node("serving", { url: proxy.through(h.url) });
});
afterEach(async () => {
  await proxy.resume();
  await h.close();
  await proxy.close();
});

const claimedOnce = ["insert queued 0", "update running 1", "delete running 1"];
const handedOver = ["insert running 1", "delete running 1"];
const noLoss = [{ status: "succeeded", attempt: 1, losses: 0 }];
const anybody = { actor: null };

/** The backend that hears for a node is lost, and none takes its place until the proxy is resumed. */
async function deafen(name: string): Promise<void> {
  await proxy.refuse();
  // The connection that listens holds the node's lock as well.
  const text = `select pg_terminate_backend(pid, 10000) as done from pg_stat_activity a
    where application_name = $1 and exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'advisory')`;
  const { rows } = await h.db.query<{ done: boolean }>({ text }, [name]);
  expect(rows).toEqual([{ done: true }]);
}

describe("a run that is stored for a worker of another node", () => {
  it("starts there without a claim: it is the worker's own from its commit on [INV-6]", async () => {
    await h.worker(serving, "w");
    session = await h.untilHanded(storing);
    const run = await h.enqueue(storing);
    await h.untilEnded(run);
    expect(await h.story(run)).toEqual(handedOver);
    expect(await h.steps(run)).toMatchObject([{ session }, { session }]);
    expect(h.begins(run)).toEqual([`${run} w`]);
    expect(await h.spent(run)).toEqual(noLoss);
    expect(await h.story(1)).toEqual(claimedOnce);
  });

  it("starts without a claim also when it comes with others, as many as were offered", async () => {
    await h.worker(serving, "w");
    await h.untilHanded(storing);
    const runs = await Promise.all([h.enqueue(storing), h.enqueue(storing), h.enqueue(storing)]);
    for (const run of runs) {
      await h.untilEnded(run);
      expect(await h.story(run)).toEqual(handedOver);
    }
    expect(h.begun).toHaveLength(new Set(h.begun).size);
  });

  it("waits as queued when its queue was paused since the offer [INV-6]", async () => {
    await h.worker(serving, "w");
    await h.untilHanded(storing);
    await serving.api.pauseQueue("default", "default", { reason: null, until: null }, anybody);
    const run = await h.enqueue(storing);
    await h.untilSteps(run, (steps) => steps.at(-1)?.state === "queued");
    expect(await h.story(run)).toEqual(["insert running 1", "update queued 1"]);
    expect(h.begins(run)).toEqual([]);
    // The offer was taken back: the next one is stored as any other.
    let next = await h.enqueue(storing);
    while ((await h.story(next))[0] !== "insert queued 0") next = await h.enqueue(storing);
    await serving.api.resumeQueue("default", "default", anybody);
    for (const one of [run, next]) await h.untilEnded(one);
    expect(h.begins(run)).toEqual([`${run} w`]);
    expect(await h.spent(run)).toEqual(noLoss);
  });

  it("is given back by a worker that takes nothing more, and another starts it [INV-2] [INV-6]", async () => {
    await h.worker(serving, "drained");
    session = await h.untilHanded(storing);
    await serving.gateway.pause(session);
    const run = await h.enqueue(storing);
    await h.untilSteps(run, (steps) => steps.at(-1)?.state === "queued");
    await h.worker(serving, "other");
    await h.untilEnded(run);
    const back = ["insert running 1", "update queued 1", "update running 2", "delete running 2"];
    expect(await h.story(run)).toEqual(back);
    expect(h.begins(run)).toEqual([`${run} other`]);
    expect(await h.spent(run)).toEqual(noLoss);
  });

  it("is queued when the worker left since the offer, and another starts it [INV-6]", async () => {
    const leaving = await h.worker(serving, "left");
    await h.untilHanded(storing);
    await leaving.stop(0);
    await h.worker(serving, "other");
    const run = await h.enqueue(storing);
    await h.untilEnded(run);
    expect(await h.story(run)).toEqual(claimedOnce);
    expect(h.begins(run)).toEqual([`${run} other`]);
  });

  it("starts, once, although word of it never came: its node looks for it when it hears again [INV-2] [INV-6]", async () => {
    await h.worker(serving, "w");
    session = await h.untilHanded(storing);
    await deafen("serving");
    const run = await h.enqueue(storing);
    expect(await h.steps(run)).toMatchObject([{ what: "insert", state: "running", session }]);
    await proxy.resume();
    await h.untilEnded(run);
    // While a claim is under way all slots are promised to it: then the run is given back, and claimed.
    const again = ["insert running 1", "update queued 1", "update running 2", "delete running 2"];
    expect([handedOver, again]).toContainEqual(await h.story(run));
    expect(h.begins(run)).toEqual([`${run} w`]);
    expect(await h.spent(run)).toEqual(noLoss);
    // What comes after it is not begun twice either.
    for (let round = 0; round < 2; round++) await h.untilHanded(storing);
    expect(h.begun).toHaveLength(new Set(h.begun).size);
  });

  it("is rescued with nothing spent when its worker is declared dead before it hears of it [INV-6]", async () => {
    await h.worker(serving, "dead");
    session = await h.untilHanded(storing);
    await deafen("serving");
    const run = await h.enqueue(storing);
    expect(await h.steps(run)).toMatchObject([{ what: "insert", state: "running", session }]);
    await h.db.query({ text: "delete from carillon.worker_session where id = $1" }, [session]);
    // A node that starts looks for lost runs; the others look at once only for those of a session that they saw.
    await h.node("rescuing");
    await h.untilSteps(run, (steps) => steps.at(-1)?.state === "queued");
    expect(await h.steps(run)).toMatchObject([{ attempt: 0 }, { attempt: 0, session: null }]);
    await proxy.resume();
    await h.worker(storing, "other");
    await h.untilEnded(run);
    expect((await h.story(run)).slice(2)).toEqual(["update running 2", "delete running 2"]);
    expect(h.begins(run)).toHaveLength(1);
    expect(await h.spent(run)).toEqual(noLoss);
  });
});

describe("a role that may only connect", () => {
  const gateways = () => [storing.gateway.id, serving.gateway.id] as const;
  /** As it would be read if it were not sealed. */
  const opened = (heard: readonly string[]) =>
    heard.flatMap((text) => text.split(" ").flatMap((part) => [part, Buffer.from(part, "base64").toString("latin1")]));

  /** Whatever was told to the nodes before has been read by them. */
  async function untilRead(): Promise<void> {
    for (let round = 0; round < 3; round++) expect(await h.untilHanded(storing)).toBe(session);
  }

  it("does not hear what is in a run that is handed over, nor to whom", async () => {
    await h.worker(serving, "w");
    session = await h.untilHanded(storing);
    const outsider = await h.outsider(gateways());
    const run = await h.enqueue(storing, 987_654_321);
    await h.untilEnded(run);
    expect(await h.story(run)).toEqual(handedOver);
    await h.untilHanded(storing);
    await outsider.caughtUp();
    expect(outsider.heard.map((text) => text.split(" ")[0])).toEqual(expect.arrayContaining(["runs"]));
    const texts = opened(outsider.heard).join("\n");
    for (const secret of ["987654321", session, "default"]) expect(texts).not.toContain(secret);
  });

  it("starts no run that it made up, and stops no node [INV-2]", async () => {
    await h.worker(serving, "w");
    session = await h.untilHanded(storing);
    const outsider = await h.outsider(gateways());
    const lanes = { text: "select id from carillon.lane where queue = 'default' and task = 'work'" };
    const lane = (await h.db.query<{ id: number }>(lanes)).rows[0]?.id;
    const content = { priority: 4, policy: null, runs: [[newId(), 0, "666"]] };
    const word = JSON.stringify([1, storing.gateway.id, session, lane, 1, "token", 1, content]);
    const offer = JSON.stringify([1, { lane, namespaceId: 1, gatewayId: newId(), sessionId: session, count: 9 }]);
    const texts = [word, offer, "", "null", "[]", "{", "x".repeat(5_000)];
    for (const id of gateways())
      for (const text of texts.flatMap((one) => [one, Buffer.from(one).toString("base64")]))
        for (const head of ["", "runs", `runs ${Date.now()}`, "runs NaN", "offer", "what"])
          await outsider.say(id, `${head} ${text}`);
    await untilRead();
    expect(h.begins(666)).toEqual([]);
    expect(h.begun).toHaveLength(new Set(h.begun).size);
  });

  it("starts nothing by saying again what it heard, while the run is under way and after its end [INV-2]", async () => {
    await h.worker(serving, "w");
    session = await h.untilHanded(storing);
    const outsider = await h.outsider(gateways());
    h.isEager = false;
    const run = await h.enqueue(storing);
    expect(await h.steps(run)).toMatchObject([{ what: "insert", state: "running", session }]);
    await outsider.caughtUp();
    const words = outsider.heard.filter((text) => text.startsWith("runs "));
    expect(words).toHaveLength(1);
    const again = async (): Promise<void> => {
      // What it says itself it hears as well.
      const before = outsider.heard.slice();
      for (const id of gateways())
        for (const text of before) {
          const sealed = text.split(" ").at(-1) ?? "";
          await outsider.say(id, text);
          for (const time of [0, Date.now() + 60_000, "soon"]) await outsider.say(id, `runs ${time} ${sealed}`);
          await outsider.say(id, `offer ${sealed}`);
        }
    };
    while (h.begins(run).length === 0) await outsider.caughtUp();
    await again();
    h.isEager = true;
    await h.untilEnded(await h.enqueue(storing));
    h.end(run);
    await h.untilEnded(run);
    await again();
    await untilRead();
    expect(h.begins(run)).toEqual([`${run} w`]);
    expect(await h.story(run)).toEqual(handedOver);
    expect(h.begun).toHaveLength(new Set(h.begun).size);
    expect(await h.spent(run)).toEqual(noLoss);
  });
});

it("of many runs that two nodes store each starts once, and never more at a time than there are slots [INV-2] [INV-6]", async () => {
  const second = await h.node("second");
  const slots = 3;
  const open = new Set<string>();
  const begun: string[] = [];
  const accepted: string[] = [];
  let most = 0;
  const outcome = { kind: "succeeded", outputJson: "null" } as const;
  const work = async (runId: string, fence: number): Promise<void> => {
    open.add(runId);
    most = Math.max(most, open.size);
    begun.push(runId);
    await new Promise((resolve) => setImmediate(resolve));
    // From now on its slot is free.
    open.delete(runId);
    accepted.push(...(await serving.gateway.complete(session, [{ runId, fence, startedAgoMs: 0, outcome }])));
  };
  const works: Promise<void>[] = [];
  session = await serving.gateway.open({
    namespace: "default",
    name: "few",
    queues: ["default"],
    tasks: ["work"],
    slots,
    ahead: 0,
    nodeId: null,
    onAssign: (runs) => {
      for (const { runId, fence } of runs) works.push(work(runId, fence));
    },
    onStop: () => undefined,
    onLost: () => undefined,
  });
  serving.gateway.resume(session);
  // First one after another, such that offers are used, then more at once than there are slots.
  const handed = "select 1 from public.step where what = 'insert' and state = 'running' limit 20";
  const storm = async (engine: Engine): Promise<void> => {
    do await h.untilEnded(await h.enqueue(engine));
    while ((await h.db.query({ text: handed })).rowCount < 20);
    for (let round = 0; round < 20; round++)
      await Promise.all(Array.from({ length: 2 * slots }, () => h.enqueue(engine)));
  };
  await Promise.all([storm(storing), storm(second)]);
  while ((await h.db.query({ text: "select 1 from carillon.run" })).rowCount > 0);
  await Promise.all(works);
  expect(most).toBeLessThanOrEqual(slots);
  expect(new Set(begun).size).toBe(begun.length);
  expect([...accepted].sort()).toEqual([...begun].sort());
  const text = "select count(*)::int as count from carillon.run_history where status = 'succeeded' and attempt = 1";
  expect((await h.db.query({ text })).rows).toEqual([{ count: begun.length }]);
});
