import type { Json } from "@carillon/contract";

interface Listed {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonMap;
}

type Group = readonly [tag: string, operations: readonly Listed[]];

/** The OpenAPI document as a page: rendered on the server, so that it needs no script and no other host. */
export function docsPage(document: JsonMap): string {
  const info = mapOf(document["info"]);
  const operations = Object.entries(mapOf(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(mapOf(methods)).map(([method, operation]) => ({ path, method, operation: mapOf(operation) })),
  );
  const schemas = mapOf(mapOf(document["components"])["schemas"]);
  const groups = byTag(operations);
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Carillon API</title>',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<link rel="stylesheet" href="/docs/style.css"></head><body>',
    '<a class="skip" href="#calls">Skip to the calls</a>',
    `<nav aria-label="Calls"><p class="name"><a href="#top">Carillon API</a></p>${groups.map(navGroup).join("")}`,
    `${navSchemas(Object.keys(schemas))}</nav>`,
    `<main id="top"><header><h1>Carillon API</h1><p>Version ${text(info["version"])}. ${text(info["description"])}</p>`,
    '<p>For programs: <a href="/openapi.json">/openapi.json</a>. The curl commands use the default address of a server.</p></header>',
    '<div id="calls">',
    ...groups.map((group) => groupSections(group, schemas)),
    '</div><section id="schemas"><h2>Schemas</h2><p>Fields with * must be given.</p></section>',
    ...Object.entries(schemas).map(([name, schema]) => schemaSection(name, mapOf(schema))),
    "</main></body></html>\n",
  ].join("\n");
}

/** In the order of the document. */
function byTag(operations: readonly Listed[]): Group[] {
  const groups = new Map<string, Listed[]>();
  for (const one of operations) {
    const tag = text(listOf(one.operation["tags"])[0]);
    groups.set(tag, [...(groups.get(tag) ?? []), one]);
  }
  return [...groups];
}

function navGroup([tag, operations]: Group): string {
  return `<details><summary>${tag}</summary><ul>${operations.map(navItem).join("")}</ul></details>`;
}

function navItem({ path, method, operation }: Listed): string {
  const name = `${methodMark(method)} <code>${escaped(path)}</code>`;
  return `<li><a href="#${text(operation["operationId"])}" title="${text(operation["summary"])}">${name}</a></li>`;
}

function navSchemas(names: readonly string[]): string {
  const items = names.map((name) => `<li><a href="#schema-${escaped(name)}">${escaped(name)}</a></li>`);
  return `<details><summary>Schemas</summary><ul>${items.join("")}</ul></details>`;
}

function groupSections([tag, operations]: Group, schemas: JsonMap): string {
  return `<h2 id="tag-${tag.toLowerCase().replaceAll(" ", "-")}">${tag}</h2>\n${operations.map((one) => operationSection(one, schemas)).join("\n")}`;
}

function operationSection(listed: Listed, schemas: JsonMap): string {
  const { path, method, operation } = listed;
  const id = text(operation["operationId"]);
  const parameters = listOf(operation["parameters"]).map(mapOf);
  const body = mapOf(mapOf(operation["requestBody"])["content"]);
  const answers = Object.entries(mapOf(operation["responses"]));
  const isProblem = ([status]: [string, Json]): boolean => Number(status) >= 400;
  return [
    `<section id="${id}"><h3><a href="#${id}">${methodMark(method)} <code>${escaped(path)}</code></a></h3>`,
    `<p><strong>${text(operation["summary"])}.</strong> ${text(operation["description"])}</p>`,
    `<pre tabindex="0"><code>${escaped(curlLine(listed, schemas))}</code></pre>`,
    table("Parameters", ["name", "where", "type", ""], parameters.map(parameterRow)),
    Object.keys(body).length === 0 ? "" : `<p>Body: ${contentLinks(body)}</p>`,
    table("Answers", ["status", "body", ""], answers.filter((answer) => !isProblem(answer)).map(answerRow)),
    problems(answers.filter(isProblem)),
    "</section>",
  ].join("\n");
}

