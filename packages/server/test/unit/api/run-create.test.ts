import type { Run, RunBatchCreated, RunCreated } from "@carillon/contract";
import { CarillonError, formatId } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf, testNow } from "./api-under-test.js";
import { uuid } from "./fake-state.js";

describe("creating runs", () => {
  it.each(["/v1/runs", "/runs"])("%s returns the new run and its location", async (url) => {
    const api = apiUnderTest();
    const body = { task: "echo", payload: [1], queue: "q", priority: 9, labels: { a: "b" }, timeout: "2m" };
    const response = await api.post(url, { ...body, retry: { max_attempts: 2 }, owner: "u1" });
    const run = response.json<RunCreated>();
    expect(response.statusCode).toBe(201);
    expect(response.headers["location"]).toBe(`/v1/runs/${run.id}`);
    expect(run).toMatchObject({ task: "echo", payload: [1], queue: "q", priority: 9, status: "queued", is_new: true });
    expect(run).toMatchObject({ labels: { a: "b" }, owner: "u1", max_attempts: 2 });
    expect((await api.get(`/v1/runs/${run.id}`)).json<Run>().id).toBe(run.id);
  });

  it("reads a delay from the scheduler's clock, and an instant as given", async () => {
    const api = apiUnderTest();
    const delayed = (await api.post("/v1/runs", { task: "echo", delay: "1h" })).json<Run>();
    expect(delayed).toMatchObject({ status: "scheduled", run_at: new Date(testNow + 3_600_000).toISOString() });
    const timed = await api.post("/v1/runs", { task: "echo", run_at: "2026-11-12T10:30:00+01:00" });
    expect(timed.json<Run>()).toMatchObject({ run_at: "2026-11-12T09:30:00.000Z" });
  });

  it("a run with a dedupe key reports whether it is new", async () => {
    const api = apiUnderTest();
    const body = { task: "echo", dedupe: { key: "k" } };
    const first = await api.post("/v1/runs", body);
    const second = await api.post("/v1/runs", body);
    expect([first.statusCode, second.statusCode]).toEqual([201, 200]);
    expect(second.json<RunCreated>()).toMatchObject({ id: first.json<Run>().id, is_new: false });
    const refused = await api.post("/v1/runs", { task: "echo", dedupe: { key: "k", on: "reject" } });
    expect(refusalOf(refused)).toMatchObject({ status: 409, code: "run_duplicate" });
  });

  it("reports every fault with its pointer", async () => {
    const api = apiUnderTest();
    const faults = async (body: unknown) => refusalOf(await api.post("/v1/runs", body)).faults;
    expect(await faults({})).toEqual(["/task field_missing"]);
    expect(await faults({ task: "", priority: 10, dedupe: { on: "drop" } })).toEqual([
      "/task field_invalid",
      "/priority field_invalid",
      "/dedupe/on field_invalid",
    ]);
    expect(await faults({ task: "a", delay: "1h", run_at: "2027-01-01T00:00:00Z" })).toEqual(["/delay field_invalid"]);
    expect(await faults({ task: "a", delay: "soon" })).toEqual(["/delay duration_invalid"]);
    expect(await faults({ task: "a", run_at: "2020-01-01T00:00:00Z" })).toEqual(["/run_at schedule_in_past"]);
    expect(await faults({ task: "a", run_at: "tomorrow" })).toEqual(["/run_at instant_invalid"]);
    expect(await faults({ task: "a", dedupe: { window: "0s" } })).toEqual(["/dedupe/window duration_invalid"]);
    expect(await faults({ task: "a", dedupe: { key: "" } })).toEqual(["/dedupe/key field_invalid"]);
    expect(await faults({ task: "a", schedule: { delay: "1h" } })).toEqual(["/schedule unknown_field"]);
  });
});

describe("batches of runs", () => {
  it.each(["/v1/runs:batchCreate", "/runs:batchCreate"])(
    "%s returns a result for each run of a batch, in order",
    async (url) => {
      const api = apiUnderTest();
      const runs = [
        { task: "echo", dedupe: { key: "k" } },
        { task: "echo", priority: 12 },
        null,
        { task: "echo", dedupe: { key: "k" } },
        { task: "echo", dedupe: { key: "k", on: "reject" } },
      ];
      const response = await api.post(url, { runs });
      const { results, ...counts } = response.json<RunBatchCreated>();
      expect([response.statusCode, counts]).toEqual([200, { created: 1, duplicates: 1, refused: 3, warnings: [] }]);
      const id = formatId("run", uuid(1));
      expect(results).toMatchObject([
        { id, is_new: true },
        { problem: { code: "field_invalid", errors: [{ pointer: "/priority" }] } },
        { problem: { code: "field_invalid" } },
        { id, is_new: false },
        { problem: { code: "run_duplicate" } },
      ]);
    },
  );

  it("refuses a batch of runs that is not one", async () => {
    for (const body of [{}, { runs: [] }, { runs: "all" }, []]) {
      expect(refusalOf(await apiUnderTest().post("/v1/runs:batchCreate", body)).status).toBe(400);
    }
  });

  it("a batch of runs fails as a whole when the server stored none of them", async () => {
    const api = apiUnderTest();
    api.engine.failNextCall(new CarillonError("database_unavailable", "gone"));
    const response = await api.post("/v1/runs:batchCreate", { runs: [{ task: "echo" }] });
    expect(refusalOf(response)).toMatchObject({ status: 503, code: "database_unavailable" });
  });
});
