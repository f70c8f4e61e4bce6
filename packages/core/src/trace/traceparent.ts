/** Where a trace goes on, as the two headers of W3C Trace Context have it. */
export interface TraceContext {
  readonly traceparent: string;
  /** What vendors add, as it came; none without a traceparent. */
  readonly tracestate?: string;
}

/** A place in somebody's trace, as W3C Trace Context writes it: 00-<trace id>-<span id>-<flags>. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Bit 0: whoever began the trace records it. */
  readonly flags: number;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const nothing = /^0+$/;

/** Null for what is no such place: it is then as if none had been given. A later version may say more; what is known of it counts. */
export function parseTraceParent(text: string): TraceParent | null {
  const [, version = "", traceId = "", spanId = "", flags = "", more] = pattern.exec(text) ?? [];
  if (version === "" || version === "ff" || nothing.test(traceId) || nothing.test(spanId)) return null;
  if (version === "00" && more !== undefined) return null;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

export function formatTraceParent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${(flags & 0xff).toString(16).padStart(2, "0")}`;
}
