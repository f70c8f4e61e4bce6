import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { loadStatements } from "../../../src/index.js";
import { completeAndClaimOver, type OwnLimits } from "@carillon/store";
import { createEngineStore } from "../../harness/engine-store.js";
import { AdmissionHarness } from "../../harness/admission-harness.js";
import { gatewayId, untilLockWaits } from "../../harness/store-harness.js";

let h: AdmissionHarness;
beforeAll(async () => {
  h = await AdmissionHarness.create();
});
afterAll(() => h.close());
afterEach(async () => {
  const broken = await h.broken();
  await h.reset();
  if (broken.length > 0) throw new Error(`the audits found ${JSON.stringify(broken)}`);
});

const everything = Number.MIN_SAFE_INTEGER;

/** From the plain lane alone, like a gateway that knows of no limits. */
async function demand(session: string, limitsRevision: number) {
  const lane = (await h.h.store.lanes.list()).find(({ kind }) => kind === "plain");
  const read = { lane: lane?.id ?? 0, namespaceId: 1, fromRank: everything, limit: 9, isSolo: false };
  return { gatewayId, sessions: [session], slots: [0, 0], freeSlots: 2, reads: [read], limitsRevision };
}

async function setLimits(limits: OwnLimits | null): Promise<void> {
  await h.h.store.queues.change({ namespaceId: 1, name: "default" }, () => {
    return { order: { kind: "priority" }, pause: null, limits };
  });
}

const one: OwnLimits = { concurrency: { limit: 1 } };
const keyed = { concurrency: { key: "k", limit: 9 } };

describe("the first limit of a queue", () => {
  test("a gateway that has not read the first limit of a queue claims no run, whenever its worker registered [INV-14]", async () => {
    const session = await h.h.session();
    await h.h.run();
    await setLimits(one);
    const later = await h.h.session();
    for (const of of [session, later]) {
      const stale = await h.h.store.claims.completeAndClaim({ succeeded: [], demand: await demand(of, 0) });
      expect(stale.claimed).toEqual([]);
    }
    const owners = createEngineStore(h.h.db).limitOwners;
    await owners.refresh();
    expect(owners.isLimited(1, "default")).toBe(true);
    const informed = { ...(await demand(session, owners.revision)), slots: [0] };
    expect((await h.h.store.claims.completeAndClaim({ succeeded: [], demand: informed })).claimed).toHaveLength(1);
  });

  test("a claim under way ends before the first limit of a queue is set, and its runs count [INV-14]", async () => {
    const session = await h.h.session();
    const id = await h.h.run();
    await h.runs(keyed, 1);
    const demanded = await demand(session, 0);
    let set: Promise<void> = Promise.resolve();
    await h.h.db.transaction(async (tx) => {
      const complete = completeAndClaimOver(tx, loadStatements("carillon"));
      const { claimed } = await complete({ succeeded: [], demand: demanded });
      expect(claimed.map((run) => run.id)).toEqual([id]);
      set = setLimits(one);
      await untilLockWaits(h.h);
    });
    await set;
    const admitter = h.admitter();
    for (let round = 0; round < 3; round++) await admitter.tick();
    expect(await h.states()).toEqual({ blocked: 1, running: 1 });
    await h.finish(session, [{ id, fence: 1 }]);
    await admitter.tick();
    expect(await h.states()).toEqual({ queued: 1 });
  });

  test("an admission under way ends before the first limit of a queue is set, and its runs count [INV-14]", async () => {
    await h.runs(keyed, 1);
    const set: Promise<void>[] = [];
    const { limits } = h.h.store;
    const first = h.admitter(undefined, {
      limits: {
        ...limits,
        async admit(tx, admission) {
          const queued = await limits.admit(tx, admission);
          if (set.length === 0) {
            set.push(setLimits(one));
            await untilLockWaits(h.h);
          }
          return queued;
        },
      },
    });
    await first.tick();
    await Promise.all(set);
    await h.runs(keyed, 1);
    const admitter = h.admitter();
    for (let round = 0; round < 3; round++) await admitter.tick();
    expect(await h.states()).toEqual({ blocked: 1, queued: 1 });
  });

  test("runs that were running when the first limit of a queue was set hold it until they end, however often it was set before [INV-14]", async () => {
    const session = await h.h.session();
    for (let made = 0; made < 3; made++) await h.h.run();
    const claimed = await h.h.claim(session, 3);
    // Set, taken away, and set again: runs that were counted for the first do not count twice.
    for (const limits of [one, null, { concurrency: { limit: 2 } }]) await setLimits(limits);
    await h.runs({ rateLimit: { key: "r", limit: 9, perMs: 60_000 } }, 2);
    const admitter = h.admitter();
    for (let round = 0; round < 3; round++) await admitter.tick();
    expect(await h.states()).toEqual({ blocked: 2, running: 3 });
    await h.finish(session, claimed.slice(0, 2));
    await admitter.tick();
    expect(await h.states()).toEqual({ blocked: 1, queued: 1, running: 1 });
  });

  test("the first rate of a queue counts runs that were admitted and have not started, not those that started before [INV-14]", async () => {
    const admitter = h.admitter();
    const session = await h.h.session();
    await h.runs(keyed, 1);
    await admitter.tick();
    await h.h.claim(session, 1);
    await h.runs(keyed, 1);
    await admitter.tick();
    await setLimits({ rateLimit: { limit: 2, perMs: 3_600_000 } });
    await h.runs(keyed, 3);
    for (let round = 0; round < 3; round++) await admitter.tick();
    expect(await h.states()).toEqual({ blocked: 2, queued: 2, running: 1 });
  });
});

