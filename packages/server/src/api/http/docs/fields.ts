import type { Json } from "@carillon/contract";
import { code, escaped, type JsonMap, listOf, mapOf, text } from "./html.js";

type Schemas = JsonMap;

/** Deeper fields are shown in the section of their schema. */
const maxDepth = 3;

/** The fields of an object as a list, each with its type, default and meaning; the fields of its members are inside. */
export function fieldList(schema: JsonMap, schemas: Schemas, depth = 0): string {
  const { fields, rules } = resolved(schema, schemas);
  const required = listOf(fields["required"]);
  const rows = Object.entries(mapOf(fields["properties"])).map(([name, property]) =>
    fieldItem(name, mapOf(property), { schemas, depth, isRequired: required.includes(name) }),
  );
  return rows.length === 0 ? "" : `<ul class="fields">${rows.join("")}</ul>${ruleList(rules)}`;
}

function resolved(schema: JsonMap, schemas: Schemas): { readonly fields: JsonMap; readonly rules: readonly Json[] } {
  const name = nameOf(schema);
  const fields = name === null ? schema : mapOf(schemas[name]);
  return { fields, rules: listOf(fields["x-carillon-rules"]) };
}

/** The name of the schema that another one refers to. */
export function nameOf({ $ref: reference }: JsonMap): string | null {
  return typeof reference === "string" ? reference.slice(reference.lastIndexOf("/") + 1) : null;
}

interface Place {
  readonly schemas: Schemas;
  readonly depth: number;
  readonly isRequired: boolean;
}

export function fieldItem(name: string, property: JsonMap, { schemas, depth, isRequired }: Place): string {
  const inner = depth < maxDepth ? innerFields(property, schemas, depth) : "";
  const mark = isRequired ? '<b class="required">required</b>' : "";
  return [
    `<li><p class="field"><code>${escaped(name)}</code> <span class="type">${typeWords(property)}</span> ${mark}</p>`,
    `<p class="about">${meaning(property)}</p>`,
    inner === "" ? "" : `<details><summary>Fields of ${escaped(name)}</summary>${inner}</details>`,
    "</li>",
  ].join("");
}

/** The fields of a member that is an object, a list of objects, or null instead of one. */
function innerFields(property: JsonMap, schemas: Schemas, depth: number): string {
  const alternatives = [
    property,
    mapOf(property["items"]),
    mapOf(property["additionalProperties"]),
    ...listOf(property["anyOf"]).map(mapOf),
  ];
  for (const one of alternatives) {
    const own = nameOf(one) === null ? one : mapOf(schemas[nameOf(one) ?? ""]);
    if (own["properties"] !== undefined) return fieldList(one, schemas, depth + 1);
  }
  return "";
}

function meaning(schema: JsonMap): string {
  const { description, default: usual, examples, format } = schema;
  const [example] = listOf(examples);
  return [
    text(description),
    usual === undefined ? "" : `<span class="note">Default ${code(usual)}</span>`,
    limitsOf(schema),
    typeof example === "string" || typeof example === "number"
      ? `<span class="note">Example ${code(example)}</span>`
      : "",
    typeof format === "string" && format !== "uri" ? `<a class="note" href="#formats">${escaped(format)}</a>` : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}

function limitsOf(schema: JsonMap): string {
  const { minimum, maximum, maxLength, maxItems, maxProperties } = schema;
  const shortest = schema["x-minimum-duration"];
  const longest = schema["x-maximum-duration"];
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const notes = [
    range(minimum, most),
    range(shortest, longest),
    ...(schema["format"] === undefined && maxLength !== undefined ? [`up to ${text(maxLength)} characters`] : []),
    ...(maxItems === undefined ? [] : [`up to ${text(maxItems)} items`]),
    ...(maxProperties === undefined ? [] : [`up to ${text(maxProperties)} members`]),
  ].filter((note) => note !== "");
  return notes.map((note) => `<span class="note">${note}</span>`).join(" ");
}

function range(least: Json | undefined, most: Json | undefined): string {
  if (least === undefined && most === undefined) return "";
  if (most === undefined) return `from ${text(least)}`;
  return least === undefined ? `up to ${text(most)}` : `${text(least)} to ${text(most)}`;
}

/** Rules that JSON Schema cannot express, each with the code of its error. */
export function ruleList(rules: readonly Json[]): string {
  if (rules.length === 0) return "";
  const items = rules.map(mapOf).map(({ rule, code: name }) => `<li>${text(rule)} ${code(text(name))}</li>`);
  return `<details class="rules"><summary>Further rules</summary><ul>${[...new Set(items)].join("")}</ul></details>`;
}

/** Longer enumerations are shown by their type only. */
const maxChoices = 24;

/** The type of a value in a few words, with a link if the schema has a name. */
export function typeWords(schema: JsonMap): string {
  const { anyOf, items, type, const: only, additionalProperties } = schema;
  const name = nameOf(schema);
  if (name !== null) return `<a href="#schema-${escaped(name)}">${escaped(name)}</a>`;
  if (anyOf !== undefined && type === undefined)
    return listOf(anyOf)
      .map((choice) => typeWords(mapOf(choice)))
      .join(" or ");
  if (only !== undefined) return code(only);
  if (items !== undefined) return `list of ${typeWords(mapOf(items))}`;
  const words = listOf(schema["enum"]).map(code);
  if (words.length > 0 && words.length <= maxChoices) return words.join(" ");
  const values = mapOf(additionalProperties);
  if (Object.keys(values).length > 0) return `map to ${typeWords(values)}`;
  const types = listOf(type);
  return types.length === 0 ? text(type ?? "any JSON") : types.map(text).join(" or ");
}
