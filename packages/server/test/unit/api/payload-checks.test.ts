import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

const checkPayload = (task: string, payload: unknown) =>
  task === "http" && (payload as { url?: string } | null)?.url === undefined
    ? [{ pointer: "/url", message: "is required" }]
    : [];

describe("a payload whose task the server knows", () => {
  const right = { task: "http", payload: { url: "https://example.com" }, schedule: { cron: "0 9 * * *" } };
  const wrong = { ...right, payload: {} };
  const faults = ["/payload/url payload_invalid"];

  it("is refused when a job is created, put or changed, or a run asked for, with a pointer to what is wrong", async () => {
    const api = apiUnderTest({ checkPayload });
    expect(refusalOf(await api.post("/v1/jobs", wrong))).toMatchObject({ status: 422, faults });
    expect(refusalOf(await api.send("PUT", "/v1/jobs/@web", wrong))).toMatchObject({ status: 422, faults });
    expect(refusalOf(await api.post("/v1/runs", { task: "http" }))).toMatchObject({ status: 422, faults });
    const { id } = (await api.post("/v1/jobs", right)).json<{ id: string }>();
    expect(refusalOf(await api.send("PATCH", `/v1/jobs/${id}`, { payload: {} }))).toMatchObject({
      status: 422,
      faults,
    });
    expect((await api.send("PATCH", `/v1/jobs/${id}`, { priority: 7 })).statusCode).toBe(200);
  });

  it("is left alone where a run may bring another, and where nobody knows the task", async () => {
    const api = apiUnderTest({ checkPayload });
    expect((await api.post("/v1/jobs", { ...wrong, schedule: { manual: true } })).statusCode).toBe(201);
    expect((await api.post("/v1/jobs", { ...wrong, task: "own" })).statusCode).toBe(201);
  });
});
