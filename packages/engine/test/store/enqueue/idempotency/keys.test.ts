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

describe("IdempotencyKeys", () => {
  it("an idempotency key belongs to one call at a time and stays bound to its first request", async () => {
    const first = own(await call("a"));
    expect(await call("a")).toEqual({ state: "busy" });
    expect(await call("a", "other")).toEqual({ state: "other" });
    const answer = { status: 201, headers: { Location: "/x" }, body: '{"id":1}' };
    await first.answered(answer);
    expect(await call("a")).toEqual({ state: "done", answer });
    expect(await call("a", "other")).toEqual({ state: "other" });
  });

  it("an idempotency key returns the recorded effect when the answer was lost", async () => {
    const first = own(await call("b"));
    const effect = { runs: [{ id: newId(), isNew: true }] };
    await h.db.transaction((tx) => first.receipt.keep(tx, effect));
    // The answer was refused by something behind the effect: what was done stays known.
    await first.failed();
    expect(await call("b")).toEqual({ state: "effect", effect });
  });

  it("another call may take the key of a call without an effect after a minute, and then the first call can no longer commit", async () => {
    const first = own(await call("c"));
    await age("c", "begun_at");
    const second = own(await call("c"));
    const late = h.db.transaction(async (tx) => {
      await tx.query({ text: "insert into carillon.setting (name, value) values ('late', '1')" });
      await first.receipt.keep(tx, { jobs: [newId()] });
    });
    await expect(late).rejects.toMatchObject({ code: "idempotency_in_progress" });
    expect((await h.db.query({ text: "select from carillon.setting where name = 'late'" })).rowCount).toBe(0);
    await first.failed();
    await h.db.transaction((tx) => second.receipt.keep(tx, { jobs: [newId()] }));
    expect(await call("c")).toMatchObject({ state: "effect" });
  });

  it("a refused call releases its idempotency key", async () => {
    await own(await call("d")).failed();
    expect(own(await call("d", "another request")).state).toBe("own");
  });

  it("an idempotency key expires after a day", async () => {
    await own(await call("e")).answered({ status: 200, headers: {}, body: null });
    await age("e", "expires_at");
    expect(await h.store.receipts.sweep(100)).toBe(1);
    expect(own(await call("e", "another request")).state).toBe("own");
  });
});
