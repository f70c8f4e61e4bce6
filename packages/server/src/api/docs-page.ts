import type { Json } from "@carillon/contract";

type JsonMap = { readonly [name: string]: Json };

/** The API's document as a page: rendered here, so that it needs no script, no outside host and no network but our own. */
export function docsPage(document: JsonMap): string {
  const info = mapOf(document["info"]);
  const operations = Object.entries(mapOf(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(mapOf(methods)).map(([method, operation]) => ({ path, method, operation: mapOf(operation) })),
  );
  const schemas = Object.entries(mapOf(mapOf(document["components"])["schemas"]));
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Carillon API</title>',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<link rel="stylesheet" href="/docs/style.css"></head><body>',
    `<header><h1>Carillon API</h1><p>Version ${text(info["version"])}. ${text(info["description"])}</p>`,
    '<p>The same for programs: <a href="/openapi.json">/openapi.json</a></p></header><main>',
    `<nav aria-label="Operations">${byTag(operations).map(navGroup).join("")}</nav>`,
    ...operations.map(operationSection),
    "<h2>Schemas</h2>",
    ...schemas.map(([name, schema]) => schemaSection(name, mapOf(schema))),
    "</main></body></html>\n",
  ].join("\n");
}

interface Listed {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonMap;
}

/** In the order in which the document has them. */
function byTag(operations: readonly Listed[]): [tag: string, operations: readonly Listed[]][] {
  const groups = new Map<string, Listed[]>();
  for (const one of operations) {
    const tag = text(listOf(one.operation["tags"])[0]);
    groups.set(tag, [...(groups.get(tag) ?? []), one]);
  }
  return [...groups];
}

function navGroup([tag, operations]: [tag: string, operations: readonly Listed[]]): string {
  return `<h2>${tag}</h2><ul>${operations.map(navItem).join("")}</ul>`;
}

function navItem({ path, method, operation }: Listed): string {
  return `<li><a href="#${text(operation["operationId"])}"><code>${method.toUpperCase()} ${escaped(path)}</code></a> ${text(operation["summary"])}</li>`;
}

function operationSection({ path, method, operation }: Listed): string {
  const parameters = listOf(operation["parameters"]).map(mapOf);
  const body = mapOf(operation["requestBody"])["content"];
  return [
    `<section id="${text(operation["operationId"])}"><h2><code>${method.toUpperCase()} ${escaped(path)}</code></h2>`,
    `<p>${text(operation["summary"])}. ${text(operation["description"])}</p>`,
    table("Parameters", parameters.map(parameterRow)),
    body === undefined ? "" : `<p>Body: ${contentLinks(mapOf(body))}</p>`,
    table("Answers", Object.entries(mapOf(operation["responses"])).map(answerRow)),
    "</section>",
  ].join("\n");
}

function parameterRow(parameter: JsonMap): string[] {
  const where = `${text(parameter["in"])}${parameter["required"] === true ? ", required" : ""}`;
  return [`<code>${text(parameter["name"])}</code>`, where, text(mapOf(parameter["schema"])["description"])];
}

function answerRow([status, answer]: [string, Json]): string[] {
  const { description, content } = mapOf(answer);
  return [status, contentLinks(mapOf(content)), text(description)];
}

function contentLinks(content: JsonMap): string {
  return Object.entries(content)
    .map(([type, media]) => `${schemaLink(mapOf(mapOf(media)["schema"]))} <small>${escaped(type)}</small>`)
    .join(", ");
}

function schemaSection(name: string, schema: JsonMap): string {
  const required = listOf(schema["required"]);
  const rows = Object.entries(mapOf(schema["properties"])).map(([field, property]) => [
    `<code>${escaped(field)}</code>${required.includes(field) ? " *" : ""}`,
    schemaLink(mapOf(property)),
    text(mapOf(property)["description"]),
  ]);
  return `<section id="schema-${escaped(name)}"><h3>${escaped(name)}</h3><p>${text(schema["description"])}</p>${table("Fields", rows)}</section>`;
}

/** The kind of a value in a few words, with a link where it has a name. */
function schemaLink(schema: JsonMap): string {
  const { $ref: reference, anyOf, items, type } = schema;
  if (typeof reference === "string") {
    const name = escaped(reference.slice(reference.lastIndexOf("/") + 1));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (anyOf !== undefined)
    return listOf(anyOf)
      .map((choice) => schemaLink(mapOf(choice)))
      .join(" or ");
  if (items !== undefined) return `list of ${schemaLink(mapOf(items))}`;
  const words = listOf(schema["enum"]).map((word) => `<code>${text(word)}</code>`);
  return words.length > 0 && words.length <= 12 ? words.join(", ") : text(type ?? "any value");
}

function table(caption: string, rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
  return `<table><caption>${caption}</caption><tbody>${lines.join("")}</tbody></table>`;
}

function mapOf(value: Json | undefined): JsonMap {
  return typeof value === "object" && value !== null && !isList(value) ? value : {};
}

function listOf(value: Json | undefined): readonly Json[] {
  return value !== undefined && isList(value) ? value : [];
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function text(value: Json | undefined): string {
  return value === undefined || value === null
    ? ""
    : escaped(typeof value === "string" ? value : JSON.stringify(value));
}

function escaped(raw: string): string {
  return raw.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
