import { isObject, nearestWords, similarWord } from "@carillon/core";
import type { Static, TSchema } from "typebox";
import { patternWords } from "../bounds.js";
import { isReadByParser } from "../formats.js";
import { type Findings, pointerTo, shown } from "./findings.js";

type ValueType = "string" | "integer" | "number" | "boolean" | "object" | "array";

/**
 * The keywords of JSON Schema that schemas of requests may use: the ones that check-value understands. A test walks every
 * request schema, so that a keyword from outside this list cannot be published without being checked.
 */
export interface RequestSchema {
  /** With "null" it is a member that a merge patch can remove. */
  readonly type?: ValueType | readonly [ValueType, "null"];
  readonly examples?: readonly unknown[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: RequestSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, RequestSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | RequestSchema;
  readonly propertyNames?: RequestSchema;
  readonly maxProperties?: number;
  /** In options of the SDK only: throws a CarillonError for a value that the other keywords allow and that is wrong all the same. */
  readonly check?: (value: unknown) => unknown;
}

/** Records a more helpful fault than "unknown" for a field and returns true, or returns false. */
export type ExplainUnknown = (pointer: string, parent: string, name: string) => boolean;

interface Check {
  readonly findings: Findings;
  readonly explainUnknown?: ExplainUnknown;
}

/**
 * Checks a request against its published schema and returns its sound part: faulty members are left out and recorded, so
 * that the other members can still be checked for meaning. Understands the keywords of RequestSchema and no more.
 */
export function checkValue<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  check: Check,
): Static<Schema> | undefined {
  return soundPart(schema, value, "", check) as Static<Schema> | undefined;
}

/** As checkValue, for a schema that is not published. */
export function soundPart(schema: RequestSchema, value: unknown, pointer: string, check: Check): unknown {
  const fault = faultOf(schema, value);
  if (fault !== undefined) {
    check.findings.add(pointer, "field_invalid", fault);
    return undefined;
  }
  const { items, check: refuse } = schema;
  if (refuse !== undefined) check.findings.attempt(pointer, () => refuse(value));
  if (Array.isArray(value) && items !== undefined) {
    return value.map((item, index) => soundPart(items, item, pointerTo(pointer, index), check));
  }
  if (valueType(schema) === "object" && isObject(value)) return soundObject(schema, value, pointer, check);
  return value;
}

/**
 * Whether soundPart would record no fault. Makes no copy and no pointers, so that a call which is right, as nearly all are, pays
 * little for its check.
 */
export function isSound(schema: RequestSchema, value: unknown): boolean {
  if (faultOf(schema, value) !== undefined) return false;
  const { items, check } = schema;
  if (check !== undefined && !passes(check, value)) return false;
  if (Array.isArray(value) && items !== undefined) return value.every((item) => isSound(items, item));
  return valueType(schema) !== "object" || !isObject(value) || isSoundObject(schema, value);
}

function isSoundObject(schema: RequestSchema, value: Record<string, unknown>): boolean {
  const { properties = {}, required = [], propertyNames, additionalProperties } = schema;
  for (const name of required) if (value[name] === undefined) return false;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    if (propertyNames !== undefined && faultOf(propertyNames, name) !== undefined) return false;
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (typeof known === "object" ? !isSound(known, member) : known === false) return false;
  }
  return true;
}

function passes(check: NonNullable<RequestSchema["check"]>, value: unknown): boolean {
  try {
    check(value);
    return true;
  } catch {
    return false;
  }
}

function soundObject(schema: RequestSchema, value: Record<string, unknown>, pointer: string, check: Check): unknown {
  const properties = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name) || value[name] === undefined)
      check.findings.add(pointerTo(pointer, name), "field_missing", `${name} is required${hintOf(properties[name])}.`);
  }
  const sound: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (check.findings.isFull) break;
    // JSON has no such member; in options it means that the member is left out.
    if (member === undefined) continue;
    const where = pointerTo(pointer, name);
    const nameFault = schema.propertyNames && faultOf(schema.propertyNames, name);
    if (nameFault !== undefined) {
      check.findings.add(where, "field_invalid", `The name ${lowerFirst(nameFault)}`);
      continue;
    }
    const known = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
    if (known === undefined || typeof known === "boolean") {
      if (known === false)
        refuseUnknown({ pointer: where, parent: pointer, name, known: Object.keys(properties) }, check);
      else sound.push([name, member]);
      continue;
    }
    const part = soundPart(known, member, where, check);
    if (part !== undefined) sound.push([name, part]);
  }
  return Object.fromEntries(sound);
}

interface UnknownField {
  readonly pointer: string;
  readonly parent: string;
  readonly name: string;
  readonly known: readonly string[];
}

