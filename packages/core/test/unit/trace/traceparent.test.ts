import { describe, expect, it } from "vitest";
import { formatTraceParent, parseTraceParent } from "../../../src/trace/traceparent.js";

const trace = "0af7651916cd43dd8448eb211c80319c";
const span = "b7ad6b7169203331";

describe("traceparent", () => {
  it("reads and writes a traceparent in the format of W3C Trace Context", () => {
    const text = `00-${trace}-${span}-01`;
    expect(parseTraceParent(text)).toEqual({ traceId: trace, spanId: span, flags: 1 });
    expect(formatTraceParent({ traceId: trace, spanId: span, flags: 1 })).toBe(text);
  });

  it("reads the known fields of a traceparent of a later version", () => {
    expect(parseTraceParent(`01-${trace}-${span}-03-more`)).toEqual({ traceId: trace, spanId: span, flags: 3 });
  });

  it.each([
    "",
    "x",
    `00-${trace}-${span}`,
    `00-${trace}-${span}-01-more`,
    `ff-${trace}-${span}-01`,
    `00-${"0".repeat(32)}-${span}-01`,
    `00-${trace}-${"0".repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    ` 00-${trace}-${span}-01`,
  ])("ignores an invalid traceparent: %s", (text) => {
    expect(parseTraceParent(text)).toBeNull();
  });
});
