import { type Job, type Operation, operations, type RunCreated, type Webhook } from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusalOf } from "../../unit/api/api-under-test.js";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;
beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

/** Makes a resource of each route that takes a patch, and returns its address. */
const resources: Readonly<Record<string, () => Promise<string>>> = {
  async "/v1/jobs/{id}"() {
    const { id } = (await api.post("/v1/jobs", { task: "unserved", schedule: { manual: true } })).json<Job>();
    return `/v1/jobs/${id}`;
  },
  async "/v1/queues/{name}"() {
    await api.send("PATCH", "/v1/queues/patched", { order: "fifo", concurrency: { limit: 3 } });
    return "/v1/queues/patched";
  },
  async "/v1/namespaces/{name}"() {
    await api.post("/v1/namespaces", { name: "patched", weight: 3 });
    await api.send("PATCH", "/v1/namespaces/patched", { concurrency: { limit: 3 } });
    return "/v1/namespaces/patched";
  },
  async "/v1/webhooks/{id}"() {
    const body = { url: "https://example.com/", on: ["failed"], tasks: ["a"] };
    return `/v1/webhooks/${(await api.post("/v1/webhooks", body)).json<Webhook>().id}`;
  },
  async "/v1/limits/{id}"() {
    (await api.post("/v1/runs", { task: "unserved", concurrency: { key: "patched", limit: 1 } })).json<RunCreated>();
    for (;;) {
      const { limits } = (await api.get("/v1/limits?key=patched")).json<{ limits: { id: string; used: number }[] }>();
      if (limits[0]?.used === 1) return `/v1/limits/${limits[0].id}`;
    }
  },
};

/** A change to the value that the resource has already. */
const sameValues: Readonly<Record<string, object>> = {
  "/v1/jobs/{id}": { priority: 4, labels: {} },
  "/v1/queues/{name}": { order: "fifo", concurrency: { limit: 3 } },
  "/v1/namespaces/{name}": { weight: 3, concurrency: { limit: 3 } },
  "/v1/webhooks/{id}": { on: ["failed"], tasks: ["a"], enabled: true },
};

const patches: readonly Operation[] = Object.values(operations).filter(({ method }) => method === "PATCH");

it("every route that takes a patch is tested here", () => {
  expect(patches.map(({ path }) => path).toSorted()).toEqual(Object.keys(resources).toSorted());
});

describe.each(patches.map((operation) => [operation.path, operation] as const))("PATCH %s", (path, operation) => {
  let at: string;
  beforeAll(async () => {
    at = (await resources[path]?.()) ?? "";
  });
  const shown = async () => (await api.get(at)).json<object>();

  it.each([
    ["without a body", {}],
    ["with an empty body of JSON", { headers: { "content-type": "application/json" }, payload: "" }],
  ])("refuses a call %s, and changes nothing", async (_how, request) => {
    const before = await shown();
    const refused = await api.call({ method: "PATCH", url: at, ...request });
    expect(refusalOf(refused)).toMatchObject({ status: 400 });
    expect(await shown()).toEqual(before);
  });

  it("names the fields that can be changed to a caller without a body", async () => {
    const { detail } = (await api.call({ method: "PATCH", url: at })).json<{ detail: string }>();
    expect(detail).toContain(Object.keys(operation.body?.properties ?? {}).join(", "));
  });

  it("answers an empty object with the resource as it is, without a new version", async () => {
    const before = await shown();
    const answer = await api.send("PATCH", at, {});
    expect([answer.statusCode, answer.json()]).toEqual([200, before]);
    expect(await shown()).toEqual(before);
  });

  it.runIf(path in sameValues)("answers present values with the resource as it is, without a new version", async () => {
    const before = await shown();
    expect((await api.send("PATCH", at, sameValues[path])).json()).toEqual(before);
    expect(await shown()).toEqual(before);
  });

  it.runIf(operation.conditional)("requires the version of If-Match also for an empty object", async () => {
    const refused = await api.send("PATCH", at, {}, { "if-match": '"v99"' });
    expect(refusalOf(refused)).toMatchObject({ status: 412, code: "precondition_failed" });
  });

  it("answers an empty object for a resource that does not exist with 404", async () => {
    const missing = path.endsWith("{name}") ? path.replace("{name}", "missing") : at.replace(/.{5}$/, "00009");
    expect(refusalOf(await api.send("PATCH", missing, {}))).toMatchObject({ status: 404, code: "not_found" });
    expect((await api.get(missing)).statusCode).toBe(404);
  });
});
