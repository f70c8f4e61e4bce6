import { type Operation, operations } from "@carillon/contract";
import { describe, expect, it } from "vitest";
import { routePath } from "../../../src/api/http/routes.js";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

const declared: Operation[] = Object.values(operations);

describe("the router", () => {
  it("serves exactly the declared operations and their aliases", () => {
    const { app } = apiUnderTest();
    const expected = declared.flatMap((operation) =>
      [operation, ...(operation.aliases ?? [])].map(({ path }) => ({ method: operation.method, url: routePath(path) })),
    );
    expect(expected.filter((route) => !app.hasRoute(route))).toEqual([]);
  });

  it.each(["/v1/jobs/", "/jobs/", "/livez/"])("serves %s like the address without the slash", async (url) => {
    expect((await apiUnderTest().get(url)).statusCode).toBe(200);
  });

  it("keeps colons out of parameters, because verbs start with one", () => {
    expect(routePath("/v1/jobs/{id}:pause")).toBe("/v1/jobs/:id(^[^:/]+$)::pause");
  });
});

describe("methods that an address does not have", () => {
  it.each([
    ["DELETE", "/v1/jobs", "POST, GET, HEAD, OPTIONS"],
    ["PUT", "/jobs", "POST, GET, HEAD, OPTIONS"],
    ["GET", "/task", "POST, OPTIONS"],
    ["HEAD", "/task", "POST, OPTIONS"],
    ["POST", "/v1/jobs/@a", "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"],
    ["GET", "/v1/jobs/@a:pause", "POST, OPTIONS"],
    ["DELETE", "/jobs/@a/runNow", "POST, OPTIONS"],
    ["PATCH", "/livez", "GET, HEAD, OPTIONS"],
    ["TRACE", "/v1/runs", "POST, GET, HEAD, OPTIONS"],
  ] as const)("%s %s gets 405 with the allowed methods", async (method, url, allow) => {
    const response = await apiUnderTest().call({
      // The types of inject do not have TRACE; its implementation does.
      method: method as Exclude<typeof method, "TRACE">,
      url,
      headers: { "content-type": "text/plain" },
      payload: "anything",
    });
    expect([response.statusCode, response.headers["allow"]]).toEqual([405, allow]);
    // A response to HEAD has no body.
    const said = method === "HEAD" ? { code: "method_not_allowed" } : refusalOf(response);
    expect(said).toMatchObject({ code: "method_not_allowed" });
  });

  it("OPTIONS returns the allowed methods", async () => {
    const response = await apiUnderTest().call({ method: "OPTIONS", url: "/v1/jobs" });
    expect([response.statusCode, response.headers["allow"], response.body]).toEqual([
      204,
      "POST, GET, HEAD, OPTIONS",
      "",
    ]);
    expect(response.headers).not.toHaveProperty("access-control-allow-origin");
  });

  it("answers HEAD at an address with GET, without a body", async () => {
    const response = await apiUnderTest().call({ method: "HEAD", url: "/v1/jobs" });
    expect([response.statusCode, response.body]).toEqual([200, ""]);
  });
});

describe("unknown addresses", () => {
  it.each([
    ["GET", "/v1/job", "GET /v1/jobs"],
    ["POST", "/v2/runs?wait=1s", "POST /v1/runs"],
    ["POST", "/v1/jobs/@a:run", "POST /v1/jobs/{id}:runNow"],
    ["POST", "/v1/jobs/@a:run_now", "POST /v1/jobs/{id}:runNow"],
    ["POST", "/v1/queues/mail/puase", "POST /v1/queues/{name}:pause"],
    ["GET", "/v1/jobs/@a/attempts", undefined],
    ["GET", "/v1/schedules", undefined],
  ] as const)("%s %s gets 404 with the most similar address: %s", async (method, url, meant) => {
    const response = await apiUnderTest().call({ method, url });
    const hint = meant === undefined ? "GET /docs lists the operations." : `did you mean ${meant}?`;
    expect(response.json()).toMatchObject({
      status: 404,
      code: "not_found",
      detail: expect.stringContaining(hint) as string,
    });
  });
});
