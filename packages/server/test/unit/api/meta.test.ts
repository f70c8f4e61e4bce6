import { describe, expect, it } from "vitest";
import { docsScript } from "../../../src/api/http/docs/script.js";
import { docsStyle } from "../../../src/api/http/docs/style.js";
import { apiUnderTest } from "./api-under-test.js";

describe("probes", () => {
  it("/livez answers without checking anything", async () => {
    const api = apiUnderTest({ health: { ready: () => Promise.reject(new Error("must not be asked")) } });
    const response = await api.get("/livez?verbose");
    expect([response.statusCode, response.json()]).toEqual([200, { status: "ok" }]);
  });

  it("/readyz names the failed checks", async () => {
    const api = apiUnderTest();
    expect((await api.get("/readyz")).statusCode).toBe(200);
    api.setChecks([
      { name: "database", ok: false, detail: "connection refused" },
      { name: "scheduler", ok: true, detail: "running" },
    ]);
    const response = await api.get("/readyz");
    expect(response.statusCode).toBe(503);
    expect(response.json()).toEqual({
      status: "not_ready",
      checks: [
        { name: "database", ok: false, detail: "connection refused" },
        { name: "scheduler", ok: true, detail: "running" },
      ],
    });
  });
});

describe("node information", () => {
  it('a preview does not warn of day fields if one is free, or day_match is "and"', async () => {
    expect((await apiUnderTest().get("/version")).json()).toEqual({
      name: "carillon",
      version: "0.0.0-test",
      api: "v1",
      node: process.version,
      instance: "test",
      folder: null,
    });
  });

  it("/openapi.json is OpenAPI 3.1", async () => {
    expect((await apiUnderTest().get("/openapi.json")).json()).toMatchObject({
      openapi: "3.1.0",
      info: { version: "0.0.0-test" },
    });
  });

  it("/docs needs no other host, and no script or style inside the page", async () => {
    const api = apiUnderTest();
    const { body, headers } = await api.get("/docs");
    expect(headers["content-security-policy"]).toMatch(/default-src 'none'; style-src 'self';.*; script-src 'self'$/);
    expect(body).not.toMatch(
      /<script(?! src="\/docs\/script.js" defer><\/script>)|<style|style=| on\w+=|<(?:img|iframe|object)/,
    );
    expect(body).not.toMatch(/(?:href|src)="(?![#/][^/])/);
    const typeOf = async (url: string) => (await api.get(url)).headers["content-type"];
    const [, style = ""] = /<link rel="stylesheet" href="([^"]+)"/.exec(body) ?? [];
    expect(await typeOf(style)).toBe("text/css; charset=utf-8");
    expect(await typeOf("/docs/script.js")).toBe("text/javascript; charset=utf-8");
    for (const text of [docsStyle, docsScript]) expect(text).not.toMatch(/https?:|@import|url\(|eval|innerHTML/);
  });

  it("/docs shows the address under which its reader reaches the server in every command", async () => {
    const { body } = await apiUnderTest().get("/docs", { host: "jobs.example:8031" });
    const commands = [...body.matchAll(/<b>curl<\/b> -sSN? (?:-X \w+ )?(http:\/\/[^/]+)\//g)].map(
      ([, origin]) => origin,
    );
    expect(commands.length).toBeGreaterThan(90);
    expect(new Set(commands)).toEqual(new Set(["http://jobs.example:8031"]));
    const { body: strange } = await apiUnderTest().get("/docs", { host: 'x"><script>1</script>' });
    expect(strange).not.toContain("<script>1");
  });

  it("/docs shows for each call its fields, its aliases, its further rules and an example answer", async () => {
    const { body } = await apiUnderTest().get("/docs");
    const [, section = ""] = /<section class="call" id="createJob">(.*?)<\/section>/s.exec(body) ?? [];
    expect(section).toMatch(/Also at <code>\/jobs<\/code> <code>\/task<\/code>/);
    expect(section).toMatch(/<code>priority<\/code> <span class="type">integer<\/span>.*?9 is most urgent.*?0 to 9/s);
    expect(section).toContain("jitter is shorter than the shortest time between two fires");
    expect(section).toMatch(/<span class="status">201<\/span> Example answer/);
    const [, item = ""] = /<li data-words="([^"]+)"><a href="#createJob">/.exec(body) ?? [];
    expect(item).toMatch(/\/task .*misfire/);
  });

  it("/ redirects to /docs, which groups the calls by tag", async () => {
    const api = apiUnderTest();
    expect(await api.get("/")).toMatchObject({ statusCode: 302, headers: { location: "/docs" } });
    expect((await api.get("/docs")).body).toMatch(/<summary>Jobs <small>.*<summary>Runs <small>/s);
  });

  it("/docs links only to its own sections and to other addresses of the node", async () => {
    const api = apiUnderTest();
    const { body } = await api.get("/docs");
    const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toHaveLength(new Set(ids).size);
    const targets = new Set([...body.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id));
    expect([...targets].filter((id) => !ids.includes(id))).toEqual([]);
  });

  it("/docs shows bodies that the calls accept", async () => {
    const api = apiUnderTest();
    const { body } = await api.get("/docs");
    const text = body.replaceAll(/<\/?[bi]\b[^>]*>/g, "");
    const lines = text.matchAll(
      /curl -sS -X (\w+) http:\/\/[^/]+(\S+) \\\n {2}-H 'content-type: ([^']+)' \\\n {2}-d '([^']+)'</g,
    );
    let shown = 0;
    for (const [, method = "", url = "", type = "", json = ""] of lines) {
      const request = { method: method as "POST", url };
      const payload = json.replaceAll("&quot;", '"');
      const headers = { "content-type": type };
      const { statusCode, body: answer } = await api.call({ ...request, headers, payload });
      expect([400, 415], `${method} ${url} ${payload}: ${answer}`).not.toContain(statusCode);
      shown += 1;
    }
    expect(shown).toBeGreaterThan(20);
  });

  it("/metrics has the format of its content type", async () => {
    const response = await apiUnderTest().get("/metrics");
    expect(response.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  });

  it("counts calls by route, never by address", async () => {
    const api = apiUnderTest();
    await api.get("/v1/jobs/@some");
    await api.get("/jobs/@other");
    await api.get("/nowhere");
    expect(api.observed.map(({ method, route, status }) => `${method} ${route} ${status}`)).toEqual([
      "GET /v1/jobs/{id} 404",
      "GET /v1/jobs/{id} 404",
      "GET other 404",
    ]);
  });
});
