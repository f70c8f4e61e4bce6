import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BegunCall, IdempotencyKeys, type OwnCall } from "../../../../src/enqueue/idempotency/idempotency-keys.js";
import { type StoreHarness, newId, storeHarness } from "../../../harness/store-harness.js";
import { testContext } from "../../../harness/test-context.js";

let h: StoreHarness;
let keys: IdempotencyKeys;

beforeAll(async () => {
  h = await storeHarness();
  keys = new IdempotencyKeys(testContext({ database: h.db }));
});
afterAll(() => h.close());

const call = (key: string, request = "r") => keys.begin("default", { caller: "", key, request });

function own(begun: BegunCall): OwnCall {
  if (begun.state !== "own") throw new Error(`the call is ${begun.state}`);
  return begun;
}

const age = (key: string, column: string) =>
  h.db.query(
    { text: `update carillon.idempotency_key set ${column} = ${column} - interval '25 hours' where key = $1` },
    [key],
  );

describe("an idempotency key", () => {
  it("is one call's at a time, and of the same request for ever after", async () => {
    const first = own(await call("a"));
    expect(await call("a")).toEqual({ state: "busy" });
    expect(await call("a", "other")).toEqual({ state: "other" });
    const answer = { status: 201, headers: { Location: "/x" }, body: '{"id":1}' };
    await first.answered(answer);
    expect(await call("a")).toEqual({ state: "done", answer });
    expect(await call("a", "other")).toEqual({ state: "other" });
  });

  it("shows what was done when nobody knows the answer any more", async () => {
    const first = own(await call("b"));
    const effect = { runs: [{ id: newId(), isNew: true }] };
    await h.db.transaction((tx) => first.receipt.keep(tx, effect));
    // The answer was refused by something behind the effect: what was done stays known.
    await first.refused();
    expect(await call("b")).toEqual({ state: "effect", effect });
  });

  it("of a call that died before it did anything is free again after a minute, and that call can do nothing any more", async () => {
    const first = own(await call("c"));
    await age("c", "begun_at");
    const second = own(await call("c"));
    const late = h.db.transaction(async (tx) => {
      await tx.query({ text: "insert into carillon.setting (name, value) values ('late', '1')" });
      await first.receipt.keep(tx, { jobs: [newId()] });
    });
    await expect(late).rejects.toMatchObject({ code: "idempotency_in_progress" });
    expect((await h.db.query({ text: "select from carillon.setting where name = 'late'" })).rowCount).toBe(0);
    await first.refused();
    await h.db.transaction((tx) => second.receipt.keep(tx, { jobs: [newId()] }));
    expect(await call("c")).toMatchObject({ state: "effect" });
  });

  it("is given back by a call that was refused", async () => {
    await own(await call("d")).refused();
    expect(own(await call("d", "another request")).state).toBe("own");
  });

  it("goes after a day", async () => {
    await own(await call("e")).answered({ status: 200, headers: {}, body: null });
    await age("e", "expires_at");
    expect(await h.store.receipts.sweep(100)).toBe(1);
    expect(own(await call("e", "another request")).state).toBe("own");
  });
});
