import type { BatchResult, Job } from "@carillon/contract";
import { AddressRules, closedAddress } from "@carillon/worker";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

const apiThatAllows = (...allow: string[]) => {
  const rules = new AddressRules(allow);
  return apiUnderTest({ refuseTarget: (url) => closedAddress(url, rules) });
};
const closed = "http://127.0.0.1:9000/callback";
const callbacks = [{ url: "https://example.com/callback" }, { task: "callback" }, { url: closed }];
const refusedAt = (pointer: string) => ({
  status: 422,
  code: "address_refused",
  faults: [`${pointer} address_refused`],
});

describe("callbacks to private addresses", () => {
  it.each([
    ["/v1/jobs", { task: "echo", callbacks }, "/callbacks/2/url"],
    ["/v1/jobs", { job_type: "echo", callback_url: "http://169.254.169.254/latest" }, "/callback_url"],
    ["/v1/jobs", { task: "echo", callbacks: [{ url: "http://[::ffff:10.0.0.1]/" }] }, "/callbacks/0/url"],
    ["/v1/jobs:preview", { task: "echo", callbacks }, "/callbacks/2/url"],
    ["/v1/runs", { task: "echo", callbacks }, "/callbacks/2/url"],
    [
      "/v1/workers:register",
      { name: "w", queues: ["q"], tasks: ["a/b"], slots: 1, defaults: { "a/b": { callbacks } } },
      "/defaults/a~1b/callbacks/2/url",
    ],
  ])("refuses a callback to a private address in POST %s with %j", async (path, body, pointer) => {
    expect(refusalOf(await apiThatAllows().post(path, body))).toEqual(refusedAt(pointer));
  });

  it.each([
    ["/v1/jobs:batchCreate", "jobs"],
    ["/v1/runs:batchCreate", "runs"],
  ])(
    "refuses the items with a callback to a private address in a batch by %s, and creates the others",
    async (path, name) => {
      const body = { [name]: [{ task: "echo" }, { task: "echo", callbacks }, { task: "echo" }] };
      const { results } = (await apiThatAllows().post(path, body)).json<{ results: BatchResult[] }>();
      expect(results.map(({ problem }) => problem?.code ?? "made")).toEqual(["made", "address_refused", "made"]);
    },
  );

  it("refuses a change to a private callback address, and leaves the job as it was", async () => {
    const api = apiThatAllows();
    const made = (await api.send("PUT", "/v1/jobs/@a", { task: "echo" })).json<Job>();
    const refused = refusedAt("/callbacks/2/url");
    expect(refusalOf(await api.send("PATCH", `/v1/jobs/${made.id}`, { callbacks }))).toEqual(refused);
    expect(refusalOf(await api.send("PUT", "/v1/jobs/@a", { task: "echo", callbacks }))).toEqual(refused);
    expect((await api.get(`/v1/jobs/${made.id}`)).json<Job>()).toMatchObject({ callbacks: [], version: made.version });
  });

  it("accepts a private callback address on the allowlist", async () => {
    const api = apiThatAllows("loopback");
    expect((await api.post("/v1/jobs", { task: "echo", callback_url: closed })).statusCode).toBe(201);
    expect((await api.post("/v1/runs", { task: "echo", callbacks })).statusCode).toBe(201);
  });

  it("a callback address with a host name is checked when it is called", async () => {
    const body = { task: "echo", callbacks: [{ url: "http://intranet/callback" }] };
    expect((await apiThatAllows().post("/v1/runs", body)).statusCode).toBe(201);
  });
});
