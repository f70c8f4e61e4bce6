import {
  type DurationMs,
  formatDuration,
  type IdPrefix,
  type Instant,
  parseDuration,
  parseInstant,
} from "@carillon/core";
import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from "typebox";
import {
  anyNamePattern,
  durationPattern,
  idPattern,
  instantPattern,
  jobRefPattern,
  labelKeyPattern,
  limits,
  localInstantPattern,
  namePattern,
  plainNameLength,
  plainNamePattern,
  printablePattern,
} from "./bounds.js";
import type { Findings } from "./check/findings.js";
import type { MemberRules } from "./rules.js";

interface Annotations {
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

/** One of a few words, emitted as `{type: "string", enum}`, which code generators understand; a union of literals is not. */
export function stringEnum<const Words extends readonly string[]>(
  words: Words,
  annotations: Annotations = {},
): TUnsafe<Words[number]> {
  return Type.Unsafe<Words[number]>({ type: "string", enum: [...words], ...annotations });
}

/** The same schema with a description of its own. */
export function described<Schema extends TSchema>(schema: Schema, description: string): TUnsafe<Static<Schema>> {
  return Type.Unsafe<Static<Schema>>({ ...schema, description });
}

interface ObjectAnnotations extends MemberRules {
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

/** An object with a name in the API, which has no other members than these. */
export function object<Fields extends TProperties>(title: string, fields: Fields, annotations: ObjectAnnotations = {}) {
  return Type.Object(fields, { title, additionalProperties: false, ...annotations });
}

/** An object without a name that has no other members than these, such as the parameters of a query. */
export function closed<Fields extends TProperties>(fields: Fields) {
  return Type.Object(fields, { additionalProperties: false });
}

/** Always present in an answer; null where there is no value. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** In an answer: UTC with milliseconds. */
export const Timestamp = Type.String({
  format: "date-time",
  pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$",
  description: "RFC 3339 in UTC with milliseconds",
  examples: ["2026-11-12T08:30:00.000Z"],
});

/** In a request: any offset. */
export const InstantText = (description: string) =>
  Type.String({
    format: "date-time",
    maxLength: limits.parsedTextLength,
    pattern: instantPattern,
    description,
    examples: ["2026-11-12T09:30:00+01:00"],
  });

/** The same beside a time zone, which may stand for the offset. */
export const LocalInstantText = (description: string) =>
  Type.String({
    format: "local-date-time",
    maxLength: limits.parsedTextLength,
    pattern: localInstantPattern,
    description,
    examples: ["2026-11-12T09:30:00+01:00"],
  });

/** In an address or a filter: a job by its id, or by @ and its key. */
export const JobName = (description: string) =>
  Type.String({
    format: "job-name",
    minLength: 1,
    maxLength: limits.nameLength + 1,
    pattern: jobRefPattern,
    description,
    examples: ["@nightly-report"],
  });

/** The id of a thing in an address, a filter or a list. */
export const IdText = (prefix: IdPrefix, description?: string) =>
  Type.String({
    format: "carillon-id",
    minLength: 1,
    maxLength: limits.nameLength,
    pattern: idPattern(prefix),
    ...(description !== undefined && { description }),
    examples: [`${prefix}_01k9zq3v5e0r8t2b7n4m6x1c9d`],
  });

const daysOf = (durationMs: DurationMs): string => `${durationMs / 86_400_000}d`;

interface DurationBounds {
  readonly minMs: DurationMs;
  readonly maxMs: DurationMs;
}

/** A field with bounds gives the same ones to `readDuration`. */
export const DurationText = (description: string, example: string, bounds?: DurationBounds) =>
  Type.String({
    format: "carillon-duration",
    maxLength: limits.parsedTextLength,
    pattern: durationPattern,
    ...(bounds !== undefined && bounds.minMs > 0 && { "x-minimum-duration": formatDuration(bounds.minMs) }),
    ...(bounds !== undefined && { "x-maximum-duration": daysOf(bounds.maxMs) }),
    description: `${description} A duration such as 500ms, 90s, 1h30m, 7d, or ISO 8601.`,
    examples: [example],
  });

export const TimeZoneText = (description: string) =>
  Type.String({
    format: "time-zone",
    minLength: 1,
    maxLength: limits.parsedTextLength,
    description,
    examples: ["Europe/Paris"],
  });

export const CronText = (description: string, example: string) =>
  Type.String({ format: "cron", minLength: 1, maxLength: limits.cronLength, description, examples: [example] });

const LabelValue = Type.String({ maxLength: limits.labelValueLength, pattern: printablePattern });

/** Emitted with `propertyNames`, so that a wrong key is refused by name. */
export const Labels = Type.Unsafe<Record<string, string>>({
  type: "object",
  additionalProperties: LabelValue,
  propertyNames: { type: "string", pattern: labelKeyPattern, maxLength: limits.labelKeyLength },
  maxProperties: limits.labels,
  description: "Key-value pairs to filter lists by",
  examples: [{ team: "billing" }],
});

export const OwnerName = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: limits.nameLength,
    pattern: printablePattern,
    description,
    examples: ["u003"],
  });

