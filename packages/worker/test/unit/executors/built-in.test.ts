import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtInTasks, NonRetryableError, RetryAfterError, type TaskContext } from "../../../src/index.js";

const timers = {
  setTimeout: (callback: () => void): unknown => {
    queueMicrotask(callback);
    return null;
  },
  clearTimeout: (): void => undefined,
};

const never = { setTimeout: (): unknown => null, clearTimeout: (): void => undefined };

function run(
  name: string,
  payload: unknown,
  over: Partial<TaskContext> = {},
  ticking: typeof timers | typeof never = timers,
): unknown {
  const task = builtInTasks(ticking).find((one) => one.name === name);
  if (task === undefined) throw new Error(`no task ${name}`);
  const { signal } = new AbortController();
  const what = { runId: "r1", jobId: null, task: name, queue: "default", attempt: 1, maxAttempts: 5 };
  const context = { ...what, idempotencyKey: "r1", fence: 2, scheduledFor: 0, signal, ...over };
  // They ask for nothing else.
  return task.run(payload, context as TaskContext);
}

describe("echo", () => {
  it("answers its payload", () => {
    expect(run("echo", { a: 1 })).toEqual({ a: 1 });
  });
});

describe("sleep", () => {
  it.each([
    [{ for: "2s" }, 2_000],
    [{ ms: 10 }, 10],
    [null, 1_000],
  ])("sleeps for what %j says", async (payload, ms) => {
    expect(await run("sleep", payload)).toEqual({ slept_ms: ms });
  });

  it.each([{ for: "soon" }, { for: true }, { ms: -1 }, "2s"])("refuses %j for good", async (payload) => {
    await expect(Promise.resolve().then(() => run("sleep", payload))).rejects.toBeInstanceOf(NonRetryableError);
  });

  it("ends when its signal fires", async () => {
    const controller = new AbortController();
    const sleeping = run("sleep", { for: "1h" }, { signal: controller.signal }, never);
    controller.abort(new Error("stop now"));
    await expect(sleeping).rejects.toThrow("stop now");
  });
});

describe("fail", () => {
  it("fails with its message, for good if told so", () => {
    expect(() => run("fail", { message: "no" })).toThrow("no");
    expect(() => run("fail", { retryable: false })).toThrow(NonRetryableError);
  });

  it("succeeds after the given number of failures", () => {
    expect(() => run("fail", { times: 2 }, { attempt: 2 })).toThrow("failed on purpose");
    expect(run("fail", { times: 2 }, { attempt: 3 })).toEqual({ failed_before: 2 });
  });
});

describe("http", () => {
  let server: Server;
  let base: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  beforeAll(async () => {
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const status = (code: number, headers: Record<string, string> = {}, body = ""): typeof answer => {
    return (_request, response) => response.writeHead(code, headers).end(body);
  };

  it("sends method, headers, body, the idempotency key and the fence, and answers status and JSON", async () => {
    let seen: { method: string | undefined; headers: IncomingMessage["headers"]; body: string } | null = null;
    answer = (request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        seen = { method: request.method, headers: request.headers, body };
        response.writeHead(201, { "content-type": "application/json" }).end('{"ok":true}');
      });
    };
    const payload = { url: `${base}/x`, method: "post", headers: { "x-a": "1" }, body: { n: 1 } };
    expect(await run("http", payload)).toEqual({ status: 201, body: { ok: true } });
    expect(seen).toMatchObject({ method: "POST", body: '{"n":1}' });
    expect(seen).toMatchObject({
      headers: { "x-a": "1", "idempotency-key": "r1", "carillon-fence": "2", "content-type": "application/json" },
    });
  });

  it("is tried again after a 503, and after the time a 429 asks for", async () => {
    answer = status(503);
    await expect(run("http", { url: base })).rejects.not.toBeInstanceOf(NonRetryableError);
    answer = status(429, { "retry-after": "7" });
    await expect(run("http", { url: base })).rejects.toMatchObject({ constructor: RetryAfterError, afterMs: 7_000 });
  });

  it("ends for good at a 404", async () => {
    answer = status(404, {}, "nothing here");
    await expect(run("http", { url: base })).rejects.toThrow(
      new NonRetryableError("the other side answered 404: nothing here"),
    );
  });

  it("reads no more than its cap of an endless answer", async () => {
    answer = (_request, response) => {
      const more = (): void => {
        if (!response.destroyed) response.write("x".repeat(16_384), () => setImmediate(more));
      };
      more();
    };
    const output = (await run("http", { url: base })) as { body: string };
    expect(output.body.length).toBe(65_536);
  });

  it.each([
    {},
    { url: "ftp://x" },
    { url: "not a url" },
    { url: "http://127.0.0.1", method: "FETCH" },
    { url: "http://127.0.0.1", headers: { a: 1 } },
  ])("refuses %j for good", async (payload) => {
    await expect(run("http", payload)).rejects.toBeInstanceOf(NonRetryableError);
  });
});
