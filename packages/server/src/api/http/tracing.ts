import { parseTraceParent, type RunPolicy } from "@carillon/core";
import type { FastifyRequest } from "fastify";
import { toProblem } from "./errors.js";

/** A position in a trace; undefined: not traced. */
export interface TracePlace {
  readonly traceparent: string | undefined;
  /** The vendors' additions. */
  readonly tracestate?: string | undefined;
}

export interface CallSpan extends TracePlace {
  /** Whether the span is recorded: attributes of others are not computed. */
  readonly isSeen: boolean;
  run<Result>(work: () => Result): Result;
  note(attributes: Readonly<Record<string, string | number>>): void;
  fail(reason: { readonly type: string; readonly message: string; readonly stack?: string }): void;
  end(): void;
}

/** The parts of a new job or run that its trace names. */
export interface Traceable {
  readonly task: string;
  readonly policy: RunPolicy;
  readonly schedule?: { readonly kind: string };
}

/** How calls become part of traces. */
export interface TracingPort {
  beginSpan(start: { name: string; kind: "server"; parent: "active" | TracePlace }): CallSpan;
  /** The active span of an instrumentation of the process itself. */
  activeTraceParent(): string | undefined;
  /** Calls `store` with specs that carry the trace on. */
  enqueueTraced<Spec extends Traceable, Result>(
    parent: TracePlace,
    specs: readonly Spec[],
    store: (specs: readonly Spec[]) => Promise<Result>,
  ): Promise<Result>;
}

const noSpan: CallSpan = {
  traceparent: undefined,
  isSeen: false,
  run: (work) => work(),
  note: () => undefined,
  fail: () => undefined,
  end: () => undefined,
};

export const noTracing: TracingPort = {
  beginSpan: () => noSpan,
  activeTraceParent: () => undefined,
  enqueueTraced: (_parent, specs, store) => store(specs),
};

/** A span for a call: in the trace of the instrumented process if there is one, else in that of the caller. */
export function beginHttpSpan(tracing: TracingPort, { method, headers }: FastifyRequest, route: string): CallSpan {
  const parent = tracing.activeTraceParent() === undefined ? callersTrace(headers) : "active";
  const span = tracing.beginSpan({ name: `${method} ${route}`, kind: "server", parent });
  if (span.isSeen) span.note({ "http.request.method": method, "http.route": route });
  return span;
}

export function endHttpSpan(span: CallSpan, outcome: { readonly status: number } | { readonly error: unknown }): void {
  if (span.isSeen) {
    const status = "error" in outcome ? toProblem(outcome.error, "").body.status : outcome.status;
    span.note({ "http.response.status_code": status });
    if ("error" in outcome && status >= 500) span.fail(describeThrown(outcome.error));
  }
  span.end();
}

function callersTrace({ traceparent, tracestate }: FastifyRequest["headers"]): TracePlace {
  if (typeof traceparent !== "string" || parseTraceParent(traceparent) === null) return { traceparent: undefined };
  return { traceparent, ...(typeof tracestate === "string" && { tracestate }) };
}

function describeThrown(error: unknown): { type: string; message: string; stack?: string } {
  if (!(error instanceof Error)) return { type: "Error", message: String(error) };
  const { name: type, message, stack } = error;
  return { type, message, ...(stack !== undefined && { stack }) };
}
