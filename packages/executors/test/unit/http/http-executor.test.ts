import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CallbackAnswer, formatId } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AddressRules, HttpTimeoutError, NonRetryableError, RetryAfterError } from "@carillon/worker";
import { httpExecutor } from "../../../src/index.js";
import { hostWith, run } from "../fixture.js";

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

describe("http", () => {
  let server: Server;
  let base: string;
  let received: Received[] = [];
  let answer: (response: ServerResponse, request: Received) => void;
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const one = { method: request.method, url: request.url, headers: request.headers, body };
        received.push(one);
        answer(response, one);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const http = httpExecutor(hostWith());
  const answering = (status: number, headers: Record<string, string> = {}, body = ""): void => {
    received = [];
    answer = (response) => response.writeHead(status, headers).end(body);
  };
  const json = { "content-type": "application/json" };

  it("sends method, headers and body with the ids of the run, and returns status and JSON", async () => {
    answering(201, json, '{"ok":true}');
    const payload = { url: `${base}/x`, method: "post", headers: { "X-A": "1" }, body: { n: 1 } };
    expect(await run(http, payload)).toEqual({ status: 201, body: { ok: true } });
    expect(received).toMatchObject([
      {
        method: "POST",
        url: "/x",
        body: '{"n":1}',
        headers: {
          "x-a": "1",
          "idempotency-key": "r1",
          "carillon-fence": "2",
          "carillon-run-id": "r1",
          "carillon-attempt": "1",
          "content-type": "application/json",
        },
      },
    ]);
  });

  describe("with upstream runs", () => {
    const before = {
      runId: "u1",
      jobId: "j0",
      jobKey: "etl",
      status: "succeeded",
      reason: null,
      finishedAt: 0,
    } as const;
    const upstream = async () => [{ ...before, output: { rows: 3, name: "a/b" }, isOutputCut: false, error: null }];

    it("renders the output and the status of upstream runs in templates", async () => {
      answering(200);
      const payload = {
        url: `${base}/files/{upstream.0.output.name}`,
        method: "POST",
        headers: { "x-before": "{upstream.0.job_key} {upstream.0.status}" },
        body_template: { rows: "{upstream.0.output.rows}", all: "{upstream.0.output}" },
      };
      expect(http.check(payload)).toEqual([]);
      await run(http, payload, { upstream });
      expect(received[0]).toMatchObject({ url: "/files/a%2Fb", headers: { "x-before": "etl succeeded" } });
      expect(JSON.parse(received[0]?.body ?? "")).toEqual({ rows: 3, all: { rows: 3, name: "a/b" } });
    });

    it("evaluates the success rule over upstream runs", async () => {
      answering(200, json, '{"stored":3}');
      const payload = { url: `${base}/x`, success: "body.stored == upstream[0].output.rows" };
      expect(await run(http, payload, { upstream })).toMatchObject({ status: 200 });
      answering(200, json, '{"stored":2}');
      await expect(run(http, payload, { upstream })).rejects.toThrow(/is false/);
    });

    it("reads upstream runs only if a template names them, and refuses a value that is missing", async () => {
      answering(200);
      let reads = 0;
      const none = async () => {
        reads++;
        return [];
      };
      await run(http, { url: `${base}/x` }, { upstream: none });
      expect(reads).toBe(0);
      const payload = { url: `${base}/{upstream.0.output.name}` };
      await expect(run(http, payload, { upstream: none })).rejects.toThrow(/upstream\.0 does not exist/);
    });
  });

  it("renders ids of runs and jobs as the API writes them", async () => {
    answering(200);
    const uuid = "019a7f71-ece5-7060-8d10-5b3a9c36e0ad";
    const [runId, jobId] = [formatId("run", uuid), formatId("job", uuid)];
    const end = { status: "succeeded", reason: null, finishedAt: 0, output: null, isOutputCut: false } as const;
    const upstream = async () => [{ ...end, runId, jobId, jobKey: null, error: null }];
    const headers = { "x-run": "{run.id} {run.job_id}", "x-before": "{upstream.0.run_id} {upstream.0.job_id}" };
    await run(http, { url: `${base}/x`, headers }, { runId, jobId, upstream });
    const shown = `${runId} ${jobId}`;
    expect(received[0]?.headers).toMatchObject({ "x-run": shown, "x-before": shown });
  });

  it("escapes values so that they stay within their part of the URL, the headers and the body", async () => {
    answering(200);
    const data = { id: 'a/b?c="d"', n: 3 };
    const payload = {
      url: `${base}/items/{payload.data.id}?n={payload.data.n}`,
      method: "PUT",
      headers: { "x-run": "{run.id}/{run.attempt}" },
      body_template: { id: "{payload.data.id}", n: "{payload.data.n}", note: "number {payload.data.n}" },
      data,
    };
    await run(http, payload);
    expect(received[0]).toMatchObject({ url: "/items/a%2Fb%3Fc%3D%22d%22?n=3", headers: { "x-run": "r1/1" } });
    expect(JSON.parse(received[0]?.body ?? "")).toEqual({ id: data.id, n: 3, note: "number 3" });
    const text = {
      ...payload,
      headers: { "content-type": "application/json" },
      body_template: '{{"id":"{payload.data.id}"}}',
    };
    await run(http, text);
    expect(JSON.parse(received[1]?.body ?? "")).toEqual({ id: data.id });
  });

  it("refuses a value that would leave the path of the URL", async () => {
    answering(200);
    const payload = { url: `${base}/items/{payload.data.id}/x`, data: { id: ".." } };
    await expect(run(http, payload)).rejects.toBeInstanceOf(NonRetryableError);
    expect(received).toEqual([]);
  });

  it.each([
    [{ type: "bearer", secret: "token" }, { authorization: "Bearer s3cret-value" }],
    [{ type: "basic", username: "me", secret: "token" }, { authorization: "Basic bWU6czNjcmV0LXZhbHVl" }],
    [{ type: "header", name: "X-Key", secret: "token" }, { "x-key": "s3cret-value" }],
  ])("authenticates by a secret: %j", async (auth, headers) => {
    answering(200);
    await run(http, { url: base, auth });
    expect(received).toMatchObject([{ headers }]);
  });

  it("fails for good if the worker has no such secret", async () => {
    answering(200);
    const sent = run(http, { url: base, auth: { secret: "other" } });
    await expect(sent).rejects.toThrow(new NonRetryableError('This worker has no secret "other".'));
    expect(received).toEqual([]);
  });

  it("is retried after a 503, and after the time that a 429 asks for in seconds or as a date", async () => {
    answering(503);
    await expect(run(http, { url: base })).rejects.not.toBeInstanceOf(NonRetryableError);
    answering(429, { "retry-after": "7" });
    await expect(run(http, { url: base })).rejects.toMatchObject({ constructor: RetryAfterError, afterMs: 7_000 });
    answering(429, { "retry-after": "Thu, 01 Jan 2026 00:01:30 GMT" });
    await expect(run(http, { url: base })).rejects.toMatchObject({ constructor: RetryAfterError, afterMs: 90_000 });
    answering(503, { "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" });
    await expect(run(http, { url: base })).rejects.toMatchObject({ constructor: RetryAfterError, afterMs: 0 });
    answering(503, { "retry-after": "soon" });
    await expect(run(http, { url: base })).rejects.not.toBeInstanceOf(RetryAfterError);
  });

  it("fails for good at a 404", async () => {
    answering(404, {}, "nothing here");
    const why = new NonRetryableError("The server answered 404: nothing here");
    await expect(run(http, { url: base })).rejects.toThrow(why);
  });

  it("succeeds if its success rule is true, and only then", async () => {
    answering(404, json, '{"state":"gone"}');
    const rule = { url: base, success: 'status == 404 && body.state == "gone"' };
    expect(await run(http, rule)).toEqual({ status: 404, body: { state: "gone" } });
    answering(200, json, '{"state":"busy"}');
    const refused = run(http, { url: base, success: 'body.state == "done"' });
    await expect(refused).rejects.toThrow('for which the success rule body.state == "done" is false');
    await expect(refused).rejects.not.toBeInstanceOf(NonRetryableError);
  });

  it("stops reading an endless answer at its limit and marks the output as truncated", async () => {
    answer = (response) => {
      const more = (): void => {
        if (!response.destroyed) response.write("x".repeat(16_384), () => setImmediate(more));
      };
      more();
    };
    const output = (await run(http, { url: base, max_response_bytes: 1_000 })) as { body: string };
    expect(output).toEqual({ status: 200, body: "x".repeat(1_000), truncated: true });
  });

  it("fails if the answer does not begin or does not end in time", async () => {
    answer = () => undefined;
    const silent = run(http, { url: base, timeouts: { first_byte: "50ms" } });
    await expect(silent).rejects.toThrow(new HttpTimeoutError("the first byte of the answer took more than 50 ms"));
    answer = (response) => void response.writeHead(200).write("x");
    const endless = run(http, { url: base, timeouts: { total: "100ms" } });
    await expect(endless).rejects.toThrow(new HttpTimeoutError("the whole request took more than 100 ms"));
  });

  it("ends the request when its signal fires", async () => {
    const controller = new AbortController();
    const closed = new Promise<void>((resolve) => {
      answer = (response) => {
        response.on("close", () => resolve());
        controller.abort(new Error("stop now"));
      };
    });
    await expect(run(http, { url: base }, { signal: controller.signal })).rejects.toThrow("stop now");
    await closed;
  });

  it("follows a redirect within the origin with the secret, and refuses any other", async () => {
    received = [];
    answer = (response, { url }) => {
      if (url === "/a") response.writeHead(307, { location: "/b" }).end();
      else if (url === "/away") response.writeHead(302, { location: "http://127.0.0.2/" }).end();
      else if (url === "/loop") response.writeHead(302, { location: "/loop" }).end();
      else response.writeHead(200).end("here");
    };
    const payload = { url: `${base}/a`, method: "POST", body: "x", auth: { secret: "token" } };
    expect(await run(http, payload)).toEqual({ status: 200, body: "here" });
    expect(received[1]).toMatchObject({
      method: "POST",
      url: "/b",
      body: "x",
      headers: { authorization: "Bearer s3cret-value" },
    });
    await expect(run(http, { url: `${base}/away` })).rejects.toThrow("redirects to http://127.0.0.2");
    await expect(run(http, { url: `${base}/loop` })).rejects.toThrow("more than 5 redirects");
  });

  it("connects to no private address, whether the URL has the address or a name", async () => {
    answering(200);
    const guarded = httpExecutor(hostWith({ outbound: new AddressRules() }));
    await expect(run(guarded, { url: base })).rejects.toThrow("127.0.0.1 is not a public address");
    const named = hostWith({
      outbound: new AddressRules(),
      resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    });
    const url = base.replace("127.0.0.1", "innocent.example");
    await expect(run(httpExecutor(named), { url })).rejects.toThrow("innocent.example is at 127.0.0.1");
    expect(received).toEqual([]);
  });

  it("connects to the address that was checked, even if the name resolves to another one now, and sends the name", async () => {
    answering(200);
    let reads = 0;
    const resolve = async () => (reads++ === 0 ? [{ address: "127.0.0.1", family: 4 }] : []);
    const rebound = httpExecutor(hostWith({ resolve }));
    await run(rebound, { url: base.replace("127.0.0.1", "rebinds.example") });
    expect(received).toMatchObject([{ headers: { host: base.replace("http://127.0.0.1", "rebinds.example") } }]);
  });

  describe("with a callback", () => {
    const called = httpExecutor(hostWith({ callbackBase: () => "https://carillon.example/" }));
    const waited = new Error("waits");
    const callback = (result: CallbackAnswer | null = null) => ({
      callback: async () => ({ token: "t0ken", answer: result, wait: (ms: number) => Object.assign(waited, { ms }) }),
    });

    it("sends the callback URL, and lets the run wait after a 202", async () => {
      answering(202);
      const payload = { url: base, method: "POST", callback: { timeout: "2h" } };
      await expect(run(called, payload, callback())).rejects.toBe(waited);
      expect(waited).toMatchObject({ ms: 7_200_000 });
      expect(received).toMatchObject([
        { headers: { "carillon-callback-url": "https://carillon.example/v1/callbacks/t0ken" } },
      ]);
    });

    it("returns at once the answer of a server that does not defer it", async () => {
      answering(200, {}, "done");
      expect(await run(called, { url: base, callback: true }, callback())).toEqual({ status: 200, body: "done" });
    });

    it("sends nothing if the callback arrived before this attempt", async () => {
      answering(202);
      const arrived = callback({ status: "succeeded", output: { rows: 3 } });
      expect(await run(called, { url: base, callback: true }, arrived)).toEqual({ rows: 3 });
      const error = { type: "Remote", message: "no", retryable: false };
      const failed = run(called, { url: base, callback: true }, callback({ status: "failed", error }));
      await expect(failed).rejects.toThrow(new NonRetryableError("no"));
      expect(received).toEqual([]);
    });

    it("fails for good without the address for callbacks", async () => {
      answering(202);
      await expect(run(http, { url: base, callback: true }, callback())).rejects.toThrow("CARILLON_PUBLIC_URL");
      expect(received).toEqual([]);
    });
  });

  it.each([
    [{}, "/url"],
    [{ url: "ftp://x" }, "/url"],
    [{ url: "not a url" }, "/url"],
    [{ url: "http://{payload.data.host}/", data: { host: "x" } }, "/url"],
    [{ url: "http://x/{payload.data.id}" }, "/url"],
    [{ url: "http://x", method: "FETCH" }, "/method"],
    [{ url: "http://x", body: "x" }, "/method"],
    [{ url: "http://x", headers: { a: 1 } }, "/headers"],
    [{ url: "http://x", headers: { Host: "y" } }, "/headers"],
    [{ url: "http://x", headers: { "Carillon-Fence": "9" } }, "/headers"],
    [{ url: "http://x", success: "status ==" }, "/success"],
    [{ url: "http://x", success: "1 + 1" }, "/success"],
    [{ url: "http://x", timeouts: { total: "soon" } }, "/timeouts/total"],
    [{ url: "http://x", max_response_bytes: -1 }, "/max_response_bytes"],
    [{ url: "http://x", auth: { secret: "no such/name" } }, "/auth/secret"],
    [{ url: "http://x", metod: "GET" }, "/metod"],
  ])("refuses the payload %j at %s, and fails its run for good", async (payload, pointer) => {
    expect(http.check(payload).map((fault) => fault.pointer)).toContain(pointer);
    await expect(run(http, payload)).rejects.toBeInstanceOf(NonRetryableError);
  });

  it("refuses a value that would end its header", async () => {
    answering(200);
    const payload = { url: base, headers: { "x-a": "{payload.data.v}" }, data: { v: "1\r\nx-b: 2" } };
    await expect(run(http, payload)).rejects.toBeInstanceOf(NonRetryableError);
  });
});
