import type { BulkOperation, Job, JobStats, Run, RunAttempts, RunCreated, RunEvents } from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;

beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

const made = async (body: object = {}): Promise<RunCreated> =>
  (await api.post("/v1/runs", { task: "unserved", ...body })).json<RunCreated>();
const typesOf = async (id: string): Promise<string[]> =>
  (await api.get(`/v1/runs/${id}/events`)).json<RunEvents>().events.map((event) => event.type);

describe("cancelling runs over HTTP", () => {
  it.each([
    ["that waits for a worker", {}],
    ["that waits for its time", { delay: "5m" }],
    ["that waits far from its time", { delay: "30d" }],
  ])("cancels a run %s, and a second call changes nothing", async (_, body) => {
    const { id } = await made(body);
    const first = (await api.post(`/v1/runs/${id}:cancel`, {})).json<Run>();
    expect(first).toMatchObject({ status: "cancelled", status_reason: "cancelled_by_user" });
    expect((await api.post(`/runs/${id}/cancel`, {})).json()).toEqual(first);
    expect(await typesOf(id)).toEqual(expect.arrayContaining(["created", "cancelled"]));
    expect((await api.get(`/v1/runs/${id}/attempts`)).json<RunAttempts>().attempts).toEqual([]);
  });

  it("cancelling a run of a recurring job does not change the job", async () => {
    const job = (await api.post("/v1/jobs", { task: "unserved", schedule: { manual: true } })).json<Job>();
    const run = (await api.post(`/v1/jobs/${job.id}:runNow`, {})).json<Run>();
    expect((await api.post(`/v1/runs/${run.id}:cancel`, {})).json<Run>().status).toBe("cancelled");
    expect((await api.get(`/v1/jobs/${job.id}`)).json<Job>()).toMatchObject({ state: "active", version: job.version });
    expect((await api.post(`/v1/jobs/${job.id}:runNow`, {})).statusCode).toBe(201);
    expect((await api.get(`/v1/jobs/${job.id}/stats`)).json<JobStats>()).toMatchObject({ finished: 1, cancelled: 1 });
  });

  it("cancelling a run of another namespace gets 404 [INV-7]", async () => {
    const { id } = await made();
    const state = await api.state();
    for (const verb of ["cancel", "reschedule"]) {
      expect(
        refusalOf(await api.other.post(`/v1/runs/${id}:${verb}`, verb === "cancel" ? {} : { delay: "1h" })),
      ).toMatchObject({
        status: 404,
      });
    }
    expect(await api.state()).toEqual(state);
  });
});

describe("rescheduling runs over HTTP", () => {
  it.each([
    ["later, from the queue", {}, "1h", "scheduled"],
    ["sooner, from far away", { delay: "30d" }, "0s", "queued"],
    ["from far away to another day far away", { delay: "30d" }, "20d", "scheduled"],
    ["now, from its time", { delay: "5m" }, "0s", "queued"],
  ])("rescheduling a run: %s", async (_, body, delay, status) => {
    const { id, run_at: before } = await made(body);
    const moved = (await api.post(`/v1/runs/${id}:reschedule`, { delay })).json<Run>();
    expect(moved).toMatchObject({ id, status });
    expect(moved.run_at).not.toBe(before);
    expect(moved.trigger.scheduled_for).toBe(moved.run_at);
  });

  it("refuses to reschedule a run that has ended, or without a time", async () => {
    const { id } = await made();
    await api.post(`/v1/runs/${id}:cancel`, {});
    expect(refusalOf(await api.post(`/v1/runs/${id}:reschedule`, { delay: "1h" }))).toMatchObject({
      status: 409,
      code: "run_not_waiting",
    });
    expect(refusalOf(await api.post(`/v1/runs/${id}:reschedule`, {}))).toMatchObject({ code: "field_invalid" });
  });
});

describe("bulk operations over HTTP", () => {
  const ended = async (operation: BulkOperation): Promise<BulkOperation> => {
    const get = async () => (await api.get(`/v1/operations/${operation.id}`)).json<BulkOperation>();
    await expect.poll(async () => (await get()).state).toBe("done");
    return get();
  };

  it("a bulk operation counts first, runs in the background, and changes only the runs of its filter", async () => {
    const owner = "bulk";
    for (let n = 0; n < 5; n += 1) await made({ owner });
    const other = await made();
    const filter = { owner, status: "pending" };
    const state = await api.state();
    const count = (await api.post("/v1/runs:bulk", { action: "cancel", filter, dry_run: true })).json();
    expect(count).toEqual({ count: 5, is_least: false, dry_run: true });
    expect(await api.state()).toEqual(state);
    const response = await api.post("/v1/runs:bulk", { action: "cancel", filter });
    expect([response.statusCode, response.headers["location"]]).toEqual([
      202,
      `/v1/operations/${response.json<BulkOperation>().id}`,
    ]);
    expect(await ended(response.json())).toMatchObject({ done: 5, failed: 0, failures: [] });
    expect((await api.get(`/v1/runs/${other.id}`)).json<Run>().status).toBe("queued");
  });

  it("a bulk operation names the runs that it could not change", async () => {
    const { id } = await made();
    const unknownRun = "run_01k9zq3v5e0r8t2b7n4m6x1c9d";
    const operation = (
      await api.post("/v1/runs:bulk", { action: "discard", ids: [id, unknownRun] })
    ).json<BulkOperation>();
    const { failures, ...rest } = await ended(operation);
    expect(rest).toMatchObject({ total: 2, seen: 2, done: 0, failed: 2 });
    expect(failures.map((one) => `${one.id} ${one.code}`).sort()).toEqual(
      [`${id} run_not_failed`, `${unknownRun} not_found`].sort(),
    );
    const aborted = (await api.post(`/v1/operations/${operation.id}:abort`, {})).json<BulkOperation>();
    expect(aborted.state).toBe("done");
  });

  it("the done, failed and skipped runs of a bulk operation add up to all that it has seen", async () => {
    const runs = [await made(), await made(), await made()];
    await api.post(`/v1/runs/${runs[0]?.id}:cancel`, {});
    const asked = { action: "cancel", ids: [...runs.map(({ id }) => id), "run_01k9zq3v5e0r8t2b7n4m6x1c9d"] };
    const operation = await ended((await api.post("/v1/runs:bulk", asked)).json());
    expect(operation).toMatchObject({ total: 4, seen: 4, done: 2, failed: 1, skipped: 1 });
  });

  it.each([
    [{ action: "cancel" }],
    [{ action: "cancel", filter: {}, ids: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }],
    [{ filter: {} }],
    [{ action: "explode", filter: {} }],
    [{ action: "cancel", filter: { label_selector: "=" } }],
    [{ action: "cancel", ids: ["job_x"] }],
  ])("refuses the bulk operation %j and changes nothing", async (body) => {
    const state = await api.state();
    expect(refusalOf(await api.post("/v1/runs:bulk", body)).status).toBe(400);
    expect(await api.state()).toEqual(state);
  });
});
