import {
  CarillonError,
  type DurationMs,
  FIRST_INSTANT,
  formatDuration,
  type Instant,
  LAST_INSTANT,
  parseDuration,
  parseInstant,
} from "@carillon/core";
import type { RequestSchema } from "./check-value.js";
import { shown } from "./findings.js";

/** The schema of an option of the SDK: the same keywords as in requests, without a library behind them, so that the SDK stays small. */
export interface Option<Value> extends RequestSchema {
  /** Exists only in types: the values that the schema allows. */
  readonly accepts?: Value;
  readonly items?: Option<unknown>;
  readonly properties?: Readonly<Record<string, Option<unknown>>>;
  readonly additionalProperties?: boolean | Option<unknown>;
  /** The exported type of an object of options. */
  readonly title?: string;
  /** What to write in place of names that other systems have, by the name in lower case without dashes and underscores. */
  readonly hints?: OptionHints;
}

/** A text, or a function that makes it from the value. */
export type OptionHints = Readonly<Record<string, string | ((value: unknown) => string)>>;

/** Of an option that may not be left out. */
export interface RequiredMark {
  readonly isRequired: true;
}

type OptionFields = Readonly<Record<string, Option<unknown> & Partial<RequiredMark>>>;

/** The values that a schema allows. */
export type OptionValue<Schema> = Schema extends Option<infer Value> ? Value : never;

type RequiredName<Fields> = { [Name in keyof Fields]: Fields[Name] extends RequiredMark ? Name : never }[keyof Fields];

type ObjectValue<Fields> = {
  readonly [Name in Exclude<keyof Fields, RequiredName<Fields>>]?: OptionValue<Fields[Name]>;
} & { readonly [Name in RequiredName<Fields>]: OptionValue<Fields[Name]> };

type ObjectOption<Fields extends OptionFields> = Option<{
  [Name in keyof ObjectValue<Fields>]: ObjectValue<Fields>[Name];
}>;

type Annotations = Pick<Option<unknown>, "title" | "hints" | "check" | "examples">;

/** A point in time: a Date, RFC 3339 text such as "2026-11-12T09:30:00+01:00", or milliseconds since 1970 as of Date.now(). */
export type TimeInput = Date | string | number;

export interface DurationBounds {
  readonly minMs: DurationMs;
  readonly maxMs: DurationMs;
}

/** Constructors of schemas. Every option may be left out, except where `required` says otherwise. */
export const option = {
  text: (rules: Pick<RequestSchema, "minLength" | "maxLength" | "pattern" | "examples"> = {}): Option<string> => ({
    type: "string",
    ...rules,
  }),
  oneOf: <const Words extends readonly string[]>(words: Words): Option<Words[number]> => ({
    type: "string",
    enum: words,
  }),
  whole: (minimum: number, maximum = Number.MAX_SAFE_INTEGER): Option<number> => ({
    type: "integer",
    minimum,
    maximum,
  }),
  number: (minimum: number, maximum = Number.MAX_VALUE): Option<number> => ({ type: "number", minimum, maximum }),
  flag: { type: "boolean" } as Option<boolean>,
  always: { const: true } as Option<true>,
  anything: {} as Option<unknown>,
  duration: (example: string, bounds?: DurationBounds): Option<string> => ({
    type: "string",
    examples: [example],
    check: (value) => durationOf(String(value), bounds),
  }),
  time: { check: (value) => instantOf(value) } as Option<TimeInput>,
  /** Text without an offset is in the time zone of the schedule. */
  wallTime: { check: (value) => instantOf(value, "UTC") } as Option<TimeInput>,
  /** A function of any type: the compiler checks its parameters. */
  callable: <Value>(): Option<Value> => custom((value) => typeof value === "function", "a function"),
  custom,
  signal: custom<AbortSignal>(isSignal, "an AbortSignal"),
  list: <Item>(
    items: Option<Item>,
    rules: Pick<RequestSchema, "minItems" | "maxItems" | "examples"> = {},
  ): Option<readonly Item[]> => ({ type: "array", items, ...rules }),
  record: <Value>(
    additionalProperties: Option<Value>,
    rules: Pick<RequestSchema, "propertyNames" | "maxProperties" | "examples" | "check"> = {},
  ): Option<Readonly<Record<string, Value>>> => ({ type: "object", additionalProperties, ...rules }),
  object: <const Fields extends OptionFields>(
    properties: Fields,
    annotations: Annotations = {},
  ): ObjectOption<Fields> => {
    const required = Object.keys(properties).filter((name) => properties[name]?.isRequired === true);
    return { type: "object", properties, required, additionalProperties: false, ...annotations };
  },
  required: <Value>(schema: Option<Value>): Option<Value> & RequiredMark => ({ ...schema, isRequired: true }),
} as const;

/** By its shape: libraries bring signals of their own. */
function isSignal(value: unknown): boolean {
  return typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value;
}

/** A value that is recognised by a function; `kind` says what it must be. */
function custom<Value>(isValid: (value: unknown) => boolean, kind: string): Option<Value> {
  return {
    check: (value) => {
      if (!isValid(value)) throw new CarillonError("field_invalid", `Must be ${kind}, not ${shown(value)}.`);
    },
  };
}

function durationOf(text: string, bounds?: DurationBounds): DurationMs {
  const durationMs = parseDuration(text);
  if (bounds === undefined || (durationMs >= bounds.minMs && durationMs <= bounds.maxMs)) return durationMs;
  const { minMs, maxMs } = bounds;
  const range =
    minMs === 0 ? `at most ${formatDuration(maxMs)}` : `from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`;
  throw new CarillonError("duration_invalid", `Must be ${range}, not ${text}.`);
}

/** Numbers below this are seconds: as milliseconds they lie in 1973 or before. */
const minMilliseconds = 100_000_000_000;

/** Reads a point in time. With a zone, text may be a wall time without an offset. */
export function instantOf(value: unknown, zone?: string): Instant {
  if (typeof value === "string") return parseInstant(value, zone);
  if (value instanceof Date) return inRange(value.getTime(), value);
  if (typeof value !== "number") throw timeRefusal(value);
  if (value >= 0 && value < minMilliseconds) {
    const detail = `Is ${value}, which looks like seconds. Multiply it by 1000: a number counts milliseconds since 1970.`;
    throw new CarillonError("instant_invalid", detail);
  }
  return inRange(Math.trunc(value), value);
}

function inRange(instant: Instant, value: unknown): Instant {
  if (instant >= FIRST_INSTANT && instant <= LAST_INSTANT) return instant;
  throw timeRefusal(value);
}

function timeRefusal(value: unknown): CarillonError {
  const given = value instanceof Date ? "an invalid Date" : shown(value);
  const detail = `Must be a Date, text such as "2026-11-12T09:30:00+01:00", or milliseconds since 1970, not ${given}.`;
  return new CarillonError("instant_invalid", detail);
}