describe("changes of limits and admissions lock in one order", () => {
  test("limits are set again without a deadlock while an admission holds them", async () => {
    const session = await h.h.session();
    await setLimits(one);
    await h.runs(keyed, 1);
    const admitter = h.admitter();
    for (let round = 0; round < 3; round++) await admitter.tick();
    // Like a claim of a gateway that knows of the limits.
    await h.h.db.query({ text: "update carillon.worker_session set limits_revision = 0" });
    const held = await h.h.claim(session, 1);
    await setLimits(null);
    await h.finish(session, held);
    await h.runs(keyed, 1);
    const { limits } = h.h.store;
    let decisions = 0;
    let admissions = 0;
    const set: Promise<unknown>[] = [];
    const under = h.admitter(undefined, {
      limits: {
        ...limits,
        async release(tx, of) {
          if (of.runIds.length === 0) return limits.release(tx, of);
          admissions++;
          if (set.length === 0) {
            set.push(
              h.h.store.queues.change({ namespaceId: 1, name: "default" }, () => {
                decisions++;
                return { order: { kind: "priority" }, pause: null, limits: one };
              }),
            );
            await untilLockWaits(h.h);
          }
          return limits.release(tx, of);
        },
      },
    });
    under.released(held.map((run) => run.id));
    await under.tickOnly();
    await Promise.all(set);
    // The victim of a deadlock would have started again.
    expect({ set: set.length, decisions, admissions }).toEqual({ set: 1, decisions: 1, admissions: 1 });
  });

  test("several limits of one queue are locked in one order, whichever was made first", async () => {
    for (const limits of [{ rateLimit: { limit: 9, perMs: 1_000 } }, null, one, null]) await setLimits(limits);
    const { rows } = await h.h.db.query<{ id: number }>({ text: "select id from carillon.limit_key order by id" });
    const [low, high] = rows.map(({ id }) => id);
    const lock = { text: "select id from carillon.limit_key where id = $1 for update skip locked" };
    const { waiting } = await h.h.db.transaction(async (tx) => {
      await tx.query(lock, [low]);
      const change = setLimits({ rateLimit: { limit: 9, perMs: 1_000 }, ...one });
      await untilLockWaits(h.h);
      expect((await tx.query(lock, [high])).rowCount).toBe(1);
      return { waiting: change };
    });
    await waiting;
  });
});

test("an admission that waited for a change of a namespace's limits uses the new ones [INV-14]", async () => {
  const session = await h.h.session();
  await h.h.run();
  await h.h.claim(session, 1);
  await h.runs(keyed, 1);
  const admitter = h.admitter();
  const under: Promise<unknown>[] = [];
  await h.h.db.transaction(async (tx) => {
    await tx.query({ text: "select from carillon.worker_session for key share" });
    under.push(h.h.store.namespaces.change("default", { concurrency: { limit: 1 } }, null));
    await untilLockWaits(h.h);
    under.push(admitter.tick());
    await untilLockWaits(h.h, 2);
  });
  await Promise.all(under);
  for (let round = 0; round < 3; round++) await admitter.tick();
  expect(await h.states()).toEqual({ blocked: 1, running: 1 });
});

test("the first limit of a namespace holds from its commit, over all its queues [INV-14]", async () => {
  const session = await h.h.session();
  await h.h.run();
  const [claimed] = await h.h.claim(session, 1);
  if (claimed === undefined) throw new Error("nothing was claimed");
  await h.h.store.namespaces.change("default", { concurrency: { limit: 1 } }, null);
  await h.h.run();
  const stale = await h.h.store.claims.completeAndClaim({ succeeded: [], demand: await demand(session, 0) });
  expect(stale.claimed).toEqual([]);
  await h.runs(keyed, 1);
  const admitter = h.admitter();
  for (let round = 0; round < 3; round++) await admitter.tick();
  expect(await h.states()).toEqual({ blocked: 1, queued: 1, running: 1 });
  await h.finish(session, [claimed]);
  await admitter.tick();
  expect(await h.states()).toEqual({ queued: 2 });
});
