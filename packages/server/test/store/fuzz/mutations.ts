import { isValid, type DocumentedParameter, type SchemaNode } from "./from-document.js";
import { wrongTexts } from "./texts.js";
import { typeOf } from "./values.js";

/** A value that the document refuses, and the place of its one fault as a JSON pointer. */
export interface Mutant {
  readonly kind: string;
  readonly pointer: string;
  readonly value: unknown;
  /** The fault is in an item that is refused by itself, in the result with this number. */
  readonly itemOf?: number;
}

interface Place {
  readonly pointer: string;
  readonly schema: SchemaNode;
  readonly value: unknown;
  /** The whole body with another value here. */
  readonly put: (value: unknown) => unknown;
  readonly itemOf?: number;
}

const maxPlaces = 40;

function* placesIn(place: Place): Generator<Place> {
  yield place;
  const { schema, value, pointer, put } = place;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      yield* placesIn({
        pointer: `${pointer}/${index}`,
        schema: schema.items ?? {},
        value: item,
        put: (other) => put(value.with(index, other)),
        ...(schema["x-each-by-itself"] === true
          ? { itemOf: index }
          : place.itemOf !== undefined && { itemOf: place.itemOf }),
      });
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const own = schema.properties?.[name] ?? schema.additionalProperties;
      if (typeof own !== "object") continue;
      yield* placesIn({
        ...place,
        pointer: `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
        schema: own,
        value: member,
        put: (other) => put({ ...value, [name]: other }),
      });
    }
  }
}

interface Fault {
  readonly kind: string;
  readonly value: unknown;
  /** From the place on, where the fault is in a member. */
  readonly inside?: string;
}

const otherTypes: readonly unknown[] = [null, true, 7, "text", [], {}];

function allowsType({ type }: SchemaNode, value: unknown): boolean {
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const allowed = Array.isArray(type) ? type : [type];
  return allowed.some((one) => one === kind || (kind === "number" && (one === "number" || one === "integer")));
}

/** One fault of each kind that the schema of a place knows. */
function* faultsOf({ schema, value }: Place): Generator<Fault> {
  const { type, minimum, maximum, maxItems, minItems, items, required = [], additionalProperties, properties } = schema;
  if (type !== undefined) {
    for (const other of otherTypes) if (!allowsType(schema, other)) yield { kind: "type", value: other };
  }
  if (schema.enum !== undefined)
    yield { kind: "enum", value: typeof schema.enum[0] === "string" ? "nothing-such" : 4_711 };
  if (typeOf(schema) === "integer") yield { kind: "type", value: 1.5 };
  if (minimum !== undefined) yield { kind: "range", value: minimum - 1 };
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) yield { kind: "range", value: maximum + 1 };
  if (typeOf(schema) === "string" && schema.enum === undefined)
    for (const { kind, text } of wrongTexts(schema)) yield { kind, value: text };
  if (Array.isArray(value)) {
    if ((minItems ?? 0) > 0) yield { kind: "range", value: [] };
    if (maxItems !== undefined && maxItems <= 1_000 && value.length > 0)
      yield { kind: "range", value: Array.from({ length: maxItems + 1 }, () => value[0]) };
    if (items?.type !== undefined)
      yield { kind: "type", value: [...value, typeOf(items) === "number" ? "x" : 0.5], inside: `/${value.length}` };
  } else if (typeof value === "object" && value !== null && properties !== undefined) {
    for (const name of required) {
      const { [name]: _, ...rest } = value as Record<string, unknown>;
      yield { kind: "required", value: rest, inside: `/${name}` };
    }
    if (additionalProperties === false)
      yield { kind: "unknown", value: { ...value, surprise: 1 }, inside: "/surprise" };
    yield* ruleFaults(schema, value);
  }
}

/** Another member, which a rule between members forbids beside the present ones, or the lack of one that it needs. */
function* ruleFaults(schema: SchemaNode, value: object): Generator<Fault> {
  if (schema.allOf === undefined && schema.anyOf === undefined && schema.oneOf === undefined) return;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (name in value) {
      const { [name]: _, ...rest } = value as Record<string, unknown>;
      yield { kind: "rule", value: rest };
    } else if (property !== false) {
      const [example = property.enum?.[0] ?? property.const ?? (typeOf(property) === "integer" ? 1 : undefined)] =
        property.examples ?? [];
      if (example !== undefined && isValid(property, example))
        yield { kind: "rule", value: { ...value, [name]: example } };
    }
  }
}

/** Formats are not part of the validator: their wrong texts are wrong by the words of the document. */
const byWords = new Set(["format", "range"]);

/** The bodies with one fault each that are near a valid one. */
export function mutantsOf(schema: SchemaNode, body: unknown): Mutant[] {
  const places = [...placesIn({ pointer: "", schema, value: body, put: (value) => value })].slice(0, maxPlaces);
  return places.flatMap((place) =>
    [...faultsOf(place)].flatMap(({ kind, value, inside = "" }) => {
      const whole = place.put(value);
      if (isValid(schema, whole) && !(byWords.has(kind) && place.schema.format !== undefined)) return [];
      const { pointer, itemOf } = place;
      return [{ kind, pointer: `${pointer}${inside}`, value: whole, ...(itemOf !== undefined && { itemOf }) }];
    }),
  );
}

/** Wrong texts for a parameter, as they stand in an address or a header. */
export function wrongParameters({ schema, in: place }: DocumentedParameter): { kind: string; text: string }[] {
  if (schema.enum !== undefined) return [{ kind: "enum", text: "nothing-such" }];
  if (typeOf(schema) === "integer" || typeOf(schema) === "number") {
    const below = schema.minimum === undefined ? [] : [{ kind: "range", text: String(schema.minimum - 1) }];
    const above = schema.maximum === undefined ? [] : [{ kind: "range", text: String(schema.maximum + 1) }];
    return [...below, ...above, { kind: "type", text: "many" }, { kind: "type", text: "1.5" }];
  }
  if (typeOf(schema) !== "string") return [];
  // A path with an empty part is another address, and a header holds only printable ASCII.
  const isSendable = (text: string): boolean =>
    place === "query" ||
    (place === "path" ? text !== "" && text !== ".." : /^[!-~][ -~]*$/.test(text) && text.length < 4_000);
  return wrongTexts(schema).filter(({ text }) => isSendable(text) && text.length < 4_000);
}
