import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

const highPart = 2 ** 32;

let h: StoreHarness;
beforeEach(async () => {
  h = await storeHarness();
});
afterEach(() => h.close());

async function voidAll(knownFences = 0): Promise<number> {
  const { timeline } = await h.store.shards.timeline();
  await h.store.shards.rememberTimeline(timeline);
  expect(await h.store.shards.voidAll(timeline, timeline, knownFences)).toBe(true);
  return (await h.store.shards.timeline()).fences;
}

/** A session for the claims of the harness, which know no revision of limits. */
async function newSession(): Promise<string> {
  const id = await h.session();
  await h.db.query({ text: "update carillon.worker_session set limits_revision = 0" });
  return id;
}

async function fenceOf(id: string): Promise<number> {
  const text = { text: "select fence::float8 as fence from carillon.run where id = $1" };
  return (await h.db.query<{ fence: number }>(text, [id])).rows[0]?.fence ?? Number.NaN;
}

describe("a lost history of the database", () => {
  it("gives no session of before a claim, and the next claim of a run a fence that no earlier history can have given [INV-2]", async () => {
    const session = await h.session();
    const id = await h.run();
    // The rows as they were before a claim: that claim had fence 1 in the history that was lost.
    const fences = await voidAll();
    expect(fences).toBeGreaterThanOrEqual(highPart);
    expect(fences % highPart).toBe(0);
    expect(await h.claim(session, 1)).toEqual([]);
    const [run] = await h.claim(await newSession(), 1);
    expect(run).toMatchObject({ id, fence: fences + 1 });
    expect(await fenceOf(id)).toBe(fences + 1);
  });

  it("counts the claims of a run on, so that its first claim stays distinct from later ones [INV-2]", async () => {
    const first = await h.session();
    const id = await h.run();
    expect(await h.claim(first, 1)).toMatchObject([{ id, fence: 1 }]);
    const fences = await voidAll();
    expect(await h.store.runs.rescue([id], 3)).toMatchObject([{ id }]);
    expect(await h.claim(await newSession(), 1)).toMatchObject([{ id, fence: fences + 2 }]);
    const again = await voidAll();
    expect(again).toBeGreaterThan(fences);
    await h.store.runs.rescue([id], 3);
    expect(await h.claim(await newSession(), 1)).toMatchObject([{ id, fence: again + 3 }]);
  });

  it("raises the fences above those that the voiding node knows from a history that this server never had [INV-2]", async () => {
    const known = 5_000 * highPart;
    expect(await voidAll(known)).toBeGreaterThan(known);
  });

  it("makes epochs and every revision jump, and removes every node and session [INV-3]", async () => {
    await h.session();
    const all = {
      text: "select name, value::float8 as value from carillon.revision where name <> 'fences' order by name",
    };
    const before = (await h.db.query<{ value: number }>(all)).rows;
    const epochs = await h.store.shards.list();
    await voidAll();
    const after = (await h.db.query<{ value: number }>(all)).rows;
    expect(after.map(({ value }, at) => value - (before[at]?.value ?? 0))).toEqual(before.map(() => 2 ** 20));
    expect((await h.store.shards.list()).every(({ id, epoch }) => epoch > (epochs[id]?.epoch ?? 0) + 1_000_000)).toBe(
      true,
    );
    expect([await h.store.nodes.list(), await h.store.sessions.list()]).toEqual([[], []]);
  });
});
