import type { ErrorCode } from "@carillon/core";

/**
 * Rules between the members of an object, in the words of JSON Schema. The readers of requests check them, because their errors
 * name the member that is wrong; a fuzz test proves that the readers and the document agree.
 */
export interface MemberRules {
  readonly allOf?: readonly Condition[];
  readonly anyOf?: readonly Condition[];
  readonly oneOf?: readonly Condition[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly "x-carillon-rules"?: readonly Rule[];
}

/** A part of a schema that allows more than the whole one. */
export type Condition = Readonly<Record<string, unknown>>;

/** A rule that JSON Schema cannot express, and the code of the error for a request that breaks it. */
export interface Rule {
  readonly code: ErrorCode;
  readonly rule: string;
}

const has = (name: string): Condition => ({ required: [name] });

/** Exactly one of these members is given. */
export const exactlyOne = (names: readonly string[]): { readonly oneOf: readonly Condition[] } => ({
  oneOf: names.map(has),
});

/** At most one of these members is given. */
export const atMostOne = (names: readonly string[]): Condition => ({
  oneOf: [...names.map(has), { not: { anyOf: names.map(has) } }],
});

/** If a member has one of these values, then this holds too. */
export const ifOneOf = (name: string, values: readonly unknown[], then: Condition): Condition => ({
  if: { properties: { [name]: { enum: values } }, required: [name] },
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
  then,
});

/** If a member is given, then this holds too. */
export const ifGiven = (names: readonly string[], then: Condition): Condition => ({
  if: names.length === 1 ? { required: names } : { anyOf: names.map(has) },
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
  then,
});

/** No member of these names. */
export const without = (names: readonly string[]): Condition => ({
  properties: Object.fromEntries(names.map((name) => [name, false])),
});
