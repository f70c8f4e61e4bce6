import { DAY_OF_WEEK, type CronField } from "./fields.js";

/** A mask of up to 60 bits in two halves of 30, each of which stays a small integer. */
interface Mask60 {
  readonly low: number;
  readonly high: number;
}

/** The plain values of a field of at most 31 values: bit v-min stands for v. L, W and # parts add nothing. */
export function maskOf(field: CronField): number {
  let mask = 0;
  forEachValue(field, (value) => {
    mask |= 1 << (value - field.rule.min);
  });
  return mask;
}

export function mask60Of(field: CronField): Mask60 {
  let low = 0;
  let high = 0;
  forEachValue(field, (value) => {
    if (value < 30) low |= 1 << value;
    else high |= 1 << (value - 30);
  });
  return { low, high };
}

function forEachValue({ rule, parts }: CronField, visit: (value: number) => void): void {
  for (const part of parts) {
    if (part.kind === "value") visit(sundayAsZero(rule === DAY_OF_WEEK, part.value));
    else if (part.kind === "every" || part.kind === "range") {
      const from = part.kind === "every" ? rule.min : part.from;
      const to = part.kind === "every" ? rule.max : part.to;
      for (let value = from; value <= to; value += part.step) visit(sundayAsZero(rule === DAY_OF_WEEK, value));
    }
  }
}

function sundayAsZero(isWeekday: boolean, value: number): number {
  return isWeekday && value === 7 ? 0 : value;
}
