import type { Json } from "@carillon/contract";
import { curlLine } from "./docs-curl.js";
import { escaped, type JsonMap, listOf, mapOf, table, text } from "./docs-html.js";
import { schemaLink, schemaSection } from "./docs-schemas.js";

interface Listed {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonMap;
}

type Group = readonly [tag: string, operations: readonly Listed[]];

/** The API's document as a page: rendered here, so that it needs no script, no outside host and no network but our own. */
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
    '<a class="skip" href="#calls">To the calls</a>',
    `<nav aria-label="Calls"><p class="name"><a href="#top">Carillon API</a></p>${groups.map(navGroup).join("")}`,
    `${navSchemas(Object.keys(schemas))}</nav>`,
    `<main id="top"><header><h1>Carillon API</h1><p>Version ${text(info["version"])}. ${text(info["description"])}</p>`,
    '<p>The same for programs: <a href="/openapi.json">/openapi.json</a>. The lines for curl are as for a server at its usual address.</p></header>',
    '<div id="calls">',
    ...groups.map((group) => groupSections(group, schemas)),
    '</div><section id="schemas"><h2>Schemas</h2><p>Fields with * must be given.</p></section>',
    ...Object.entries(schemas).map(([name, schema]) => schemaSection(name, mapOf(schema))),
    "</main></body></html>\n",
  ].join("\n");
}

/** In the order in which the document has them. */
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

/** The document names them in one line: code, colon, what it means. */
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
