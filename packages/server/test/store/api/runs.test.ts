import type { Run, RunBatchCreated, RunCreated } from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;

beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

describe("asking for runs over HTTP", () => {
  it("stores one, durable when it is answered", async () => {
    const response = await api.post("/v1/runs", { task: "nobody", payload: { a: 1 }, delay: "1h", labels: { x: "y" } });
    const run = response.json<RunCreated>();
    expect([response.statusCode, run.is_new]).toEqual([201, true]);
    const { is_new: _, ...shown } = run;
    const read = (await api.get(`/v1/runs/${run.id}`)).json<Run>();
    // What it waits for is looked up when it is read, not when it is asked for.
    expect(read).toEqual({ ...shown, waiting_on: { code: "due_later", detail: expect.stringMatching(/^due in /) } });
  });

  it("answers a dedupe key with the run that counts, replaces it, and refuses", async () => {
    const post = (on?: string) => api.post("/v1/runs", { task: "nobody", dedupe: { key: "k", ...(on && { on }) } });
    const first = (await post()).json<RunCreated>();
    expect((await post()).json<RunCreated>()).toMatchObject({ id: first.id, is_new: false });
    expect(refusalOf(await post("reject"))).toMatchObject({ status: 409, code: "run_duplicate" });
    const second = (await post("replace")).json<RunCreated>();
    expect(second).toMatchObject({ is_new: true, status: "queued" });
    expect((await api.get(`/v1/runs/${first.id}`)).json<Run>()).toMatchObject({
      status: "cancelled",
      status_reason: "cancelled_by_dedupe",
    });
  });

  it("takes a thousand at a time", async () => {
    const runs = Array.from({ length: 1_000 }, (_, n) => ({
      task: "nobody",
      payload: n,
      dedupe: { key: `${n % 900}` },
    }));
    const { results, ...counts } = (await api.post("/v1/runs:batchCreate", { runs })).json<RunBatchCreated>();
    expect(counts).toEqual({ created: 900, duplicates: 100, refused: 0 });
    expect(results[950]?.id).toBe(results[50]?.id);
  });
});
