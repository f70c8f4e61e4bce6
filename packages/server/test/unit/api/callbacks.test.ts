import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";
import { FakeEngine } from "./fake-engine.js";

const token = "A".repeat(43);
const hash = createHash("sha256").update(token).digest("hex");

function withCallback() {
  const engine = new FakeEngine(() => 0);
  engine.waitingRuns.answers.set(hash, null);
  return { engine, api: apiUnderTest({ engine }) };
}

describe("callbacks", () => {
  it.each([
    [undefined, { status: "succeeded", output: null }],
    [{ output: { rows: 3 } }, { status: "succeeded", output: { rows: 3 } }],
    [
      { status: "failed", error: { message: "no disk", retryable: false } },
      { status: "failed", error: { type: "CallbackFailed", message: "no disk", retryable: false } },
    ],
    [
      { status: "failed", retry_after: "30s" },
      {
        status: "failed",
        error: { type: "CallbackFailed", message: "The callback reported that the work failed.", retryable: true },
        retryAfterMs: 30_000,
      },
    ],
  ])("a callback ends its run by its token alone: %j", async (body, answer) => {
    const { engine, api } = withCallback();
    const url = `/v1/callbacks/${token}`;
    const called = body === undefined ? await api.call({ method: "POST", url }) : await api.post(url, body);
    expect(called.statusCode).toBe(204);
    expect(engine.waitingRuns.answers.get(hash)).toEqual(answer);
  });

  it("a callback is accepted once, and gets 404 for a wrong token", async () => {
    const { api } = withCallback();
    await api.post(`/v1/callbacks/${token}`, {});
    const again = refusalOf(await api.post(`/v1/callbacks/${token}`, {}));
    expect(again).toMatchObject({ status: 409, code: "callback_used" });
    for (const other of ["B".repeat(43), "short", "a%20b"])
      expect(refusalOf(await api.post(`/v1/callbacks/${other}`, {}))).toMatchObject({ status: 404, code: "not_found" });
  });

  it("refuses an invalid callback with a pointer", async () => {
    const { api } = withCallback();
    const faults = async (body: unknown) => refusalOf(await api.post(`/v1/callbacks/${token}`, body)).faults;
    expect(await faults({ status: "lost" })).toEqual(["/status field_invalid"]);
    expect(await faults({ error: { message: "x" } })).toEqual(["/error field_invalid"]);
    expect(await faults({ status: "failed", output: 1 })).toEqual(["/output field_invalid"]);
    expect(await faults({ status: "failed", retry_after: "soon" })).toEqual(["/retry_after duration_invalid"]);
    expect(await faults({ result: 1 })).toEqual(["/result unknown_field"]);
  });
});
