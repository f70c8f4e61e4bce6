import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

const checkPayload = (task: string, payload: unknown) =>
  task === "http" && (payload as { url?: string } | null)?.url === undefined
    ? [{ pointer: "/url", message: "is required" }]
    : [];

describe("payload checks of known tasks", () => {
  const right = { task: "http", payload: { url: "https://example.com" }, schedule: { cron: "0 9 * * *" } };
  const wrong = { ...right, payload: {} };
  const faults = ["/payload/url payload_invalid"];

  it("refuses an invalid payload in new, replaced or changed jobs and in new runs, with a pointer", async () => {
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

  it("does not check a payload if runs may override it, or if the task is unknown", async () => {
    const api = apiUnderTest({ checkPayload });
    expect((await api.post("/v1/jobs", { ...wrong, schedule: { manual: true } })).statusCode).toBe(201);
    expect((await api.post("/v1/jobs", { ...wrong, task: "own" })).statusCode).toBe(201);
  });
});