function methodMark(method: string): string {
  return `<span class="method ${method}">${method.toUpperCase()}</span>`;
}

function parameterRow(parameter: JsonMap): string[] {
  const schema = mapOf(parameter["schema"]);
  const name = `<code>${text(parameter["name"])}</code>${parameter["required"] === true ? " *" : ""}`;
  return [name, text(parameter["in"]), schemaLink(schema), text(schema["description"])];
}

function answerRow([status, answer]: [string, Json]): string[] {
  const { description, content } = mapOf(answer);
  return [status, contentLinks(mapOf(content)), text(description)];
}

/** The document lists them in one line: code, colon, meaning. */
function problems(answers: readonly [string, Json][]): string {
  const rows = answers.flatMap(([status, answer]) => {
    const meanings = text(mapOf(answer)["description"]).split("; ");
    return meanings.map((one) => {
      const at = one.indexOf(": ");
      return [status, `<code>${one.slice(0, at)}</code>`, one.slice(at + 2)];
    });
  });
  if (rows.length === 0) return "";
  const summary = `Problems: ${answers.map(([status]) => status).join(", ")}`;
  const shape = '<p>Each is a <a href="#schema-Problem">Problem</a>.</p>';
  return `<details><summary>${summary}</summary>${shape}${table("Problems", ["status", "code", ""], rows)}</details>`;
}

function contentLinks(content: JsonMap): string {
  return Object.entries(content)
    .map(([type, media]) => `${schemaLink(mapOf(mapOf(media)["schema"]))} <small>${escaped(type)}</small>`)
    .join(", ");
}

/** Longer enumerations are shown by their type only. */
const maxChoices = 16;

function schemaSection(name: string, schema: JsonMap): string {
  const fields = table("Fields", ["name", "type", ""], fieldRows(schema, ""));
  return `<section id="schema-${escaped(name)}"><h3>${escaped(name)}</h3><p>${text(schema["description"])}</p>${fields}</section>`;
}

/** Fields of an object without a name of its own follow it, named by their path. */
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

/** The type of a value in a few words, with a link if the schema has a name. */
function schemaLink(schema: JsonMap): string {
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
  if (words.length > 0 && words.length <= maxChoices) return words.join(", ");
  const types = listOf(type);
  return (types.length === 0 ? text(type ?? "any value") : types.map(text).join(" or ")) + bounds(schema);
}

function bounds({ minimum, maximum }: JsonMap): string {
  if (minimum === undefined && (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER)) return "";
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (most === undefined) return ` from ${text(minimum)}`;
  return minimum === undefined ? ` up to ${text(most)}` : ` ${text(minimum)} to ${text(most)}`;
}

const defaultAddress = "http://127.0.0.1:8023";

/** The call as a curl command, with the examples of the document. */
function curlLine({ path, method, operation }: Listed, schemas: JsonMap): string {
  const verb = method.toUpperCase();
  const how = verb === "GET" ? "" : `-X ${verb} `;
  const url = quotedIfNeeded(`${defaultAddress}${withExamples(path, operation)}`);
  const body = exampleBody(operation, schemas);
  const sent = body === undefined ? "" : ` \\\n  -H 'content-type: application/json' -d ${quoted(body)}`;
  const follows = path === "/v1/events" ? "N" : "";
  return `curl -sS${follows} ${how}${url}${sent}`;
}

function withExamples(path: string, operation: JsonMap): string {
  let filled = path;
  for (const parameter of listOf(operation["parameters"]).map(mapOf)) {
    if (parameter["in"] !== "path") continue;
    const { name } = parameter;
    const [example = name] = listOf(mapOf(parameter["schema"])["examples"]);
    if (typeof name === "string" && typeof example === "string") filled = filled.replace(`{${name}}`, example);
  }
  return filled;
}

