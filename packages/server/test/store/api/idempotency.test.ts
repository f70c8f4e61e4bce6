import type { Job, Run, RunCreated } from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { json, refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;

beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

const post = (url: string, body: unknown, key: string) =>
  api.call({ method: "POST", url, headers: { ...json, "idempotency-key": key }, payload: JSON.stringify(body) });

const countOf = async (table: string): Promise<number> => {
  const { rows } = await api.database.query<{ n: number }>({
    text: `select count(*)::int as n from carillon.${table}`,
  });
  return rows[0]?.n ?? 0;
};

/** The state after the death of the node: the effect is stored, the response is not. */
const loseAnswer = (key: string) =>
  api.database.query({ text: "update carillon.idempotency_key set answer = null where key = $1" }, [key]);

describe("calls with an Idempotency-Key", () => {
  it("repeated calls create one run and get the same response", async () => {
    const before = await countOf("run");
    const first = await post("/v1/runs", { task: "unserved", payload: 1 }, "a");
    const again = await post("/v1/runs", { payload: 1, task: "unserved" }, "a");
    expect([first.statusCode, again.statusCode]).toEqual([201, 201]);
    expect(again.json()).toEqual(first.json());
    expect([first.headers["idempotent-replayed"], again.headers["idempotent-replayed"]]).toEqual([undefined, "true"]);
    expect(again.headers["location"]).toBe(first.headers["location"]);
    expect(await countOf("run")).toBe(before + 1);
  });

  it("refuses a key that was used with another body, or for another operation", async () => {
    await post("/v1/runs", { task: "unserved" }, "b");
    expect(refusalOf(await post("/v1/runs", { task: "other" }, "b"))).toMatchObject({
      status: 422,
      code: "idempotency_key_reused",
    });
    expect(refusalOf(await post("/v1/jobs", { task: "unserved" }, "b"))).toMatchObject({
      code: "idempotency_key_reused",
    });
  });

  it("an Idempotency-Key belongs to its namespace", async () => {
    const first = await post("/v1/runs", { task: "unserved" }, "mine");
    const other = await api.other.call({
      method: "POST",
      url: "/v1/runs",
      headers: { ...json, "idempotency-key": "mine" },
      payload: JSON.stringify({ task: "unserved" }),
    });
    expect(other.statusCode).toBe(201);
    expect(other.json<Run>().id).not.toBe(first.json<Run>().id);
  });

  it("a key can be used again after a refused call, which has no effect", async () => {
    expect(refusalOf(await post("/v1/runs", { task: 5 }, "c"))).toMatchObject({ status: 400 });
    expect((await post("/v1/runs", { task: "unserved" }, "c")).statusCode).toBe(201);
  });

  it("one of several concurrent calls creates the run; the others get 409", async () => {
    const before = await countOf("run");
    const all = await Promise.all(Array.from({ length: 10 }, () => post("/v1/runs", { task: "unserved" }, "d")));
    expect(await countOf("run")).toBe(before + 1);
    const codes = new Set(all.map((one) => one.statusCode));
    expect([...codes].filter((code) => code !== 201 && code !== 409)).toEqual([]);
    expect(new Set(all.filter((one) => one.statusCode === 201).map((one) => one.json<Run>().id)).size).toBe(1);
  });

  it.each([
    ["/v1/runs", { task: "unserved", delay: "1h" }],
    ["/v1/runs", { task: "unserved", dedupe: { key: "once", on: "reject" } }],
    ["/v1/runs:batchCreate", { runs: [{ task: "unserved" }, { task: 5 }, { task: "unserved", dedupe: { key: "x" } }] }],
    ["/v1/jobs", { task: "unserved" }],
    ["/v1/jobs", { task: "unserved", key: "recurring", schedule: { cron: "0 9 * * *" } }],
    ["/v1/jobs:batchCreate", { jobs: [{ task: "unserved" }, { task: "unserved", key: "recurring" }, { task: 5 }] }],
  ])(
    "rebuilds the response to %s from its effect when the node died before it stored the response",
    async (url, body) => {
      const key = `lost ${url} ${JSON.stringify(body)}`;
      const first = await post(url, body, key);
      const state = await api.state();
      await loseAnswer(key);
      const again = await post(url, body, key);
      expect(again.statusCode).toBe(first.statusCode);
      expect(idsOf(again.json())).toEqual(idsOf(first.json()));
      expect(await api.state()).toEqual(state);
    },
  );

  it.each([
    [":runNow", {}],
    [":backfill", { from: "2026-01-01T00:00:00Z", to: "2026-01-03T00:00:00Z" }],
  ])("rebuilds the response to the %s of a job from its effect as well", async (verb, body) => {
    const definition = {
      task: "unserved",
      overlap: "allow",
      schedule: { cron: "0 9 * * *", starts_at: "2026-01-01T00:00:00Z" },
    };
    const { id } = (await api.post("/v1/jobs", definition)).json<Job>();
    const first = await post(`/v1/jobs/${id}${verb}`, body, `verb ${verb}`);
    expect(first.statusCode).toBeLessThan(300);
    await loseAnswer(`verb ${verb}`);
    const again = await post(`/v1/jobs/${id}${verb}`, body, `verb ${verb}`);
    expect(again.json<Run>().id).toBe(first.json<Run>().id);
  });

  it.each(["", "\u00e4", "x".repeat(256)])(
    "refuses the Idempotency-Key %j: it must be short and printable",
    async (key) => {
      const refusal = refusalOf(await post("/v1/runs", { task: "unserved" }, key));
      expect(refusal).toEqual({ status: 400, code: "field_invalid", faults: ["Idempotency-Key field_invalid"] });
    },
  );
});

describe("calls that wait for a run", () => {
  it("a waiting call returns the unfinished run when its time is over", async () => {
    const run = (await api.post("/v1/runs?wait=50ms", { task: "unserved" })).json<RunCreated>();
    expect(run).toMatchObject({ status: "queued", is_new: true });
  });

  it("a repeated call waits as well while the first one still waits", async () => {
    const url = "/v1/runs?wait=30s";
    const asked = { task: "unserved", queue: "waited" };
    const first = post(url, asked, "waits");
    const found = async () => (await api.get("/v1/runs?queue=waited")).json<{ runs: Run[] }>().runs[0]?.id;
    await expect.poll(found).toBeDefined();
    const repeat = post(url, asked, "waits");
    await api.post(`/v1/runs/${await found()}:cancel`, {});
    for (const one of [await first, await repeat]) expect(one.json<Run>()).toMatchObject({ status: "cancelled" });
  });

  it("a waiting call returns when the run ends", async () => {
    const { id } = (await api.post("/v1/jobs", { task: "unserved", schedule: { manual: true } })).json<Job>();
    const waiting = api.post(`/v1/jobs/${id}:runNow?wait=30s`, {});
    await expect.poll(async () => (await api.get(`/v1/jobs/${id}/runs`)).json<{ runs: Run[] }>().runs.length).toBe(1);
    const [run] = (await api.get(`/v1/jobs/${id}/runs`)).json<{ runs: Run[] }>().runs;
    const watching = api.get(`/v1/runs/${run?.id}?wait=30s`);
    await api.post(`/v1/jobs/${id}:cancel`, {});
    expect((await waiting).json<Run>()).toMatchObject({ status: "cancelled" });
    expect((await watching).json<Run>()).toMatchObject({ id: run?.id, status: "cancelled" });
  });

  it("refuses an invalid waiting time before it creates the run", async () => {
    const { run, far_future_run: later } = await api.state();
    expect(refusalOf(await api.post("/v1/runs?wait=soon", { task: "unserved" }))).toMatchObject({
      status: 422,
      code: "duration_invalid",
    });
    expect(await api.state()).toMatchObject({ run, far_future_run: later });
  });
});

function idsOf(body: { id?: string; results?: { id?: string }[] }): unknown {
  return body.id ?? body.results?.map((one) => one.id ?? null);
}
