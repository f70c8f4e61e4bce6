import { type RunPolicy, formatTraceParent, parseTraceParent, withTrace } from "@carillon/core";
import {
  type Attributes,
  type Context,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  context,
  createTraceState,
  isSpanContextValid,
  trace,
} from "@opentelemetry/api";

/** A started span. Without an OpenTelemetry SDK in the process all of this does nothing, at almost no cost. */
export interface OpenSpan {
  /** The traceparent header to pass on; undefined without a trace. */
  readonly traceparent: string | undefined;
  /** The tracestate header beside it. */
  readonly tracestate: string | undefined;
  /** Whether the span is recorded; if not, attributes need not be computed. */
  readonly isSeen: boolean;
  /** Runs the work with this span as the active one. */
  run<Result>(work: () => Result): Result;
  note(attributes: Attributes): void;
  /** Marks the span as failed. */
  fail(reason: { readonly type: string; readonly message: string; readonly stack?: string }): void;
  end(): void;
}

export interface SpanStart {
  readonly name: string;
  readonly kind: "server" | "producer" | "consumer";
  /** The active span of the caller, or the trace context that it left. */
  readonly parent: "active" | TraceHeaders;
}

/** A trace context as headers; undefined without a trace. */
export interface TraceHeaders {
  readonly traceparent: string | undefined;
  readonly tracestate?: string | undefined;
}

const tracerName = "carillon";
const kinds = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER };

/** Whether an SDK in this process records spans. Checked each time, because it may be registered late, and tests remove it. */
export function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(tracerName) !== undefined;
}

export function beginSpan({ name, kind, parent }: SpanStart): OpenSpan {
  const within = parent === "active" ? context.active() : toContext(parent);
  const span = trace.getTracer(tracerName).startSpan(name, { kind: kinds[kind] }, within);
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return noSpan;
  return new StartedSpan(span, trace.setSpan(within, span));
}

/** The traceparent of the active span; undefined without a trace. */
export function activeTraceParent(): string | undefined {
  const span = trace.getActiveSpan();
  return span !== undefined && isSpanContextValid(span.spanContext()) ? traceParentOf(span) : undefined;
}

/** Headers that propagate the active span; none without a trace. */
export function activeTraceHeaders(): Record<string, string> {
  const span = trace.getActiveSpan();
  if (span === undefined || !isSpanContextValid(span.spanContext())) return {};
  const tracestate = traceStateOf(span);
  return { traceparent: traceParentOf(span), ...(tracestate !== undefined && { tracestate }) };
}

class StartedSpan implements OpenSpan {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  readonly #span: Span;
  readonly #context: Context;

  constructor(span: Span, within: Context) {
    this.#span = span;
    this.#context = within;
    this.traceparent = traceParentOf(span);
    this.tracestate = traceStateOf(span);
  }

  get isSeen(): boolean {
    return this.#span.isRecording();
  }

  run<Result>(work: () => Result): Result {
    return context.with(this.#context, work);
  }

  note(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  fail({ type, message, stack }: Parameters<OpenSpan["fail"]>[0]): void {
    this.#span.recordException({ name: type, message, ...(stack !== undefined && { stack }) });
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
  }

  end(): void {
    this.#span.end();
  }
}

/** The span of work without a trace. */
export const noSpan: OpenSpan = Object.freeze({
  traceparent: undefined,
  tracestate: undefined,
  isSeen: false,
  run: <Result>(work: () => Result): Result => work(),
  note: () => undefined,
  fail: () => undefined,
  end: () => undefined,
});

function toContext({ traceparent, tracestate }: TraceHeaders): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent);
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, flags: traceFlags } = parent;
  // A row that was inserted by SQL may contain anything.
  const traceState = typeof tracestate === "string" ? createTraceState(tracestate) : undefined;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags,
    isRemote: true,
    ...(traceState !== undefined && { traceState }),
  });
}

function traceParentOf(span: Span): string {
  const { traceId, spanId, traceFlags: flags } = span.spanContext();
  return formatTraceParent({ traceId, spanId, flags });
}

/** The OpenTelemetry API has dropped malformed and overlong entries. */
function traceStateOf(span: Span): string | undefined {
  const text = span.spanContext().traceState?.serialize();
  return text === undefined || text === "" ? undefined : text;
}

interface Traceable {
  readonly task: string;
  readonly policy: RunPolicy;
  /** Present for a job. Only a one-off job continues the trace of its creation: a recurring one may run for years. */
  readonly schedule?: { readonly kind: string };
}

/** Stores runs or jobs within an enqueue span of the caller's trace, and stores the trace context with each of them. */
export async function enqueueTraced<Spec extends Traceable, Result>(
  parent: SpanStart["parent"],
  specs: readonly Spec[],
  store: (specs: readonly Spec[]) => Promise<Result>,
): Promise<Result> {
  const [first] = specs.filter(runsOnce);
  if (first === undefined) return store(specs);
  const span = beginSpan({ name: `enqueue ${first.task}`, kind: "producer", parent });
  const { traceparent, tracestate } = span;
  if (traceparent === undefined) return store(specs);
  if (span.isSeen) span.note({ "carillon.task": first.task, "carillon.runs": specs.length });
  const headers = { traceparent, ...(tracestate !== undefined && { tracestate }) };
  const traced = specs.map((spec) => (runsOnce(spec) ? { ...spec, policy: withTrace(spec.policy, headers) } : spec));
  try {
    return await span.run(() => store(traced));
  } finally {
    span.end();
  }
}

function runsOnce({ schedule }: Traceable): boolean {
  return schedule === undefined || schedule.kind === "at";
}
