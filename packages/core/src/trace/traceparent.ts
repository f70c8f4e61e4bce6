/** A trace context: the two headers of W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string;
  /** Vendor data, unchanged; never without a traceparent. */
  readonly tracestate?: string;
}

/** A parsed traceparent: 00-<trace id>-<span id>-<flags>. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Bit 0: the caller records the trace. */
  readonly flags: number;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const allZeros = /^0+$/;

/** Null for an invalid text, which counts as absent. Additional fields of later versions are ignored. */
export function parseTraceParent(text: string): TraceParent | null {
  const [, version = "", traceId = "", spanId = "", flags = "", more] = pattern.exec(text) ?? [];
  if (version === "" || version === "ff" || allZeros.test(traceId) || allZeros.test(spanId)) return null;
  if (version === "00" && more !== undefined) return null;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

export function formatTraceParent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${(flags & 0xff).toString(16).padStart(2, "0")}`;
}