/** Undefined when the call has no body, or the document has no example of it. */
function exampleBody(operation: JsonMap, schemas: JsonMap): string | undefined {
  const schema = mapOf(mapOf(mapOf(mapOf(operation["requestBody"])["content"])["application/json"])["schema"]);
  const reference = schema["$ref"];
  const named = typeof reference === "string" ? mapOf(schemas[reference.slice(reference.lastIndexOf("/") + 1)]) : {};
  const [example] = listOf(schema["examples"] ?? named["examples"]);
  return example === undefined ? undefined : JSON.stringify(example);
}

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
const quotedIfNeeded = (word: string): string => (/^[\w:/.@-]+$/.test(word) ? word : quoted(word));

type JsonMap = { readonly [name: string]: Json };

/** The cells are HTML. */
function table(caption: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const head = heads.map((one) => (one === "" ? "<td></td>" : `<th scope="col">${one}</th>`)).join("");
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
  return `<div class="wide"><table><caption>${caption}</caption><thead><tr>${head}</tr></thead><tbody>${lines.join("")}</tbody></table></div>`;
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

/** The style sheet of the docs page, at an address of its own because the page allows no inline styles. */
export const docsStyle = `:root {
  color-scheme: light dark;
  font: 16px/1.5 system-ui, sans-serif;
  --page: #fff; --side: #f6f7f9; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; --link: #0550ae; --box: #f1f3f5;
  --get: #0550ae; --post: #116329; --put: #7d4e00; --patch: #6639ba; --delete: #a40e26;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --side: #171c23; --ink: #e4e8ed; --soft: #9aa6b2; --line: #2f3742; --link: #79b8ff; --box: #1d242d;
    --get: #79b8ff; --post: #6fdd8b; --put: #e3b341; --patch: #d2a8ff; --delete: #ff9492;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 0.5rem; }
body { margin: 0; background: var(--page); color: var(--ink); }
a { color: var(--link); }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--page); padding: 0.5rem; z-index: 1; }
nav { background: var(--side); border-bottom: 1px solid var(--line); padding: 1rem; font-size: 0.875rem; }
nav .name { margin: 0 0 0.5rem; font-weight: 600; font-size: 1rem; }
nav a { text-decoration: none; }
nav a:hover, h3 a:hover { text-decoration: underline; }
nav ul { list-style: none; margin: 0.25rem 0 0.75rem; padding: 0; }
nav li { padding: 0.125rem 0; overflow-wrap: anywhere; }
main { padding: 1rem; max-width: 64rem; min-width: 0; }
h1 { margin: 0; }
h2 { margin: 3rem 0 0; }
h3 { margin: 0; font-size: 1.0625rem; overflow-wrap: anywhere; }
h3 a { color: inherit; text-decoration: none; }
section { border-top: 1px solid var(--line); margin-top: 1.25rem; padding-top: 1.25rem; }
section:target { border-top: 3px solid var(--link); }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
code { overflow-wrap: anywhere; }
pre { background: var(--box); padding: 0.75rem; border-radius: 0.375rem; overflow-x: auto; margin: 0.5rem 0; }
.method { font: 600 0.75rem/1 ui-monospace, monospace; color: var(--ink); }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); }
.patch { color: var(--patch); } .delete { color: var(--delete); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 0.75rem 0; font-size: 0.9375rem; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.125rem; }
th { text-align: left; font-weight: 400; color: var(--soft); font-size: 0.8125rem; }
th, td { border-bottom: 1px solid var(--line); padding: 0.25rem 0.75rem 0.25rem 0; vertical-align: top; }
summary { cursor: pointer; }
small { color: var(--soft); font-size: 0.8125rem; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 20rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); }
  main { padding: 1.5rem 2rem 4rem; }
}
@media (min-width: 40.01rem) {
  td:first-child code { white-space: nowrap; }
  td:last-child { width: 55%; }
}
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; border-bottom: 1px solid var(--line); padding: 0.375rem 0; }
  td { display: block; border: 0; padding: 0; }
}
`;
