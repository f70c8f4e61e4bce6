import { afterEach, beforeEach, expect, it } from "vitest";
import type { Assigned } from "../../../src/dispatch/sessions/worker-registration.js";
import { type GatewayHarness, gatewayOver } from "../../harness/gateway-harness.js";
import { gatewayId, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

const maxLosses = 3;

let h: StoreHarness;
let made: GatewayHarness;
beforeEach(async () => {
  h = await storeHarness();
  made = gatewayOver(h);
});
afterEach(() => {
  made.gateway.stop();
  return h.close();
});

/** What a new worker of ten slots is given at first. */
async function firstRuns(): Promise<{ session: string; given: readonly Assigned[] }> {
  const { gateway } = made;
  let take: (given: readonly Assigned[]) => void = () => undefined;
  const assigned = new Promise<readonly Assigned[]>((resolve) => (take = resolve));
  const session = await gateway.open({
    namespace: "default",
    name: "w",
    queues: ["default"],
    tasks: ["echo"],
    slots: 10,
    ahead: 0,
    nodeId: null,
    onAssign: take,
    onStop: () => undefined,
    onLost: () => undefined,
  });
  gateway.hintAll();
  gateway.resume(session);
  const given = await assigned;
  await gateway.pause(session);
  return { session, given };
}

async function sweep(): Promise<void> {
  const lost = (await h.store.runs.lost(1_000)).map((run) => run.id);
  await h.store.runs.buryLost(lost, maxLosses);
  await h.store.runs.rescue(lost, maxLosses);
}

/** The worker's process is gone; all that it held had begun. */
async function die(session: string, given: readonly Assigned[]): Promise<void> {
  await made.gateway.started(
    session,
    given.map(({ runId, fence }) => ({ runId, fence, agoMs: 0 })),
  );
  await made.gateway.close(session);
  await sweep();
}

/** As if the moment for which a run was deferred had passed. */
const comeBack = () =>
  h.db.query({ text: "update carillon.run set state = 'queued', run_at = now() where state = 'scheduled'" });

it("a run that makes its workers crash ends after few losses, and no other run with it [INV-6]", async () => {
  const ids: string[] = [];
  for (let index = 0; index < 40; index++) ids.push(await h.run({ rank: Date.now() - 100_000 + index }));
  const [poison = ""] = ids;
  let deaths = 0;
  for (let left = ids.length; left > 0;) {
    await comeBack();
    const { session, given } = await firstRuns();
    if (given.some((run) => run.runId === poison)) {
      deaths++;
      await die(session, given);
    } else {
      const outcome = { kind: "succeeded", outputJson: "null" } as const;
      await made.gateway.complete(
        session,
        given.map(({ runId, fence }) => ({ runId, fence, startedAgoMs: 0, outcome })),
      );
      await made.gateway.close(session);
    }
    left = ids.length - (await h.store.reads.finished(1, ids, 0)).length;
  }
  expect(deaths).toBe(maxLosses + 1);
  const ended = await h.store.reads.finished(1, ids, 0);
  expect(ended.filter((run) => run.status === "failed").map((run) => run.id)).toEqual([poison]);
  // A neighbour met it twice, at the most: from then on both were apart.
  expect(Math.max(...ended.filter((run) => run.id !== poison).map((run) => run.losses))).toBeLessThan(maxLosses);
});

it("runs that waited at a worker that dies count no loss [INV-6]", async () => {
  const ids: string[] = [];
  for (let index = 0; index < 200; index++) ids.push(await h.run());
  const session = await h.session();
  const low = Number.MIN_SAFE_INTEGER;
  const reads = (await h.store.lanes.list()).map(({ id, kind }) => {
    return { lane: id, namespaceId: 1, fromRank: low, limit: 200, isSolo: kind !== "plain" };
  });
  const slots = Array.from({ length: 200 }, () => 0);
  const demand = { gatewayId, sessions: [session], slots, freeSlots: 10, reads };
  expect((await h.store.claims.completeAndClaim({ succeeded: [], demand })).claimed).toHaveLength(200);
  for (let deaths = 0; deaths < 2; deaths++) {
    await h.store.sessions.close(session);
    await sweep();
  }
  const rows = await h.store.reads.live(1, ids);
  expect(rows.map((row) => [row.status, row.losses, row.attempt])).toEqual(ids.map(() => ["queued", 0, 0]));
});

it("the next worker executes the runs of a dead one side by side, not one after the other", async () => {
  for (let index = 0; index < 6; index++) await h.run({ rank: Date.now() - 100_000 + index });
  const first = await firstRuns();
  expect(first.given).toHaveLength(6);
  await die(first.session, first.given);
  const second = await firstRuns();
  expect(second.given).toHaveLength(6);
  await made.gateway.close(second.session);
});
