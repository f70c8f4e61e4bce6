import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChangeContext } from "../../../../src/index.js";
import { type ChangeHarness, changeHarness, spec } from "../../../harness/change-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

type Change = (id: string, context: ChangeContext) => Promise<unknown>;

const changes: readonly (readonly [string, Change])[] = [
  ["an edit", (id, context) => h.engine.jobs.edit("default", { id }, (job) => ({ ...job, payload: 2 }), context)],
  ["a rollback", (id, context) => h.engine.jobs.rollback("default", { id }, 1, context)],
  [
    "a pause",
    (id, context) => h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, context),
  ],
  ["a resume", (id, context) => h.engine.jobs.resume("default", { id }, {}, context)],
  ["a requested run", (id, context) => h.engine.jobs.runNow("default", { id }, {}, context)],
  ["a cancellation", (id, context) => h.engine.jobs.cancel("default", { id }, { running: "signal" }, context)],
];

const state = async (id: string): Promise<unknown> => [await h.due(id), await h.runs(id), await h.history(id)];

describe.each(changes)("%s with If-Match", (_name, change) => {
  it("refuses a change for another version, and decides no due occurrence for it", async () => {
    const id = await h.recurring();
    const before = await state(id);
    for (const ifVersion of [0, 2])
      await expect(change(id, { actor: null, ifVersion })).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await state(id)).toEqual(before);
    await change(id, { actor: null, ifVersion: 1 });
  });

  it("compares version 1 of a one-off job that is stored as its run alone", async () => {
    const { id } = await h.engine.jobs.create("default", spec({ schedule: { kind: "at", at: h.last + 60_000 } }));
    await expect(change(id, { actor: null, ifVersion: 2 })).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await h.runs(id)).toMatchObject([{ id, state: "scheduled" }]);
    expect(await h.due(id)).toEqual({});
  });
});

describe("an upsert with If-Match", () => {
  it("creates no job for an upsert with a version", async () => {
    const key = `nobody-${h.last}`;
    const asked = h.engine.jobs.upsert("default", key, () => spec(), { actor: null, ifVersion: 1 });
    await expect(asked).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await h.engine.jobs.get("default", { key })).toBeNull();
  });

  it("applies one of two concurrent upserts with the same version", async () => {
    const key = `concurrent-${h.last}`;
    await h.engine.jobs.create("default", spec({ key }));
    const put = (payload: number) =>
      h.engine.jobs.upsert("default", key, () => spec({ payload }), { actor: null, ifVersion: 1 });
    const answers = await Promise.allSettled([put(1), put(2)]);
    expect(answers.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    expect(await h.engine.jobs.get("default", { key })).toMatchObject({ version: 2 });
  });
});
