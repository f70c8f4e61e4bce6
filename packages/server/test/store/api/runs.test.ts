import type {
  Cluster,
  ClusterShards,
  Job,
  JobList,
  Run,
  RunBatchCreated,
  RunCreated,
  TaskInfoList,
} from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;

beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

describe("creating runs over HTTP", () => {
  it("a new run is durable when the response is sent", async () => {
    const response = await api.post("/v1/runs", {
      task: "unserved",
      payload: { a: 1 },
      delay: "1h",
      labels: { x: "y" },
    });
    const run = response.json<RunCreated>();
    expect([response.statusCode, run.is_new]).toEqual([201, true]);
    const { is_new: _, warnings: _warnings, ...shown } = run;
    const read = (await api.get(`/v1/runs/${run.id}`)).json<Run>();
    // The reason why it waits is read by GET, not at its creation.
    expect(read).toEqual({ ...shown, waiting_on: { code: "due_later", detail: expect.stringMatching(/^due in /) } });
  });

  it("a dedupe key returns the existing run, replaces it, or is refused", async () => {
    const post = (on?: string) => api.post("/v1/runs", { task: "unserved", dedupe: { key: "k", ...(on && { on }) } });
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

  it("finds jobs and runs by values of their payload at declared paths", async () => {
    const idsBy = async (query: string) =>
      (await api.get(query)).json<{ runs?: Run[]; jobs?: Job[] }>().runs?.map((run) => run.id);
    const customer = (id: unknown) => ({ task: "unserved", payload: { customer: { id } }, labels: { team: "a" } });
    expect(refusalOf(await api.get("/v1/runs?payload.customer.id=42"))).toEqual({
      status: 400,
      code: "path_not_searchable",
      faults: ["?payload.customer.id path_not_searchable"],
    });
    const made = async (body: object) =>
      (await api.post("/v1/runs", { ...body, searchable: ["customer.id"] })).json<RunCreated>();
    const [one, two] = [await made(customer(42)), await made(customer("42"))];
    await made(customer(43));
    await api.post("/v1/runs", customer(42));
    expect(await idsBy("/v1/runs?payload.customer.id=42")).toEqual([two.id, one.id]);
    expect(await idsBy("/v1/runs?payload.customer.id=42&task=other")).toEqual([]);
    expect(one.labels).toEqual({ team: "a" });

    const job = { ...customer("j1"), key: "found", schedule: { manual: true }, searchable: ["customer.id"] };
    expect((await api.send("PUT", "/v1/jobs/@found", job)).json<Job>()).toMatchObject({
      searchable: ["customer.id"],
      labels: { team: "a" },
    });
    const jobsBy = async (value: string) =>
      (await api.get(`/v1/jobs?payload.customer.id=${value}`)).json<JobList>().jobs.map(({ key }) => key);
    expect(await jobsBy("j1")).toEqual(["found"]);
    await api.send("PATCH", "/v1/jobs/@found", { payload: { customer: { id: "j2" } } });
    expect([await jobsBy("j1"), await jobsBy("j2")]).toEqual([[], ["found"]]);
    const own = (await api.post("/v1/jobs/@found:runNow", { payload: { customer: { id: "r" } } })).json<Run>();
    expect(await idsBy("/v1/runs?payload.customer.id=r")).toEqual([own.id]);
    await api.post(`/v1/runs/${own.id}:cancel`, {});
    expect(await idsBy("/v1/runs?payload.customer.id=r&status=cancelled&total=exact")).toEqual([own.id]);
  });

  it("lists the tasks of a namespace and the nodes of the cluster", async () => {
    await api.send("PUT", "/v1/jobs/@named", { task: "named", schedule: { manual: true } });
    const { tasks } = (await api.get("/v1/tasks")).json<TaskInfoList>();
    expect(tasks.find(({ name }) => name === "named")).toEqual({
      name: "named",
      workers: 0,
      slots: 0,
      queues: [],
      has_jobs: true,
      defaults: null,
      expected_ms: null,
    });
    expect((await api.get("/v1/tasks/named")).statusCode).toBe(200);
    expect((await api.get("/v1/tasks/unknown.task")).statusCode).toBe(404);
    expect((await api.other.get("/v1/tasks/named")).statusCode).toBe(404);
    expect((await api.get("/v1/cluster")).json<Cluster>()).toMatchObject({
      nodes: [{ name: "test", takes_shards: true }],
      shards: { total: 1_024 },
    });
    expect((await api.get("/v1/cluster/shards")).json<ClusterShards>().shards).toHaveLength(1_024);
  });

  it("creates a thousand runs in one call", async () => {
    const runs = Array.from({ length: 1_000 }, (_, n) => ({
      task: "unserved",
      payload: n,
      dedupe: { key: `${n % 900}` },
    }));
    const { results, warnings, ...counts } = (await api.post("/v1/runs:batchCreate", { runs })).json<RunBatchCreated>();
    expect(warnings).toHaveLength(1);
    expect(counts).toEqual({ created: 900, duplicates: 100, refused: 0 });
    expect(results[950]?.id).toBe(results[50]?.id);
  });
});
