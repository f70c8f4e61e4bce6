import { formatId, parseTraceParent } from "@carillon/core";
import { SpanKind, trace } from "@opentelemetry/api";
import { afterEach, describe, expect, it } from "vitest";
import { runAttempt, type Task } from "../../../src/index.js";
import { manualTimers } from "../runtime/manual-timers.js";
import { recordSpans } from "./recorded-spans.js";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
const id = "019a7f71-ece5-7060-8d10-5b3a9c36e0ad";
const assignment = {
  runId: id,
  jobId: id,
  task: "mail",
  queue: "default",
  payload: null,
  attempt: 2,
  maxAttempts: 3,
  atMostOnce: false,
  fence: 5,
  timeoutMs: null,
  scheduledFor: 0,
  runAt: 0,
};

/** Executes an attempt and returns the trace context that its handler sees. */
async function attempt(given: object, fails = false) {
  const seen: { traceparent?: string | undefined; tracestate?: string | undefined; active?: string | undefined } = {};
  const task: Task = {
    name: "mail",
    async run(_payload, context) {
      seen.traceparent = context.traceparent;
      seen.tracestate = context.tracestate;
      await Promise.resolve();
      seen.active = trace.getActiveSpan()?.spanContext().spanId;
      if (fails) throw new Error("no such user");
    },
  };
  const options = { note: async () => [], timers: manualTimers() };
  const { kind } = await runAttempt(task, { ...assignment, ...given }, options).outcome;
  return { ...seen, kind };
}

describe("the span of a run", () => {
  let recorded: ReturnType<typeof recordSpans> | null = null;
  afterEach(async () => {
    await recorded?.stop();
    recorded = null;
  });

  it("continues the trace of the run, and is the active span inside the handler", async () => {
    recorded = recordSpans();
    const { traceparent: given, active, kind } = await attempt({ traceparent });
    expect(kind).toBe("succeeded");
    const [span] = recorded.spans();
    expect(span).toMatchObject({
      name: "run mail",
      kind: SpanKind.CONSUMER,
      traceId,
      parentId: "b7ad6b7169203331",
      error: undefined,
      attributes: {
        "carillon.task": "mail",
        "carillon.queue": "default",
        "carillon.run.id": formatId("run", id),
        "carillon.job.id": formatId("job", id),
        "carillon.run.attempt": 2,
        "carillon.run.outcome": "succeeded",
      },
    });
    expect(parseTraceParent(given ?? "")).toMatchObject({ traceId, spanId: span?.spanId });
    expect(active).toBe(span?.spanId);
  });

  it("starts a trace for a run without one, and records the error of a failed attempt", async () => {
    recorded = recordSpans();
    expect((await attempt({}, true)).kind).toBe("failed");
    expect(recorded.spans()).toMatchObject([{ name: "run mail", parentId: undefined, error: "no such user" }]);
  });

  it("passes the tracestate of the run to the handler, with and without an SDK", async () => {
    expect((await attempt({ traceparent, tracestate: "a=1,b=2" })).tracestate).toBe("a=1,b=2");
    recorded = recordSpans();
    expect((await attempt({ traceparent, tracestate: "a=1,b=2" })).tracestate).toBe("a=1,b=2");
    expect((await attempt({ tracestate: "a=1" })).tracestate).toBeUndefined();
  });

  it("creates no span without an SDK, and passes the trace context of the run to the handler unchanged", async () => {
    expect(await attempt({ traceparent })).toMatchObject({ traceparent, active: undefined, kind: "succeeded" });
    expect((await attempt({})).traceparent).toBeUndefined();
  });
});
