import { describe, expect, it } from "vitest";
import { parseExposition } from "./exposition.js";

const family = "# HELP x what\n# TYPE x gauge\n";
const histogram = "# HELP h what\n# TYPE h histogram\n";

describe("the parser of the exposition format", () => {
  it("the exposition parser accepts a valid scrape", () => {
    const { samples = [] } = parseExposition(`${family}x{a="1",b="say \\"n\\""} 1.5e3\nx -Inf\n`).get("x") ?? {};
    expect(samples.map(({ value }) => value)).toEqual([1_500, Number.NEGATIVE_INFINITY]);
    expect(parseExposition(`${histogram}h_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 2\n`).size).toBe(1);
  });

  it.each([
    ["a last line without an end", `${family}x 1`],
    ["a sample before its type", "x 1\n"],
    ["a type without help", "# TYPE x gauge\nx 1\n"],
    ["a type that is none", "# HELP x what\n# TYPE x gage\nx 1\n"],
    ["the same series twice", `${family}x{a="1"} 1\nx{a="1"} 2\n`],
    ["a label twice", `${family}x{a="1",a="2"} 1\n`],
    ["a label without quotation marks", `${family}x{a=1} 1\n`],
    ["an escape that is none", `${family}x{a="\\t"} 1\n`],
    ["a value that is no number", `${family}x undefined\n`],
    ["a sample of another family", `${family}y 1\n`],
    ["a histogram that shrinks", `${histogram}h_bucket{le="1"} 3\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 2\n`],
    ["a histogram without its end", `${histogram}h_bucket{le="1"} 2\nh_sum 3\nh_count 2\n`],
    ["a histogram without its sum", `${histogram}h_bucket{le="+Inf"} 2\nh_count 2\n`],
  ])("the exposition parser refuses %s", (_what, text) => {
    expect(() => parseExposition(text)).toThrow(Error);
  });
});
