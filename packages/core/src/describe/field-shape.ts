import type { CronField, CronPart, FieldRule } from "../cron/fields.js";

/** How a plain field (second, minute, hour) is described: all values, an even step over all, a list, or a range. */
export type FieldShape =
  | { readonly kind: "all" }
  | { readonly kind: "step"; readonly step: number }
  | { readonly kind: "values"; readonly values: readonly number[] }
  | { readonly kind: "range"; readonly from: number; readonly to: number; readonly step: number }
  | { readonly kind: "mixed"; readonly parts: readonly CronPart[] };

export function shapeOf({ rule, parts }: CronField): FieldShape {
  if (parts.some((part) => part.kind === "every" && part.step === 1)) return { kind: "all" };
  const simple = parts.map((part) => simplify(part, rule));
  const values = simple.flatMap((part) => (part.kind === "value" ? [part.value] : []));
  if (values.length === simple.length) return { kind: "values", values: [...new Set(values)].sort((a, b) => a - b) };
  const [only] = simple;
  if (simple.length === 1 && only?.kind === "every") return { kind: "step", step: only.step };
  if (simple.length === 1 && only?.kind === "range") return { ...only, to: lastOf(only) };
  return { kind: "mixed", parts: simple };
}

/** The last number in a stepped range: `8-17/2` ends at 16. */
export function lastOf({
  from,
  to,
  step,
}: {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}): number {
  return to - ((to - from) % step);
}

/** A range or a step that contains one number is that number. */
function simplify(part: CronPart, { min, max }: FieldRule): CronPart {
  if (part.kind === "range" && lastOf(part) === part.from) return { kind: "value", value: part.from };
  return part.kind === "every" && part.step > max - min ? { kind: "value", value: min } : part;
}
