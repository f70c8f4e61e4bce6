import { randomBytes } from "node:crypto";
import type { Run, RunCreated } from "@carillon/contract";
import { uuidv7 } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { json, refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "../api/real-api.js";

let api: RealApi;

beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

const newKey = (at = Date.now()): string => `auto-${uuidv7(at, randomBytes)}`;
const post = (url: string, body: unknown, key: string) =>
  api.call({ method: "POST", url, headers: { ...json, "idempotency-key": key }, payload: JSON.stringify(body) });
const rows = async (text: string): Promise<number> =>
  (await api.database.query<{ n: number }>({ text: `select count(*)::int as n from carillon.${text}` })).rows[0]?.n ??
  0;

/** The run ends as if a worker had done it. */
const end = (state = "queued") =>
  `with ended as (delete from carillon.run where state = '${state}' returning *)
   insert into carillon.run_history (id, job_id, namespace_id, status, priority, run_at, nominal_at, created_at, trigger, task, queue,
     payload, attempt, losses, fence, finished_at)
   select id, job_id, namespace_id, 'succeeded', priority, run_at, nominal_at, created_at, trigger, task, queue, payload, 1, 0, 1,
     clock_timestamp() from ended`;

describe("a call with a key that a client made", () => {
  it("stores no receipt, and the first run has the id in the key", async () => {
    const key = newKey();
    const made = (await post("/v1/runs", { task: "unserved" }, key)).json<RunCreated>();
    const again = await post("/v1/runs", { task: "unserved" }, key);
    expect(again.statusCode).toBe(201);
    expect(again.json<RunCreated>().id).toBe(made.id);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(await rows("idempotency_key")).toBe(0);
  });

  it("keeps the dedupe key and the time of a run that names them in the words of other systems", async () => {
    const run = { task: "unserved", idempotency_key: "order-1" };
    const first = (await post("/v1/runs", run, newKey())).json<RunCreated>();
    const second = (await post("/v1/runs", run, newKey())).json<RunCreated>();
    expect([second.id, second.is_new]).toEqual([first.id, false]);
    const batch = (await post("/v1/runs:batchCreate", { runs: [run, { task: "unserved" }] }, newKey())).json<{
      results: readonly { id: string; is_new: boolean }[];
    }>();
    expect(batch.results[0]).toMatchObject({ id: first.id, is_new: false });
    const later = (
      await post("/v1/runs", { task: "unserved", schedule_time: "2099-01-01T00:00:00Z" }, newKey())
    ).json<Run>();
    expect(later).toMatchObject({ status: "scheduled", run_at: "2099-01-01T00:00:00.000Z" });
    expect(await rows("far_future_run")).toBe(1);
    await api.database.query({ text: "delete from carillon.far_future_run" });
    await api.database.query({ text: "delete from carillon.run" });
    await api.database.query({ text: "delete from carillon.idempotency_key" });
  });

  it("gives way to the key that the caller of POST /v1/jobs wrote into the body", async () => {
    const job = { task: "unserved", schedule: { cron: "0 0 1 1 *" }, idempotency_key: "mine" };
    const first = await post("/v1/jobs", job, newKey());
    const second = await post("/v1/jobs", job, newKey());
    expect([first.statusCode, second.statusCode]).toEqual([201, 201]);
    expect(second.json<Run>().id).toBe(first.json<Run>().id);
    expect(second.headers["idempotent-replayed"]).toBe("true");
    const other = await post("/v1/jobs", job, "not-generated");
    expect(refusalOf(other)).toMatchObject({ status: 400, code: "field_invalid" });
    await api.database.query({ text: "delete from carillon.idempotency_key" });
  });

  it("finds its run again although the queue that the task names has changed, and with a payload of -0", async () => {
    const key = newKey();
    const send = (queue: string) =>
      api.call({
        method: "POST",
        url: "/v1/runs",
        headers: { ...json, "idempotency-key": key },
        payload: `{"task":"unserved","queue":"${queue}","payload":{"n":-0}}`,
      });
    const [first, second] = [await send("default"), await send("other")];
    expect(second.json<Run>().id).toBe(first.json<Run>().id);
    await api.database.query({ text: "delete from carillon.run" });
  });

  it("gets its run again after the run has ended, and no second one", async () => {
    const key = newKey();
    const { id } = (await post("/v1/runs", { task: "unserved", payload: 7 }, key)).json<Run>();
    await api.database.query({ text: end() });
    const again = (await post("/v1/runs", { task: "unserved", payload: 7 }, key)).json<Run>();
    expect([again.id, again.status]).toEqual([id, "succeeded"]);
    expect(await rows("run")).toBe(0);
  });

  it("makes no second run if the first call is stored while its run is just ending", async () => {
    const key = newKey();
    const { id } = (await post("/v1/runs", { task: "unserved" }, key)).json<Run>();
    let late: ReturnType<typeof post> | undefined;
    await api.database.transaction(async (tx) => {
      await tx.query({ text: end() });
      late = post("/v1/runs", { task: "unserved" }, key);
      await expect.poll(waiting).toBe(1);
    });
    const answer = await late;
    expect(answer?.statusCode).toBe(201);
    expect(answer?.json<Run>().id).toBe(id);
    expect([await rows("run"), await rows(`run_history where id = '${key.slice(5)}'`)]).toEqual([0, 1]);
  });

  it("gets the runs of a batch again, each under its own id", async () => {
    const key = newKey();
    const body = { runs: [1, 2, 3].map((payload) => ({ task: "unserved", payload })) };
    const first = await post("/v1/runs:batchCreate", body, key);
    expect(await rows("run")).toBe(3);
    expect((await post("/v1/runs:batchCreate", body, key)).json()).toEqual(first.json());
    expect(await rows("run")).toBe(3);
  });

  it("is refused if the time in the key is far from the server's, before anything is stored", async () => {
    const before = await rows("run");
    for (const offMs of [-700_000, 700_000]) {
      const refused = await post("/v1/runs", { task: "unserved" }, newKey(Date.now() + offMs));
      expect(refusalOf(refused)).toMatchObject({ status: 422, code: "idempotency_key_stale" });
    }
    expect(await rows("run")).toBe(before);
  });

  it("is refused if the key was used for another request, or in another namespace", async () => {
    const key = newKey();
    await post("/v1/runs", { task: "unserved", payload: 1 }, key);
    expect(refusalOf(await post("/v1/runs", { task: "unserved", payload: 2 }, key))).toMatchObject({
      code: "idempotency_key_reused",
    });
    const headers = { ...json, "idempotency-key": key };
    const body = JSON.stringify({ task: "unserved", payload: 1 });
    const elsewhere = await api.other.call({ method: "POST", url: "/v1/runs", headers, payload: body });
    expect(refusalOf(elsewhere)).toMatchObject({ code: "idempotency_key_reused" });
  });

  it("keeps a receipt for a run with a time or a dedupe key, which the id alone does not protect", async () => {
    const key = newKey();
    const first = await post("/v1/runs", { task: "unserved", delay: "1h" }, key);
    expect((await post("/v1/runs", { task: "unserved", delay: "1h" }, key)).json()).toEqual(first.json());
    expect(await rows("idempotency_key")).toBe(1);
  });
});

/** Sessions that wait for a transaction to end. */
async function waiting(): Promise<number> {
  const { rows: found } = await api.database.reserved.query<{ n: number }>({
    text: "select count(*)::int as n from pg_stat_activity where wait_event = 'transactionid' and datname = current_database()",
  });
  return found[0]?.n ?? 0;
}
