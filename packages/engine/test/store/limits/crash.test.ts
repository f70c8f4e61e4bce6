import { afterEach, beforeEach, expect, test } from "vitest";
import { createStore } from "../../../src/store/store.js";
import { AdmissionHarness } from "../../harness/admission-harness.js";
import { type FrailDatabase, frailDatabase } from "../../harness/frail-database.js";

let h: AdmissionHarness;
let frail: FrailDatabase;
beforeEach(async () => {
  h = await AdmissionHarness.create();
  frail = await frailDatabase(h.h.url);
});
afterEach(async () => {
  await frail.close();
  await h.close();
});

const policy = { concurrency: { key: "{payload.key}", limit: 2 }, rateLimit: { limit: 4, perMs: 3_600_000 } };

const statements = [
  "limit.intake",
  "limit.block",
  "limit.gates",
  "limit.heads",
  "limit.define",
  "limit.lock",
  "limit.release",
  "limit.admit",
  "limit.unswept",
];

test.each(statements.flatMap((name) => [`before ${name}`, `after ${name}, before its answer`]))(
  "a node that dies %s leaves nothing behind that exceeds or blocks a limit [INV-14]",
  async (moment) => {
    await h.runs(policy, 3);
    const [, name = ""] = /(limit\.\w+)/.exec(moment) ?? [];
    if (moment.startsWith("before")) frail.breakBefore(name);
    else frail.proxy.loseAnswerTo(name);
    const store = createStore(frail.database);
    await expect(h.admitter(store).tick()).rejects.toMatchObject({ code: "database_unavailable" });
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

test.each(["commit\0"])("a node that never hears of its commit leaves nothing behind [INV-14] (%j)", async (commit) => {
  await h.runs(policy, 3);
  frail.proxy.loseAnswerTo(commit);
  const store = createStore(frail.database);
  await expect(h.admitter(store).tick()).rejects.toMatchObject({ code: "database_unavailable" });
  await h.admitter().tick();
  expect(await h.states()).toEqual({ blocked: 1, queued: 2 });
  expect(await h.broken()).toEqual([]);
});