/** Why a person did it. */
export const Reason = Type.String({
  minLength: 1,
  maxLength: limits.reasonLength,
  pattern: printablePattern,
  description: "The reason, for later readers",
  examples: ["the mail provider is down"],
});

export const CalendarName = Type.String({ minLength: 1, maxLength: plainNameLength, pattern: plainNamePattern });

/** The items of a batch, which are read one by one: a fault of one is reported in its result and refuses no other. */
export const BatchOf = <Item extends TSchema>(item: Item, description: string, maxItems: number = limits.batch) =>
  Type.Array(item, { minItems: 1, maxItems, "x-each-by-itself": true, description });

/** A text in an answer. */
export const Text = (description: string) => Type.String({ description });

/** A member of a request that is true or false, and may be left out. */
export const Flag = (description: string) => Type.Optional(Type.Boolean({ description }));

export const WholeNumber = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description });

export const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const Milliseconds = (description: string) => Type.Integer({ description });

/** A plus in a query arrives as a blank, which no instant has before its offset: accepts 2026-01-01T00:00:00+01:00 unescaped. */
export function queryInstant(text: string): Instant {
  return parseInstant(text.replace(/(?<=T\S+) (?=\d\d:\d\d$)/, "+"));
}

export const NameFilter = (description: string) =>
  Type.String({ minLength: 1, maxLength: limits.nameLength, description });

/** In an address: the name of a queue, a task or a breaker, Carillon's own included. */
export const AnyName = (example: string) =>
  Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: anyNamePattern, examples: [example] });

/** In an address: the name of a calendar or a maintenance window. */
export const PlainName = (example: string) =>
  Type.String({ minLength: 1, maxLength: plainNameLength, pattern: plainNamePattern, examples: [example] });

export const NameText = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: namePattern, description, examples: [example] });

/** A value and the place where the caller wrote it. */
export interface Placed<Value> {
  readonly value: Value;
  readonly pointer: string;
}

/** The duration that a field holds; undefined where it is left out or its fault was recorded. */
export function readDuration(
  text: string | undefined,
  pointer: string,
  findings: Findings,
  bounds?: DurationBounds,
): DurationMs | undefined {
  if (text === undefined) return undefined;
  const durationMs = findings.attempt(pointer, () => parseDuration(text));
  if (durationMs !== undefined && bounds && (durationMs < bounds.minMs || durationMs > bounds.maxMs)) {
    const { minMs, maxMs } = bounds;
    const range = minMs === 0 ? `at most ${daysOf(maxMs)}` : `from ${formatDuration(minMs)} to ${daysOf(maxMs)}`;
    findings.add(pointer, "duration_invalid", `Must be ${range}.`);
  }
  return durationMs;
}

/** The instant that a field holds; undefined where it is left out or its fault was recorded. */
export function readInstant(text: string | undefined, pointer: string, findings: Findings): Instant | undefined {
  return text === undefined ? undefined : findings.attempt(pointer, () => parseInstant(text));
}

/** The text of a duration that may be absent. */
export function durationText(durationMs: DurationMs | undefined): string | undefined {
  return durationMs === undefined ? undefined : formatDuration(durationMs);
}

/** The payload of a request, where it has one: null is a payload. */
export function readPayload(given: { readonly payload?: unknown }): { readonly payload?: { readonly value: unknown } } {
  return Object.hasOwn(given, "payload") ? { payload: { value: given.payload } } : {};
}
