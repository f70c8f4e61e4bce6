import { parseTraceParent } from "@carillon/core";
import type { FastifyRequest } from "fastify";
import type { CallAnswer } from "./call.js";
import { problemOf } from "./errors.js";
import type { CallSpan, TracePlace, TracingPort } from "./tracing.js";

/** A call, in the trace of its caller; in that of whatever watches the server itself, if something does. */
export function beginHttpSpan(tracing: TracingPort, { method, headers }: FastifyRequest, route: string): CallSpan {
  const parent = tracing.activeTraceParent() === undefined ? callersTrace(headers) : "active";
  const span = tracing.beginSpan({ name: `${method} ${route}`, kind: "server", parent });
  if (span.isSeen) span.note({ "http.request.method": method, "http.route": route });
  return span;
}

export function endHttpSpan(span: CallSpan, outcome: CallAnswer | { readonly error: unknown }): void {
  if (span.isSeen) {
    const status = "error" in outcome ? problemOf(outcome.error, "").body.status : outcome.status;
    span.note({ "http.response.status_code": status });
    if ("error" in outcome && status >= 500) span.fail(thrownBy(outcome.error));
  }
  span.end();
}

function callersTrace({ traceparent, tracestate }: FastifyRequest["headers"]): TracePlace {
  if (typeof traceparent !== "string" || parseTraceParent(traceparent) === null) return { traceparent: undefined };
  return { traceparent, ...(typeof tracestate === "string" && { tracestate }) };
}

function thrownBy(error: unknown): { type: string; message: string; stack?: string } {
  if (!(error instanceof Error)) return { type: "Error", message: String(error) };
  const { name: type, message, stack } = error;
  return { type, message, ...(stack !== undefined && { stack }) };
}
