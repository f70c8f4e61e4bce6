import { TcpProxy } from "@carillon/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/index.js";
import { DirectDispatchHarness } from "../../harness/direct-dispatch-harness.js";
import { newId } from "../../harness/store-harness.js";

let h: DirectDispatchHarness;
let proxy: TcpProxy;
/** Stores runs. What was offered to it stands until it is used up. */
let storing: Engine;
/** Has the worker, and reaches the database over the proxy. */
let serving: Engine;
let session = "";

beforeEach(async () => {
  h = await DirectDispatchHarness.create();
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
const directStory = ["insert running 1", "delete running 1"];
const noLoss = [{ status: "succeeded", attempt: 1, losses: 0 }];
const operator = { actor: null };

/** The backend that listens for a node is lost, and no connection replaces it until the proxy is resumed. */
async function deafen(name: string): Promise<void> {
  await proxy.refuse();
  // The connection that listens holds the node's lock as well.
  const text = `select pg_terminate_backend(pid, 10000) as done from pg_stat_activity a
    where application_name = $1 and exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'advisory')`;
  const { rows } = await h.db.query<{ done: boolean }>({ text }, [name]);
  expect(rows).toEqual([{ done: true }]);
}

describe("direct runs of another node", () => {
  it("a run that is stored for a worker of another node starts there without a claim, because it is the worker's own from its commit on [INV-6]", async () => {
    await h.worker(serving, "w");
    session = await h.untilDirect(storing);
    const run = await h.enqueue(storing);
    await h.untilEnded(run);
    expect(await h.story(run)).toEqual(directStory);
    expect(await h.steps(run)).toMatchObject([{ session }, { session }]);
    expect(h.begins(run)).toEqual([`${run} w`]);
    expect(await h.spent(run)).toEqual(noLoss);
    expect(await h.story(1)).toEqual(claimedOnce);
  });

  it("a run that is stored for a worker of another node starts without a claim also together with others, as many as slots were offered", async () => {
    await h.worker(serving, "w");
    await h.untilDirect(storing);
    const runs = await Promise.all([h.enqueue(storing), h.enqueue(storing), h.enqueue(storing)]);
    for (const run of runs) {
      await h.untilEnded(run);
      expect(await h.story(run)).toEqual(directStory);
    }
    expect(h.begun).toHaveLength(new Set(h.begun).size);
  });

  it("a run that is stored for a worker of another node waits in its queue when that was paused since the offer [INV-6]", async () => {
    await h.worker(serving, "w");
    await h.untilDirect(storing);
    await serving.queues.pause("default", "default", { reason: null, until: null }, operator);
    const run = await h.enqueue(storing);
    await h.untilSteps(run, (steps) => steps.at(-1)?.state === "queued");
    expect(await h.story(run)).toEqual(["insert running 1", "update queued 1"]);
    expect(h.begins(run)).toEqual([]);
    // The offer was taken back: the next one is stored as any other.
    let next = await h.enqueue(storing);
    while ((await h.story(next))[0] !== "insert queued 0") next = await h.enqueue(storing);
    await serving.queues.resume("default", "default", operator);
    for (const one of [run, next]) await h.untilEnded(one);
    expect(h.begins(run)).toEqual([`${run} w`]);
    expect(await h.spent(run)).toEqual(noLoss);
  });

  it("a run that is stored for a worker of another node is given back by a worker that takes nothing more, and another worker starts it [INV-2] [INV-6]", async () => {
    await h.worker(serving, "drained");
    session = await h.untilDirect(storing);
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

  it("a run that is stored for a worker of another node is queued when its worker left since the offer, and another worker starts it [INV-6]", async () => {
    const leaving = await h.worker(serving, "left");
    await h.untilDirect(storing);
    await leaving.stop(0);
    await h.worker(serving, "other");
    const run = await h.enqueue(storing);
    await h.untilEnded(run);
    expect(await h.story(run)).toEqual(claimedOnce);
    expect(h.begins(run)).toEqual([`${run} other`]);
  });

  it("a run that is stored for a worker of another node starts once although its notice was lost, because its node scans for it after the reconnect [INV-2] [INV-6]", async () => {
    await h.worker(serving, "w");
    session = await h.untilDirect(storing);
    await deafen("serving");
    const run = await h.enqueue(storing);
    expect(await h.steps(run)).toMatchObject([{ what: "insert", state: "running", session }]);
    await proxy.resume();
    await h.untilEnded(run);
    // While a claim is under way all slots are promised to it: then the run is given back, and claimed.
    const again = ["insert running 1", "update queued 1", "update running 2", "delete running 2"];
    expect([directStory, again]).toContainEqual(await h.story(run));
    expect(h.begins(run)).toEqual([`${run} w`]);
    expect(await h.spent(run)).toEqual(noLoss);
    // What comes after it is not begun twice either.
    for (let round = 0; round < 2; round++) await h.untilDirect(storing);
    expect(h.begun).toHaveLength(new Set(h.begun).size);
  });

  it("a run that is stored for a worker of another node is rescued with no try spent when its worker is declared dead before the notice arrives [INV-6]", async () => {
    await h.worker(serving, "dead");
    session = await h.untilDirect(storing);
    await deafen("serving");
    const run = await h.enqueue(storing);
    expect(await h.steps(run)).toMatchObject([{ what: "insert", state: "running", session }]);
    await h.db.query({ text: "delete from carillon.worker_session where id = $1" }, [session]);
    // A node that starts sweeps for lost runs; the others sweep at once only for those of a session that they saw.
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

describe("database roles that may only connect", () => {
  const gateways = () => [storing.gateway.id, serving.gateway.id] as const;
  /** The texts as they would be read if they were not encrypted. */
  const decoded = (received: readonly string[]) =>
    received.flatMap((text) =>
      text.split(" ").flatMap((part) => [part, Buffer.from(part, "base64").toString("latin1")]),
    );

  /** Resolves when the nodes have read every message so far. */
  async function untilRead(): Promise<void> {
    for (let round = 0; round < 3; round++) expect(await h.untilDirect(storing)).toBe(session);
  }

  it("a role that may only connect cannot read the payload or the worker of a direct run", async () => {
    await h.worker(serving, "w");
    session = await h.untilDirect(storing);
    const outsider = await h.outsider(gateways());
    const run = await h.enqueue(storing, 987_654_321);
    await h.untilEnded(run);
    expect(await h.story(run)).toEqual(directStory);
    await h.untilDirect(storing);
    await outsider.caughtUp();
    expect(outsider.received.map((text) => text.split(" ")[0])).toEqual(expect.arrayContaining(["runs"]));
    const texts = decoded(outsider.received).join("\n");
    for (const secret of ["987654321", session, "default"]) expect(texts).not.toContain(secret);
  });

  it("a role that may only connect starts no run by a forged notice, and stops no node [INV-2]", async () => {
    await h.worker(serving, "w");
    session = await h.untilDirect(storing);
    const outsider = await h.outsider(gateways());
    const lanes = { text: "select id from carillon.lane where queue = 'default' and task = 'work'" };
    const lane = (await h.db.query<{ id: number }>(lanes)).rows[0]?.id;
    const content = { priority: 4, policy: null, runs: [[newId(), 0, "666"]] };
    const word = JSON.stringify([2, storing.gateway.id, session, lane, 1, "token", 1, content]);
    const offer = JSON.stringify([2, { lane, namespaceId: 1, gatewayId: newId(), sessionId: session, count: 9 }]);
    const texts = [word, offer, "", "null", "[]", "{", "x".repeat(5_000)];
    for (const id of gateways())
      for (const text of texts.flatMap((one) => [one, Buffer.from(one).toString("base64")]))
        for (const head of ["", "runs", `runs ${Date.now()} 1`, "runs NaN 1", "runs 1", "offer", "what"])
          await outsider.say(id, `${head} ${text}`);
    await untilRead();
    expect(h.begins(666)).toEqual([]);
    expect(h.begun).toHaveLength(new Set(h.begun).size);
  });

  it("a role that may only connect starts no run by repeating the notices that it received, neither during the run nor after its end [INV-2]", async () => {
    await h.worker(serving, "w");
    session = await h.untilDirect(storing);
    const outsider = await h.outsider(gateways());
    h.isEager = false;
    const run = await h.enqueue(storing);
    expect(await h.steps(run)).toMatchObject([{ what: "insert", state: "running", session }]);
    await outsider.caughtUp();
    const notices = outsider.received.filter((text) => text.startsWith("runs "));
    expect(notices).toHaveLength(1);
    const again = async (): Promise<void> => {
      // It receives its own messages as well.
      const before = outsider.received.slice();
      for (const id of gateways())
        for (const text of before) {
          const encrypted = text.split(" ").at(-1) ?? "";
          await outsider.say(id, text);
          for (const time of [0, Date.now() + 60_000, "soon"]) await outsider.say(id, `runs ${time} 1 ${encrypted}`);
          await outsider.say(id, `offer ${encrypted}`);
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
    expect(await h.story(run)).toEqual(directStory);
    expect(h.begun).toHaveLength(new Set(h.begun).size);
    expect(await h.spent(run)).toEqual(noLoss);
  });
});

it("each of many runs that two nodes store starts once, and never more at a time than there are slots [INV-2] [INV-6]", async () => {
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
  const directRuns = "select 1 from public.step where what = 'insert' and state = 'running' limit 20";
  const storm = async (engine: Engine): Promise<void> => {
    do await h.untilEnded(await h.enqueue(engine));
    while ((await h.db.query({ text: directRuns })).rowCount < 20);
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
