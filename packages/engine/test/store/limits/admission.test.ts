import { afterEach, beforeEach, expect, test } from "vitest";
import { AdmissionHarness } from "../../harness/admission-harness.js";
import { untilLockWaits } from "../../harness/store-harness.js";

let h: AdmissionHarness;
beforeEach(async () => {
  h = await AdmissionHarness.create();
});
afterEach(async () => {
  const broken = await h.broken();
  await h.close();
  if (broken.length > 0) throw new Error(`the audits found ${JSON.stringify(broken)}`);
});

const two = { concurrency: { key: "k", limit: 2 } };
const query = (text: string, values: unknown[] = []) => h.h.db.query({ text }, values);

test("a run whose worker is lost is blocked and admitted again, and holds one slot all the time [INV-14]", async () => {
  const admitter = h.admitter();
  await h.runs(two, 3);
  await admitter.tick();
  const session = await h.h.session();
  const claimed = await h.h.claim(session, 5);
  expect(claimed).toHaveLength(2);
  await h.h.store.sessions.close(session);
  await h.h.store.runs.rescue(
    claimed.map((run) => run.id),
    3,
  );
  expect(await h.states()).toEqual({ blocked: 3 });
  await admitter.tick();
  expect(await h.states()).toEqual({ blocked: 1, queued: 2 });
  expect(await h.used()).toEqual([2]);
});

test("runs that were given back are admitted again, and hold one slot each [INV-14]", async () => {
  const admitter = h.admitter();
  await h.runs(two, 2);
  await admitter.tick();
  const session = await h.h.session();
  const claimed = await h.h.claim(session, 5);
  await h.h.store.claims.giveBack(
    session,
    claimed.map(({ id, fence }) => ({ id, fence })),
  );
  await admitter.tick();
  expect(await h.states()).toEqual({ queued: 2 });
  expect(await h.used()).toEqual([2]);
});

test("a slot is free when its run has ended, was cancelled, or does not exist [INV-14]", async () => {
  const admitter = h.admitter();
  const ids = await h.runs(two, 6);
  await admitter.tick();
  const session = await h.h.session();
  const [first] = await h.h.claim(session, 1);
  if (first === undefined) throw new Error("nothing was claimed");
  await h.finish(session, [first]);
  await h.h.store.settle((tx) => h.h.store.settler.writes.endRuns(tx, [{ id: ids[1] ?? "", reason: "cancelled" }]));
  await admitter.tick();
  expect(await h.states()).toEqual({ blocked: 2, queued: 2 });
  await query("delete from carillon.run where state = 'queued'");
  await admitter.tick();
  expect(await h.states()).toEqual({ queued: 2 });
  expect(await h.used()).toEqual([2]);
});

test("a paused queue admits no run, and goes on where it was after the pause", async () => {
  const admitter = h.admitter();
  await query("update carillon.queue set pause = '{}'");
  await h.runs(two, 3);
  await admitter.tick();
  expect(await h.states()).toEqual({ blocked: 3 });
  await query("update carillon.queue set pause = null");
  await admitter.tick();
  expect(await h.states()).toEqual({ blocked: 1, queued: 2 });
});

test("of two concurrent admissions one waits, and then admits no more runs than there is room for [INV-14]", async () => {
  await h.runs(two, 4);
  await h.admitter().tick();
  const session = await h.h.session();
  await h.finish(session, await h.h.claim(session, 1));
  const admitters = [h.admitter(), h.admitter()];
  await h.h.db.transaction(async (tx) => {
    await tx.query({ text: "select from carillon.limit_key for update" });
    const ticks = admitters.map((admitter) => admitter.tick());
    await untilLockWaits(h.h, 2);
    void Promise.all(ticks);
  });
  await Promise.all(admitters.map((admitter) => admitter.tick()));
  expect(await h.states()).toEqual({ blocked: 1, queued: 2 });
  expect(await h.used()).toEqual([2]);
});

test("a lowered limit lets no run start until fewer are running, and a raised one lets more start", async () => {
  const admitter = h.admitter();
  await h.runs({ concurrency: { key: "k", limit: 3 } }, 4);
  await admitter.tick();
  await h.runs({ concurrency: { key: "k", limit: 2 } }, 1);
  await admitter.tick();
  const session = await h.h.session();
  await h.finish(session, await h.h.claim(session, 1));
  await admitter.tick();
  expect(await h.states()).toEqual({ blocked: 2, queued: 2 });
  await h.runs({ concurrency: { key: "k", limit: 4 } }, 1);
  await admitter.tick();
  await admitter.tick();
  expect(await h.states()).toEqual({ queued: 4, blocked: 1 });
});

test("a run starts only when all of its limits have room: key, rate and queue", async () => {
  const admitter = h.admitter();
  await query(`update carillon.queue set limits = '{"concurrency":{"limit":2}}'`);
  const policy = {
    concurrency: { key: "{payload.key}", limit: 1 },
    rateLimit: { key: "r", limit: 3, perMs: 3_600_000 },
  };
  for (const key of ["a", "a", "b", "c"]) await h.runs(policy, 1, { key });
  await admitter.tick();
  await admitter.tick();
  expect(await h.states()).toEqual({ blocked: 2, queued: 2 });
  const session = await h.h.session();
  await h.finish(session, await h.h.claim(session, 2));
  await admitter.tick();
  await admitter.tick();
  expect(await h.states()).toEqual({ blocked: 1, queued: 1 });
});

test("a run whose key cannot be filled in fails, with the reason in its error", async () => {
  await h.runs({ concurrency: { key: "{payload.nothing}", limit: 1 } }, 1);
  await h.admitter().tick();
  const { rows } = await h.h.db.query<{ status_reason: string; type: string }>({
    text: "select status_reason, error ->> 'type' as type from carillon.run_history",
  });
  expect(rows).toEqual([{ status_reason: "limit_invalid", type: "LimitInvalid" }]);
});

test("one admission handles the ends of many ordering keys, and lets the next run of each start [INV-8] [INV-14]", async () => {
  const keys = Array.from({ length: 120 }, (_, index) => `k${index}`);
  for (const key of keys) await h.runs({ ordering: { key: "{payload.key}" } }, 2, { key });
  let count = 0;
  const node = h.admitter(h.h.store, {
    settle: (work) => {
      count++;
      return h.h.store.settle(work);
    },
  });
  await node.tick();
  // Until no limit is left to check.
  do {
    count = 0;
    await node.tickOnly();
  } while (count > 0);
  const session = await h.h.session();
  const first = await h.h.claim(session, 200);
  expect(first).toHaveLength(keys.length);
  await h.finish(session, first);
  node.released(first.map((run) => run.id));
  count = 0;
  expect([await node.tickOnly(), count]).toEqual([keys.length, 1]);
  expect([await h.states(), await h.broken()]).toEqual([{ queued: keys.length }, []]);
});
