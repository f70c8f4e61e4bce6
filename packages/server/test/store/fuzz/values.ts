import * as fc from "fast-check";
import { isValid, type SchemaNode } from "./from-document.js";
import { rightText } from "./texts.js";

/** How values are drawn for one request. */
export interface Draw {
  /** A value of an existing thing, for texts that name one; null: none is known. */
  readonly existing: (schema: SchemaNode) => string | null;
  /** The call waits as long as its durations say, so they are short. */
  readonly isShort: boolean;
}

const maxDepth = 6;

export function typeOf({ type }: SchemaNode): string | undefined {
  return typeof type === "string" ? type : type?.[0];
}

/** Values that are valid by the document, rules between members included. */
export function valid(schema: SchemaNode, draw: Draw, depth = 0): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (typeOf(schema)) {
    case "string":
      return text(schema, draw);
    case "integer":
      return fc.integer(range(schema, draw));
    case "number":
      return fc.double({ ...range(schema, draw), noNaN: true, noDefaultInfinity: true });
    case "boolean":
      return fc.boolean();
    case "array":
      return list(schema, draw, depth);
    case "object":
      return schema.properties === undefined ? record(schema, draw, depth) : object(schema, draw, depth);
    default:
      return anything;
  }
}

/** JSON that can be stored: no NUL, no halves of surrogate pairs, no numbers that lose digits. */
const anything = fc.constantFrom<unknown>(null, 0, "text", true, [1, "x", null], { a: { b: [1.5] } }, {});

function range({ minimum = 0, maximum = 1_000_000 }: SchemaNode, { isShort }: Draw): { min: number; max: number } {
  return { min: minimum, max: Math.max(minimum, Math.min(maximum, isShort ? 5 : maximum)) };
}

function text(schema: SchemaNode, draw: Draw): fc.Arbitrary<string> {
  if (draw.isShort && schema.format === "carillon-duration" && schema["x-minimum-duration"] === undefined)
    return fc.constantFrom("0s", "1ms", "5ms");
  const name = draw.existing(schema);
  const drawn = rightText(schema);
  return name === null ? drawn : fc.oneof({ weight: 9, arbitrary: fc.constant(name) }, drawn);
}

function list(schema: SchemaNode, draw: Draw, depth: number): fc.Arbitrary<unknown> {
  const { items = {}, minItems = 0, maxItems = 3 } = schema;
  const most = Math.min(maxItems, Math.max(minItems, depth > maxDepth ? 1 : 2));
  const drawn = fc.array(valid(items, draw, depth + 1), { minLength: minItems, maxLength: most });
  return bounded(drawn, (value) => isValid(schema, value));
}

function record(schema: SchemaNode, draw: Draw, depth: number): fc.Arbitrary<unknown> {
  const { propertyNames = { type: "string" }, additionalProperties } = schema;
  const member = typeof additionalProperties === "object" ? valid(additionalProperties, draw, depth + 1) : anything;
  const names = rightText({ type: "string", ...propertyNames });
  return fc.dictionary(names, member, { maxKeys: 2, noNullPrototype: true });
}

/** The members that one of the alternatives of a schema needs. */
function branches({ oneOf, anyOf, required = [] }: SchemaNode): (readonly string[])[] {
  const alternatives = [...(oneOf ?? []), ...(anyOf ?? [])].map((one) => one.required ?? []);
  return (alternatives.length === 0 ? [[]] : alternatives).map((more) => [...required, ...more]);
}

const maxTries = 200;

function object(schema: SchemaNode, draw: Draw, depth: number): fc.Arbitrary<unknown> {
  const { properties = {} } = schema;
  const names = Object.keys(properties).filter((name) => properties[name] !== false);
  const most = depth === 0 ? 4 : depth < 3 ? 2 : 1;
  const drawn = fc
    .tuple(fc.constantFrom(...branches(schema)), fc.subarray(names, { maxLength: Math.min(most, names.length) }))
    .chain(([needed, chosen]) => {
      const waiting = draw.isShort ? names.filter((name) => name === "wait_ms") : [];
      const members = [...new Set([...needed, ...chosen, ...waiting])].map((name) => {
        const property = properties[name];
        return [
          name,
          property === undefined || property === false ? anything : valid(property, draw, depth + 1),
        ] as const;
      });
      return fc.record(Object.fromEntries(members), { noNullPrototype: true });
    });
  return bounded(drawn, (value) => isValid(schema, value));
}

/** A filter that ends: a schema without values would otherwise be searched forever. */
function bounded<Value>(drawn: fc.Arbitrary<Value>, isRight: (value: Value) => boolean): fc.Arbitrary<Value> {
  let tries = 0;
  return drawn.filter((value) => {
    tries += 1;
    if (isRight(value)) {
      tries = 0;
      return true;
    }
    if (tries > maxTries) throw new Error(`No valid value was found, the last one was ${JSON.stringify(value)}`);
    return false;
  });
}
