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

  it.each(["/v1/jobs/", "/jobs/", "/livez/"])("takes %s as the address without the slash", async (url) => {
    expect((await apiUnderTest().get(url)).statusCode).toBe(200);
  });

  it("keeps colons out of parameters, where verbs will begin", () => {
    expect(routePath("/v1/jobs/{id}:pause")).toBe("/v1/jobs/:id(^[^:/]+$)::pause");
  });
});

describe("a method that an address does not take", () => {
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
  ] as const)("%s %s is 405 with what is allowed", async (method, url, allow) => {
    const response = await apiUnderTest().call({
      // The types of the injected call do not know TRACE; the call does.
      method: method as Exclude<typeof method, "TRACE">,
      url,
      headers: { "content-type": "text/plain" },
      payload: "anything",
    });
    expect([response.statusCode, response.headers["allow"]]).toEqual([405, allow]);
    // Nothing follows the headers of an answer to HEAD.
    const said = method === "HEAD" ? { code: "method_not_allowed" } : refusalOf(response);
    expect(said).toMatchObject({ code: "method_not_allowed" });
  });

  it("can be asked for", async () => {
    const response = await apiUnderTest().call({ method: "OPTIONS", url: "/v1/jobs" });
    expect([response.statusCode, response.headers["allow"], response.body]).toEqual([
      204,
      "POST, GET, HEAD, OPTIONS",
      "",
    ]);
    expect(response.headers).not.toHaveProperty("access-control-allow-origin");
  });

  it("does not include HEAD where there is GET", async () => {
    const response = await apiUnderTest().call({ method: "HEAD", url: "/v1/jobs" });
    expect([response.statusCode, response.body]).toEqual([200, ""]);
  });
});

describe("an address that there is not", () => {
  it.each([
    ["GET", "/v1/job", "GET /v1/jobs"],
    ["POST", "/v2/runs?wait=1s", "POST /v1/runs"],
    ["POST", "/v1/jobs/@a:run", "POST /v1/jobs/{id}:runNow"],
    ["POST", "/v1/jobs/@a:run_now", "POST /v1/jobs/{id}:runNow"],
    ["POST", "/v1/queues/mail/puase", "POST /v1/queues/{name}:pause"],
    ["GET", "/v1/jobs/@a/attempts", undefined],
    ["GET", "/v1/schedules", undefined],
  ] as const)("%s %s is 404, with the one that is nearest: %s", async (method, url, meant) => {
    const response = await apiUnderTest().call({ method, url });
    const hint = meant === undefined ? "GET /docs lists the operations." : `did you mean ${meant}?`;
    expect(response.json()).toMatchObject({
      status: 404,
      code: "not_found",
      detail: expect.stringContaining(hint) as string,
    });
  });
});
