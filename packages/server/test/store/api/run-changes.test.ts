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
  (await api.post("/v1/runs", { task: "nobody", ...body })).json<RunCreated>();
const typesOf = async (id: string): Promise<string[]> =>
  (await api.get(`/v1/runs/${id}/events`)).json<RunEvents>().events.map((event) => event.type);

describe("cancelling a run", () => {
  it.each([
    ["that waits for a worker", {}],
    ["that waits for its time", { delay: "5m" }],
    ["that waits far from its time", { delay: "30d" }],
  ])("%s ends it, and once more changes nothing", async (_, body) => {
    const { id } = await made(body);
    const first = (await api.post(`/v1/runs/${id}:cancel`, {})).json<Run>();
    expect(first).toMatchObject({ status: "cancelled", status_reason: "cancelled_by_user" });
    expect((await api.post(`/runs/${id}/cancel`, {})).json()).toEqual(first);
    expect(await typesOf(id)).toEqual(expect.arrayContaining(["created", "cancelled"]));
    expect((await api.get(`/v1/runs/${id}/attempts`)).json<RunAttempts>().attempts).toEqual([]);
  });

  it("of a recurring job leaves the job as it is", async () => {
    const job = (await api.post("/v1/jobs", { task: "nobody", schedule: { manual: true } })).json<Job>();
    const run = (await api.post(`/v1/jobs/${job.id}:runNow`, {})).json<Run>();
    expect((await api.post(`/v1/runs/${run.id}:cancel`, {})).json<Run>().status).toBe("cancelled");
    expect((await api.get(`/v1/jobs/${job.id}`)).json<Job>()).toMatchObject({ state: "active", version: job.version });
    expect((await api.post(`/v1/jobs/${job.id}:runNow`, {})).statusCode).toBe(201);
    expect((await api.get(`/v1/jobs/${job.id}/stats`)).json<JobStats>()).toMatchObject({ finished: 1, cancelled: 1 });
  });

  it("of another namespace is not found [INV-7]", async () => {
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

describe("giving a run another time", () => {
  it.each([
    ["later, from the queue", {}, "1h", "scheduled"],
    ["sooner, from far away", { delay: "30d" }, "0s", "queued"],
    ["from far away to another day far away", { delay: "30d" }, "20d", "scheduled"],
    ["now, from its time", { delay: "5m" }, "0s", "queued"],
  ])("%s", async (_, body, delay, status) => {
    const { id, run_at: before } = await made(body);
    const moved = (await api.post(`/v1/runs/${id}:reschedule`, { delay })).json<Run>();
    expect(moved).toMatchObject({ id, status });
    expect(moved.run_at).not.toBe(before);
    expect(moved.trigger.scheduled_for).toBe(moved.run_at);
  });

  it("is refused once it has ended, and without a time", async () => {
    const { id } = await made();
    await api.post(`/v1/runs/${id}:cancel`, {});
    expect(refusalOf(await api.post(`/v1/runs/${id}:reschedule`, { delay: "1h" }))).toMatchObject({
      status: 409,
      code: "run_not_waiting",
    });
    expect(refusalOf(await api.post(`/v1/runs/${id}:reschedule`, {}))).toMatchObject({ code: "field_invalid" });
  });
});

describe("the same to many runs", () => {
  const ended = async (operation: BulkOperation): Promise<BulkOperation> => {
    const get = async () => (await api.get(`/v1/operations/${operation.id}`)).json<BulkOperation>();
    await expect.poll(async () => (await get()).state).toBe("done");
    return get();
  };

  it("is counted first, goes on by itself, and does no more than the filter says", async () => {
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

  it("names what it could not do", async () => {
    const { id } = await made();
    const nobody = "run_01k9zq3v5e0r8t2b7n4m6x1c9d";
    const operation = (await api.post("/v1/runs:bulk", { action: "discard", ids: [id, nobody] })).json<BulkOperation>();
    const { failures, ...rest } = await ended(operation);
    expect(rest).toMatchObject({ total: 2, seen: 2, done: 0, failed: 2 });
    expect(failures.map((one) => `${one.id} ${one.code}`).sort()).toEqual(
      [`${id} run_not_failed`, `${nobody} not_found`].sort(),
    );
    const aborted = (await api.post(`/v1/operations/${operation.id}:abort`, {})).json<BulkOperation>();
    expect(aborted.state).toBe("done");
  });

  it("says of how many nothing was left to do: what was done, failed and was skipped is all that was seen", async () => {
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
  ])("refuses %j and does nothing", async (body) => {
    const state = await api.state();
    expect(refusalOf(await api.post("/v1/runs:bulk", body)).status).toBe(400);
    expect(await api.state()).toEqual(state);
  });
});
