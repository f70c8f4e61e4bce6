import type {
  Job,
  Namespace,
  NamespaceList,
  QueueList,
  Run,
  RunList,
  WorkerList,
  WorkerRegistered,
} from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { json, refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;
beforeAll(async () => {
  api = await realApi();
  await api.post("/v1/namespaces", { name: "billing", weight: 3 });
});
afterAll(() => api.close());

const inBilling = { "carillon-namespace": "billing" };
const postIn = (namespace: string, url: string, body: unknown) =>
  api.call({
    method: "POST",
    url,
    headers: { ...json, "carillon-namespace": namespace },
    payload: JSON.stringify(body),
  });

describe("namespaces over HTTP", () => {
  it("creates, lists, weights and shows namespaces", async () => {
    const made = await api.post("/v1/namespaces", { name: "mail" });
    expect([made.statusCode, made.headers.location]).toEqual([201, "/v1/namespaces/mail"]);
    expect(made.json<Namespace>()).toMatchObject({ name: "mail", weight: 1, version: 1 });
    const changed = await api.send("PATCH", "/v1/namespaces/mail", { weight: 5 }, { "if-match": '"v1"' });
    expect(changed.json<Namespace>()).toMatchObject({ weight: 5, version: 2 });
    expect((await api.get("/v1/namespaces/mail")).json<Namespace>()).toMatchObject({ weight: 5 });
    const { namespaces } = (await api.get("/v1/namespaces")).json<NamespaceList>();
    expect(namespaces.map(({ name }) => name)).toEqual(["billing", "default", "mail", "other"]);
  });

  it("refuses a namespace with a used or invalid name, or with an invalid weight", async () => {
    const refused = async (body: unknown) => refusalOf(await api.post("/v1/namespaces", body));
    expect(await refused({ name: "billing" })).toMatchObject({ status: 409, code: "namespace_taken" });
    expect(await refused({ name: "Big Letters" })).toMatchObject({ status: 400, faults: ["/name field_invalid"] });
    expect(await refused({})).toMatchObject({ status: 400, faults: ["/name field_missing"] });
    expect(await refused({ name: "x", weight: 0 })).toMatchObject({ status: 400, faults: ["/weight field_invalid"] });
    expect(await refused({ name: "x", weight: 1_001 })).toMatchObject({ status: 400 });
  });

  it("refuses to change a namespace that does not exist or has another version", async () => {
    const change = async (name: string, headers = {}) =>
      refusalOf(await api.send("PATCH", `/v1/namespaces/${name}`, { weight: 2 }, headers)).code;
    expect(await change("nowhere")).toBe("not_found");
    expect(await change("billing", { "if-match": '"v9"' })).toBe("precondition_failed");
    expect(refusalOf(await api.get("/v1/namespaces/No%20Name")).status).toBe(404);
  });
});

describe("the header Carillon-Namespace", () => {
  it("the header Carillon-Namespace selects the namespace of a call [INV-7]", async () => {
    const run = (await postIn("billing", "/v1/runs", { task: "echo", queue: "invoices" })).json<Run>();
    expect((await api.get(`/v1/runs/${run.id}`, inBilling)).json<Run>().id).toBe(run.id);
    expect(refusalOf(await api.get(`/v1/runs/${run.id}`)).status).toBe(404);
    expect((await api.get("/v1/runs", inBilling)).json<RunList>().runs.map(({ id }) => id)).toEqual([run.id]);
    expect((await api.get("/v1/runs")).json<RunList>().runs).toEqual([]);
    expect((await api.get("/v1/queues", inBilling)).json<QueueList>().queues.map(({ name }) => name)).toEqual([
      "invoices",
    ]);
    const schedule = { cron: "0 0 1 1 *" };
    const job = (await postIn("billing", "/v1/jobs", { key: "yearly", task: "echo", schedule })).json<Job>();
    expect((await api.get("/v1/jobs/@yearly", inBilling)).json<Job>().id).toBe(job.id);
    expect(refusalOf(await api.get("/v1/jobs/@yearly")).status).toBe(404);
    expect(refusalOf(await api.send("DELETE", `/v1/jobs/${job.id}`)).status).toBe(404);
  });

  it("every call with an unknown or invalid namespace gets 404", async () => {
    for (const name of ["nowhere", "No Name", "*"]) {
      const headers = { "carillon-namespace": name };
      for (const url of ["/v1/jobs", "/v1/runs", "/v1/queues", "/v1/calendars", "/v1/workers", "/v1/dead-letters"])
        expect([url, refusalOf(await api.get(url, headers)).status]).toEqual([url, 404]);
      expect(refusalOf(await postIn(name, "/v1/runs", { task: "echo" })).status).toBe(404);
      const worker = { name: "w", queues: ["*"], tasks: ["echo"], slots: 1 };
      expect(refusalOf(await postIn(name, "/v1/workers:register", worker)).status).toBe(404);
    }
  });

  it("a probe ignores the header Carillon-Namespace", async () => {
    expect((await api.get("/livez", { "carillon-namespace": "No Name" })).statusCode).toBe(200);
  });
});

describe("namespaces of workers", () => {
  const worker = { name: "w", queues: ["*"], tasks: ["echo"], slots: 1 };

  it("a worker may serve several existing namespaces, and belongs to the one of its registration [INV-7]", async () => {
    const made = await postIn("billing", "/v1/workers:register", { ...worker, namespaces: ["billing", "default"] });
    const { id } = made.json<WorkerRegistered>();
    expect((await api.get("/v1/workers", inBilling)).json<WorkerList>().workers.map((one) => one.id)).toEqual([id]);
    expect((await api.get("/v1/workers")).json<WorkerList>().workers).toEqual([]);
    await api.post(`/v1/workers/${id}:close`, {});
  });

  it("refuses a worker for an unknown namespace, or for all namespaces and one", async () => {
    const refused = async (namespaces: string[]) =>
      refusalOf(await api.post("/v1/workers:register", { ...worker, namespaces })).status;
    expect([await refused(["nowhere"]), await refused(["*", "billing"]), await refused([])]).toEqual([404, 400, 400]);
  });
});
