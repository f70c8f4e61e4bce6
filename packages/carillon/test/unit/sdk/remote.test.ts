import { describe, expect, it } from "vitest";
import { carillon, task } from "../../../src/index.js";

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly token: string | null;
  readonly body: unknown;
}

/** A server that answers every call with the same body. */
function server(answer: unknown, status = 200) {
  const sent: Sent[] = [];
  const fake: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    sent.push({
      method: request.method,
      path: decodeURIComponent(new URL(request.url).pathname),
      token: request.headers.get("authorization"),
      body: await request.json(),
    });
    return Response.json(answer, { status });
  };
  return { sent, app: carillon({ url: "http://carillon.test", token: "t", fetch: fake }) };
}

const mail = task({
  name: "mail",
  queue: "mail",
  retry: { maxAttempts: 3, initial: "10s", nonRetryable: ["Gone"] },
  timeout: "2m",
  run: () => null,
});

describe("an app over a server", () => {
  it("an app over a server sends a run in the form of the API", async () => {
    const { app, sent } = server({ id: "run_1", is_new: false });
    const runAt = new Date(0);
    const answer = await app.enqueue(mail, { to: "x" }, { priority: 9, runAt, dedupe: { key: "k", window: "1h" } });
    expect(answer).toEqual({ id: "run_1", isNew: false });
    expect(sent).toEqual([
      {
        method: "POST",
        path: "/v1/runs",
        token: "Bearer t",
        body: {
          task: "mail",
          payload: { to: "x" },
          queue: "mail",
          priority: 9,
          timeout: "2m",
          retry: { max_attempts: 3, initial: "10s", non_retryable: ["Gone"] },
          run_at: "1970-01-01T00:00:00.000Z",
          dedupe: { key: "k", window: "1h" },
        },
      },
    ]);
  });

  it("an app over a server sends the breaker of a task, and the override of a run", async () => {
    const { app, sent } = server({ id: "run_1", is_new: true });
    const breaker = { name: "payments", failureRatio: 0.2, window: "30s", minCalls: 5, openFor: "10s" };
    const pay = task({ name: "pay", breaker, run: () => null });
    await app.enqueue(pay, null);
    await app.enqueue(pay, null, { breaker: {} });
    const wire = { name: "payments", failure_ratio: 0.2, window: "30s", min_calls: 5, open_for: "10s" };
    expect(sent.map(({ body }) => body)).toMatchObject([{ breaker: wire }, { breaker: {} }]);
  });

  it("an app over a server stores a job under its key", async () => {
    const { app, sent } = server({ id: "job_1", next_run_at: "2026-11-16T08:00:00.000Z" }, 201);
    const options = { cron: "0 9 * * MON", timeZone: "Europe/Paris", overlap: "skip" } as const;
    expect(await app.schedule("report", "weekly", options)).toEqual({
      id: "job_1",
      isNew: true,
      nextRunAt: new Date("2026-11-16T08:00:00Z"),
    });
    expect(sent).toMatchObject([
      {
        method: "PUT",
        path: "/v1/jobs/@weekly",
        body: {
          task: "report",
          payload: null,
          schedule: { cron: "0 9 * * MON", time_zone: "Europe/Paris" },
          overlap: "skip",
        },
      },
    ]);
  });

  it("an app over a server sends every part of a schedule in the form of the API", async () => {
    const { app, sent } = server({ id: "job_1", version: 1, next_run_at: null });
    const answer = await app.schedule(mail, "all", {
      cron: "0 9 * * MON",
      startsAt: new Date(0),
      endsAt: new Date(1_000),
      maxRuns: 3,
      dayMatch: "and",
      dst: { gap: "skip" },
      calendars: { exclude: ["holidays"], roll: "next" },
      misfireThreshold: "1m",
      catchupWindow: "1d",
      catchupLimit: 5,
      catchupRate: 2,
      callbacks: [{ on: ["dead"], url: "https://x.example", include: ["error"] }],
      breaker: { name: "smtp", failureRatio: 0.5, minCalls: 20, openFor: "30s" },
    });
    expect(answer).toEqual({ id: "job_1", isNew: false, nextRunAt: null });
    expect(sent[0]?.body).toMatchObject({
      schedule: {
        cron: "0 9 * * MON",
        starts_at: "1970-01-01T00:00:00.000Z",
        ends_at: "1970-01-01T00:00:01.000Z",
        max_runs: 3,
        day_match: "and",
        dst: { gap: "skip" },
        calendars: { exclude: ["holidays"], roll: "next" },
      },
      misfire_threshold: "1m",
      catchup_window: "1d",
      catchup_limit: 5,
      catchup_rate: 2,
      callbacks: [{ on: ["dead"], url: "https://x.example", include: ["error"] }],
      breaker: { name: "smtp", failure_ratio: 0.5, min_calls: 20, open_for: "30s" },
    });
  });

  it("an app over a server sends many runs in one call, and throws the refusal of one", async () => {
    const stored = [
      { id: "run_1", is_new: true },
      { id: "run_2", is_new: false },
    ];
    const { app, sent } = server({ results: stored });
    const items = [{ payload: 1 }, { payload: 2, priority: 9 }];
    expect(await app.enqueueMany(mail, items)).toEqual([
      { id: "run_1", isNew: true },
      { id: "run_2", isNew: false },
    ]);
    expect(sent).toMatchObject([{ path: "/v1/runs:batchCreate", body: { runs: [{ payload: 1 }, { priority: 9 }] } }]);
    const problem = {
      status: 422,
      code: "payload_invalid",
      detail: "no",
      errors: [],
      request_id: "r",
      retryable: false,
    };
    const refusing = server({ results: [{ problem }, stored[0]] });
    await expect(refusing.app.enqueueMany(mail, items)).rejects.toMatchObject({ code: "payload_invalid", status: 422 });
  });

  it("an app over a server refuses a payload that is no JSON before it is sent", async () => {
    const { app, sent } = server({});
    const circle: { self?: unknown } = {};
    circle.self = circle;
    for (const payload of [circle, 10n, () => null]) {
      await expect(app.enqueue("mail", payload)).rejects.toMatchObject({ code: "payload_invalid" });
    }
    expect(sent).toEqual([]);
  });

  it("an app over a server waits for its quota, and repeats the request", async () => {
    const bodies: string[] = [];
    const over = () => Response.json({}, { status: 429, headers: { "retry-after": "1" } });
    const fake: typeof fetch = async (input, init) => {
      bodies.push(await new Request(input, init).text());
      return bodies.length === 1 ? over() : Response.json({ id: "run_1", is_new: true });
    };
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    const patient = carillon({ url: "http://carillon.test", fetch: fake, sleep });
    expect(await patient.enqueue("mail", 1)).toEqual({ id: "run_1", isNew: true });
    expect([waits, new Set(bodies).size]).toEqual([[1_000], 1]);
    const impatient = carillon({ url: "http://carillon.test", fetch: async () => over(), maxQuotaWaitMs: 0 });
    await expect(impatient.enqueue("mail", 1)).rejects.toMatchObject({ status: 429, retryAfterMs: 1_000 });
  });
});
