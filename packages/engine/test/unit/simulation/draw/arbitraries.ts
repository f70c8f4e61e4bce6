import * as fc from "fast-check";

/** A duration; short ones are as likely as long ones. */
export function spans(least: number, most: number): fc.Arbitrary<number> {
  return fc
    .integer({ min: 0, max: 1_000_000 })
    .map((drawn) => Math.round(least * (most / least) ** (drawn / 1_000_000)));
}

/** True in so many of a hundred cases. */
export function chance(percent: number): fc.Arbitrary<boolean> {
  return fc.integer({ min: 0, max: 99 }).map((drawn) => drawn < percent);
}

/** The value in so many of a hundred cases, else nothing. */
export function sometimes<Value>(percent: number, value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.tuple(chance(percent), value).map(([isGiven, drawn]) => (isGiven ? drawn : undefined));
}

/** So many values that follow from the seed alone, without the preference of property tests for extremes. */
export function draw<Value>(arbitrary: fc.Arbitrary<Value>, count: number, seed: number): Value[] {
  return fc.sample(fc.noBias(arbitrary), { numRuns: count, seed });
}
