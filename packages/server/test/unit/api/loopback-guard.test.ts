import { describe, expect, it } from "vitest";
import { assertLoopbackCaller } from "../../../src/api/http/admission.js";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

const attempt = (headers: Record<string, string>) => () => assertLoopbackCaller({ headers, localPort: 8023 });

describe("the loopback check", () => {
  it.each(["localhost:8023", "LOCALHOST:8023", "127.0.0.1:8023", "127.9.8.7:8023", "[::1]:8023"])(
    "accepts the host %s",
    (host) => {
      expect(attempt({ host })).not.toThrow();
    },
  );

  it.each([
    "",
    "evil.example:8023",
    "localhost.evil.example:8023",
    "evil.example",
    "localhost",
    "localhost:9999",
    "127.0.0.1.evil.example:8023",
    "0.0.0.0:8023",
    "10.0.0.1:8023",
    "[::ffff:10.0.0.1]:8023",
    "localhost:8023@evil.example",
    "user@localhost:8023",
    "localhost:8023, evil.example",
  ])("refuses the host %j: a page can make its own name resolve to this server", (host) => {
    expect(attempt({ host })).toThrow(expect.objectContaining({ code: "host_refused" }));
  });

  it("accepts requests of the server's own pages", () => {
    expect(
      attempt({ host: "localhost:8023", origin: "http://localhost:8023", "sec-fetch-site": "same-origin" }),
    ).not.toThrow();
  });

  it.each(["https://evil.example", "null", "http://localhost:3000", "https://localhost:8023", "http://127.0.0.1:8023"])(
    "refuses requests of the page %s",
    (origin) => {
      expect(attempt({ host: "localhost:8023", origin })).toThrow(expect.objectContaining({ code: "origin_refused" }));
    },
  );

  it.each(["cross-site", "same-site"])("refuses loads of a %s page without an Origin, and accepts a link", (site) => {
    const headers = { host: "localhost:8023", "sec-fetch-site": site };
    expect(attempt({ ...headers, "sec-fetch-mode": "no-cors" })).toThrow(
      expect.objectContaining({ code: "origin_refused" }),
    );
    expect(attempt({ ...headers, "sec-fetch-mode": "navigate" })).not.toThrow();
  });
});

describe("the loopback check in the API", () => {
  it("checks every address if the option is set", async () => {
    const api = apiUnderTest({ dev: { loopbackOnly: true } });
    for (const url of ["/v1/jobs", "/livez", "/metrics", "/docs", "/nowhere"]) {
      expect(refusalOf(await api.get(url, { host: "evil.example" }))).toMatchObject({
        status: 403,
        code: "host_refused",
      });
    }
    const response = await api.call({
      method: "POST",
      url: "/v1/jobs",
      headers: { host: "localhost", origin: "http://evil.example" },
      payload: "x",
    });
    expect(refusalOf(response)).toMatchObject({ status: 403, code: "origin_refused" });
    expect(api.engine.jobs.stored).toEqual([]);
  });

  it("checks no address without the option", async () => {
    expect((await apiUnderTest().get("/v1/jobs", { host: "carillon.example" })).statusCode).toBe(200);
  });
});
