import { formatTraceParent, parseTraceParent } from "@carillon/core";
import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  isSpanContextValid,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

/** A piece of work in somebody's trace. Without an SDK in the process all of this does nothing, and costs next to nothing. */
export interface OpenSpan {
  /** Where the trace goes on, for whoever is told of the work; undefined where there is no trace. */
  readonly traceparent: string | undefined;
  /** What vendors add to that. */
  readonly tracestate: string | undefined;
  /** Whether anybody will see what is said of it. */
  readonly isSeen: boolean;
  /** Within the work this span is the active one. */
  run<Result>(work: () => Result): Result;
  note(attributes: Attributes): void;
  /** It failed, for this reason. */
  fail(reason: { readonly type: string; readonly message: string; readonly stack?: string }): void;
  end(): void;
}

export interface SpanStart {
  readonly name: string;
  readonly kind: "server" | "producer" | "consumer";
  /** active: what the caller is doing; else where its trace was left, undefined: nowhere. */
  readonly parent: "active" | TracePlace;
}

/** undefined: nowhere. */
export interface TracePlace {
  readonly traceparent: string | undefined;
  readonly tracestate?: string | undefined;
}

const tracerName = "carillon";
const kinds = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER };

/** Whether this process has an SDK that takes spans. Asked for each time: one may come late, and in tests it goes. */
export function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(tracerName) !== undefined;
}

export function beginSpan({ name, kind, parent }: SpanStart): OpenSpan {
  const within = parent === "active" ? context.active() : contextOf(parent);
  const span = trace.getTracer(tracerName).startSpan(name, { kind: kinds[kind] }, within);
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return noSpan;
  return new StartedSpan(span, trace.setSpan(within, span));
}

/** Where the caller's trace is, if it is in one. */
export function activeTraceParent(): string | undefined {
  const span = trace.getActiveSpan();
  return span !== undefined && isSpanContextValid(span.spanContext()) ? textOf(span) : undefined;
}

/** The same as the headers that tell others; none where there is no trace. */
export function activeTraceHeaders(): Record<string, string> {
  const span = trace.getActiveSpan();
  if (span === undefined || !isSpanContextValid(span.spanContext())) return {};
  const tracestate = stateOf(span);
  return { traceparent: textOf(span), ...(tracestate !== undefined && { tracestate }) };
}

class StartedSpan implements OpenSpan {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
  readonly #span: Span;
  readonly #context: Context;

  constructor(span: Span, within: Context) {
    this.#span = span;
    this.#context = within;
    this.traceparent = textOf(span);
    this.tracestate = stateOf(span);
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

/** Of work that is in nobody's trace. */
export const noSpan: OpenSpan = Object.freeze({
  traceparent: undefined,
  tracestate: undefined,
  isSeen: false,
  run: <Result>(work: () => Result): Result => work(),
  note: () => undefined,
  fail: () => undefined,
  end: () => undefined,
});

function contextOf({ traceparent, tracestate }: TracePlace): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent);
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, flags: traceFlags } = parent;
  // Plain SQL can have stored anything.
  const traceState = typeof tracestate === "string" ? createTraceState(tracestate) : undefined;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags,
    isRemote: true,
    ...(traceState !== undefined && { traceState }),
  });
}

function textOf(span: Span): string {
  const { traceId, spanId, traceFlags: flags } = span.spanContext();
  return formatTraceParent({ traceId, spanId, flags });
}

/** What is not written as it should be, or is too long, the API has left out. */
function stateOf(span: Span): string | undefined {
  const text = span.spanContext().traceState?.serialize();
  return text === undefined || text === "" ? undefined : text;
}
