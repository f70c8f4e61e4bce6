import type { Json } from "@carillon/contract";
import { escaped, type JsonMap, listOf, mapOf, table, text } from "./docs-html.js";

/** Enumerations longer than this are left to the document. */
const longestChoice = 16;

export function schemaSection(name: string, schema: JsonMap): string {
  const fields = table("Fields", ["name", "type", ""], fieldRows(schema, ""));
  return `<section id="schema-${escaped(name)}"><h3>${escaped(name)}</h3><p>${text(schema["description"])}</p>${fields}</section>`;
}

/** Fields of an object that has no name of its own stand below it, by their path. */
function fieldRows(schema: JsonMap, before: string): string[][] {
  const required = listOf(schema["required"]);
  return Object.entries(mapOf(schema["properties"])).flatMap(([field, json]) => {
    const property = mapOf(json);
    const path = `${before}${field}`;
    const name = `<code>${escaped(path)}</code>${required.includes(field) ? " *" : ""}`;
    const items = mapOf(property["items"]);
    const inner = items["properties"] === undefined ? fieldRows(property, `${path}.`) : fieldRows(items, `${path}[].`);
    return [[name, schemaLink(property), about(property)], ...inner];
  });
}

function about(schema: JsonMap): string {
  const { description, default: usual, examples } = schema;
  const [example] = listOf(examples);
  return [
    text(description),
    usual === undefined ? "" : `<small>default <code>${json(usual)}</code></small>`,
    example === undefined ? "" : `<small>such as <code>${json(example)}</code></small>`,
  ]
    .filter((part) => part !== "")
    .join(" ");
}

const json = (value: Json): string => escaped(JSON.stringify(value));

/** The kind of a value in a few words, with a link where it has a name. */
export function schemaLink(schema: JsonMap): string {
  const { $ref: reference, anyOf, items, type, const: only } = schema;
  if (typeof reference === "string") {
    const name = escaped(reference.slice(reference.lastIndexOf("/") + 1));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (anyOf !== undefined)
    return listOf(anyOf)
      .map((choice) => schemaLink(mapOf(choice)))
      .join(" or ");
  if (only !== undefined) return `<code>${json(only)}</code>`;
  if (items !== undefined) return `list of ${schemaLink(mapOf(items))}`;
  const words = listOf(schema["enum"]).map((word) => `<code>${text(word)}</code>`);
  if (words.length > 0 && words.length <= longestChoice) return words.join(", ");
  const types = listOf(type);
  return (types.length === 0 ? text(type ?? "any value") : types.map(text).join(" or ")) + bounds(schema);
}

function bounds({ minimum, maximum }: JsonMap): string {
  if (minimum === undefined && (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER)) return "";
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (most === undefined) return ` from ${text(minimum)}`;
  return minimum === undefined ? ` up to ${text(most)}` : ` ${text(minimum)} to ${text(most)}`;
}
