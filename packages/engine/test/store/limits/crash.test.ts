import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createEngineStore } from "../../harness/engine-store.js";
import { AdmissionHarness } from "../../harness/admission-harness.js";
import { type FrailDatabase, frailDatabase } from "../../harness/frail-database.js";

/** A statement that was not sent, or one whose outcome is unknown. */
const away = expect.stringMatching(/^(database_unavailable|outcome_unknown)$/) as string;

let h: AdmissionHarness;
let frail: FrailDatabase;
beforeAll(async () => {
  h = await AdmissionHarness.create();
});
beforeEach(async () => {
  frail = await frailDatabase(h.h.url);
});
afterEach(async () => {
  await frail.close();
  await h.reset();
});
afterAll(() => h.close());

const policy = { concurrency: { key: "{payload.key}", limit: 2 }, rateLimit: { limit: 4, perMs: 3_600_000 } };

const statements = [
  "limit.intake",
  "limit.block",
  "limit.gates",
  "limit.first",
  "limit.heads",
  "limit.define",
  "limit.lock",
  "limit.release",
  "limit.admit",
  "limit.unswept",
];

const momentsOf = (...names: string[]): string[] =>
  names.flatMap((name) => [`before ${name}`, `after ${name}, before its answer`]);

/** The node dies at its next statement of that name. */
function dieAt(moment: string): void {
  const [, name = ""] = /(limit\.\w+)/.exec(moment) ?? [];
  if (moment.startsWith("before")) frail.breakBefore(name);
  else frail.proxy.loseAnswerTo(name);
}

/** A node over the frail connection takes a step and dies in it. */
async function tickAndDie(moment: string): Promise<void> {
  dieAt(moment);
  const node = h.admitter(createEngineStore(frail.database));
  await expect(node.tick()).rejects.toMatchObject({ code: away });
  await untilUndone();
}

/** Resolves when the database has noticed the death and released the locks of the node. */
async function untilUndone(): Promise<void> {
  const text = "select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'";
  while ((await h.h.db.query({ text })).rowCount > 0);
}

test.each(momentsOf(...statements))(
  "a node that dies %s leaves no limit exceeded or blocked [INV-14]",
  async (moment) => {
    await h.runs(policy, 3);
    await tickAndDie(moment);
    const other = h.admitter();
    await other.tick();
    expect(await h.states()).toEqual({ blocked: 1, queued: 2 });
    const session = await h.h.session();
    await h.finish(session, await h.h.claim(session, 5));
    await other.tick();
    expect(await h.states()).toEqual({ queued: 1 });
    expect(await h.broken()).toEqual([]);
  },
);

test.each(["commit\0"])(
  "a node that gets no answer to its commit leaves no limit exceeded or blocked [INV-14] (%j)",
  async (commit) => {
    await h.runs(policy, 3);
    frail.proxy.loseAnswerTo(commit);
    const store = createEngineStore(frail.database);
    await expect(h.admitter(store).tick()).rejects.toMatchObject({ code: away });
    await h.admitter().tick();
    expect(await h.states()).toEqual({ blocked: 1, queued: 2 });
    expect(await h.broken()).toEqual([]);
  },
);

/** The first run of an ordering key fails; returns its id. */
async function failFirst(onFailure: "block" | "stop"): Promise<string> {
  await h.runs({ ordering: { key: "{payload.key}", onFailure } }, 3);
  await h.admitter().tick();
  const session = await h.h.session();
  const [run] = await h.h.claim(session, 5);
  if (run === undefined) throw new Error("nothing was claimed");
  const { id, fence } = run;
  const failed = { status: "failed" as const, reason: "handler_error", output: "null", error: null };
  await h.h.store.claims.finish([{ session, id, fence, startedAt: Date.now(), ...failed }]);
  return id;
}

test.each(momentsOf("limit.release", "limit.cancel_waiting"))(
  "a node that dies %s ends the runs behind a failed run once, and lets none of them start [INV-8]",
  async (moment) => {
    await failFirst("stop");
    await tickAndDie(moment);
    await h.admitter().tick();
    expect(await h.states()).toEqual({});
    const ended = await h.h.db.query({ text: "select from carillon.run_history" });
    expect(ended.rowCount).toBe(3);
    expect(await h.broken()).toEqual([]);
  },
);

test.each(momentsOf("limit.holders"))(
  "a node that dies %s lets a run that was given back start before the runs behind it [INV-8]",
  async (moment) => {
    const [first] = await h.runs({ ordering: { key: "{payload.key}" } }, 2);
    await h.admitter().tick();
    const session = await h.h.session();
    await h.h.store.claims.giveBack(session, await h.h.claim(session, 5));
    expect(await h.states()).toEqual({ blocked: 2 });
    await tickAndDie(moment);
    await h.admitter().tick();
    expect((await h.h.claim(session, 5)).map((run) => run.id)).toEqual([first]);
    expect(await h.broken()).toEqual([]);
  },
);

test.each(momentsOf("limit.redriven"))(
  "a node that dies %s lets one run of an ordering key start [INV-8]",
  async (moment) => {
    const failed = await failFirst("block");
    await h.admitter().tick();
    expect(await h.states()).toEqual({ blocked: 2 });
    const text =
      "insert into carillon.redrive (run_id, kind, namespace_id, created_at) values ($1, 'discard', 1, now())";
    await h.h.db.query({ text }, [failed]);
    await tickAndDie(moment);
    await h.admitter().tick();
    expect(await h.states()).toEqual({ blocked: 1, queued: 1 });
    expect(await h.broken()).toEqual([]);
  },
);

test.each(momentsOf("limit.refuse"))(
  "a node that dies %s ends a run whose key cannot be filled in once",
  async (moment) => {
    await h.runs({ concurrency: { key: "{payload.nothing}", limit: 1 } }, 1);
    await tickAndDie(moment);
    await h.admitter().tick();
    expect(await h.states()).toEqual({});
    expect((await h.h.db.query({ text: "select from carillon.run_history" })).rowCount).toBe(1);
  },
);

const queueLimits = { order: { kind: "priority" as const }, pause: null, limits: { concurrency: { limit: 1 } } };
const theQueue = { namespaceId: 1, name: "default" };

test.each(momentsOf("limit.scan_active", "limit.count"))(
  "a node that dies %s leaves the first limit of a queue to be counted by another node [INV-14]",
  async (moment) => {
    await h.h.run();
    await h.h.claim(await h.h.session(), 1);
    await h.h.store.queues.change(theQueue, () => queueLimits);
    await h.runs(policy, 1);
    dieAt(moment);
    const dying = h.admitter(createEngineStore(frail.database));
    await expect(dying.tick().then(() => dying.tick())).rejects.toMatchObject({ code: away });
    await untilUndone();
    const other = h.admitter();
    for (let round = 0; round < 3; round++) await other.tick();
    expect(await h.states()).toEqual({ blocked: 1, running: 1 });
    expect(await h.used()).toContain(1);
    expect(await h.broken()).toEqual([]);
  },
);

test.each(momentsOf("limit.declare", "limit.fence", "limit.recount"))(
  "a node that dies %s has set no limit, and workers still get runs [INV-14]",
  async (moment) => {
    await h.h.run();
    const session = await h.h.session();
    dieAt(moment);
    const store = createEngineStore(frail.database);
    await expect(store.queues.change(theQueue, () => queueLimits)).rejects.toMatchObject({
      code: away,
    });
    await untilUndone();
    expect((await h.h.store.queues.find(1, "default"))?.limits).toBeNull();
    expect(await h.h.claim(session, 1)).toHaveLength(1);
  },
);