function refuseUnknown({ pointer, parent, name, known }: UnknownField, check: Check): void {
  if (check.explainUnknown?.(pointer, parent, name)) return;
  const meant = similarWord(name, known);
  const hint = meant === undefined ? othersThan(name, known) : `Did you mean ${meant}?`;
  check.findings.add(pointer, "unknown_field", `${shown(name)} is not a field. ${hint}`);
}

const maxNames = 3;

function othersThan(name: string, known: readonly string[]): string {
  if (known.length === 0) return "There are none here.";
  if (known.length <= maxNames) return `The fields here are ${known.join(", ")}.`;
  return `The nearest of the ${known.length} fields here are ${nearestWords(name, known, maxNames).join(", ")}.`;
}

/** What is wrong with the value itself, its members aside. */
function faultOf(schema: RequestSchema, value: unknown): string | undefined {
  const type = valueType(schema);
  if (value === null && isRemovable(schema)) return undefined;
  if (type !== undefined && !isOfType(type, value)) {
    return value === null
      ? `Must be ${typeWords[type]}. Leave it out instead of sending null.`
      : `Must be ${typeWords[type]}${exampleOf(schema)}, not ${shown(value)}.`;
  }
  if (schema.const !== undefined && value !== schema.const)
    return `Must be ${shown(schema.const)}, not ${shown(value)}.`;
  if (schema.enum !== undefined && !schema.enum.includes(value)) return notOneOf(schema.enum, value);
  if (typeof value === "string") return textFault(schema, value);
  if (typeof value === "number") return numberFault(schema, value);
  if (Array.isArray(value) && schema.minItems !== undefined && value.length < schema.minItems) {
    return `Has ${value.length} items; at least ${schema.minItems} ${schema.minItems === 1 ? "is" : "are"} needed.`;
  }
  if (Array.isArray(value) && schema.maxItems !== undefined && value.length > schema.maxItems) {
    return `Has ${value.length} items; at most ${schema.maxItems} are allowed.`;
  }
  if (isObject(value) && schema.maxProperties !== undefined && Object.keys(value).length > schema.maxProperties) {
    return `Has ${Object.keys(value).length} members; at most ${schema.maxProperties} are allowed.`;
  }
  return undefined;
}

/** The meaning of a missing field, with an example. */
function hintOf(schema: RequestSchema = {}): string {
  return schema.description === undefined
    ? ""
    : `: ${lowerFirst(schema.description)}${exampleOf(schema).replace(" such", ", such")}`;
}

const maxExampleLength = 100;

/** A caller who sends a number for a duration learns most from an example. */
function exampleOf({ examples = [] }: RequestSchema): string {
  const text = examples.length === 0 ? "" : JSON.stringify(examples[0]);
  return text === "" || text.length > maxExampleLength ? "" : ` such as ${text}`;
}

function valueType({ type }: RequestSchema): ValueType | undefined {
  return isPair(type) ? type[0] : type;
}

function isRemovable({ type }: RequestSchema): boolean {
  return isPair(type);
}

function isPair(type: RequestSchema["type"]): type is readonly [ValueType, "null"] {
  return Array.isArray(type);
}

const typeWords = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
} as const satisfies Record<ValueType, string>;

function isOfType(type: ValueType, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "number") return Number.isFinite(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  return typeof value === type;
}

/** An object with members of its own: not a date, a map or a promise, whose members would be none. */
function isRecord(value: unknown): boolean {
  if (!isObject(value)) return false;
  return (
    Object.getPrototypeOf(value) === Object.prototype || Object.prototype.toString.call(value) === "[object Object]"
  );
}

function notOneOf(words: readonly unknown[], value: unknown): string {
  const names = words.filter((word) => word !== null).map(String);
  const meant = typeof value === "string" ? similarWord(value, names) : undefined;
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  return `Must be ${names.length > 1 ? "one of " : ""}${names.join(", ")}, not ${shown(value)}.${hint}`;
}

function textFault(schema: RequestSchema, text: string): string | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  if (text.length < minLength) return "Must not be empty.";
  const length = text.length <= maxLength ? text.length : Array.from(text).length;
  if (length > maxLength) return `Is ${length} characters long; at most ${maxLength} are allowed.`;
  if (pattern !== undefined && !isReadByParser(format) && !compiled(pattern).test(text)) {
    return `Must be ${patternWords.get(pattern) ?? `of the form ${pattern}`}, not ${shown(text)}.`;
  }
  return undefined;
}

function numberFault({ minimum, maximum }: RequestSchema, value: number): string | undefined {
  if (minimum !== undefined && value < minimum) return `Must be at least ${minimum}, not ${shown(value)}.`;
  if (maximum !== undefined && value > maximum) return `Must be at most ${maximum}, not ${shown(value)}.`;
  return undefined;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const patterns = new Map<string, RegExp>();

/** Patterns come from the schemas of this package, so there are few. */
function compiled(pattern: string): RegExp {
  const known = patterns.get(pattern) ?? new RegExp(pattern, "u");
  patterns.set(pattern, known);
  return known;
}
