import type { Json } from "@carillon/contract";
import { fieldItem, fieldList, nameOf, ruleList, typeWords } from "./fields.js";
import { code, escaped, highlighted, type JsonMap, listOf, mapOf, text } from "./html.js";

interface Listed {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonMap;
}

type Group = readonly [tag: string, operations: readonly Listed[]];

/** Stands for the address under which the reader reaches the server. */
const originMark = "{origin}";

/** The OpenAPI document as a page, for a reader who reaches the server under any address. Without a script only the search is missing. */
export function docsPage(document: JsonMap): (origin: string) => string {
  const page = render(document);
  return (origin) => page.replaceAll(originMark, escaped(origin));
}

function render(document: JsonMap): string {
  const info = mapOf(document["info"]);
  const operations = Object.entries(mapOf(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(mapOf(methods)).map(([method, operation]) => ({ path, method, operation: mapOf(operation) })),
  );
  const schemas = mapOf(mapOf(document["components"])["schemas"]);
  const groups = byTag(operations);
  const tags = new Map(listOf(document["tags"]).map((one) => [text(mapOf(one)["name"]), mapOf(one)]));
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Carillon API</title>',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<link rel="stylesheet" href="/docs/style.css"><script src="/docs/script.js" defer></script></head><body>',
    '<a class="skip" href="#calls">Skip to the calls</a>',
    `<header class="bar"><a class="brand" href="#top">${bell}<b>Carillon</b> API <small>${text(info["version"])}</small></a>`,
    '<label class="search" hidden><span class="hidden">Search calls and fields</span>',
    '<input type="search" placeholder="Search" autocomplete="off" spellcheck="false"><kbd>/</kbd></label>',
    '<button class="menu" type="button" aria-expanded="false" aria-controls="nav" hidden>Calls</button></header>',
    `<nav id="nav" aria-label="Calls">${groups.map((group) => navGroup(group, schemas)).join("")}`,
    '<p class="none" hidden>No call has these words.</p>',
    '<a class="all" href="#formats">Formats of texts</a><a class="all" href="#schemas">All schemas</a></nav>',
    `<main id="top">${intro()}`,
    '<div id="calls">',
    ...groups.map((group) => groupSections(group, schemas, tags)),
    "</div>",
    formatSection(mapOf(document["x-carillon-formats"])),
    '<section id="schemas"><h2>Schemas</h2></section>',
    ...Object.entries(schemas).map(([name, schema]) => schemaSection(name, mapOf(schema), schemas)),
    "</main></body></html>\n",
  ].join("\n");
}

const bell =
  '<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path fill="currentColor" d="M12 2a2 2 0 0 0-2 2v.6A6 6 0 0 0 6 10v5l-2 2v1h16v-1l-2-2v-5a6 6 0 0 0-4-5.4V4a2 2 0 0 0-2-2Zm-2.500 17.500a2.500 2.500 0 0 0 5 0Z"/></svg>';

/** What holds for every call. */
function intro(): string {
  const notes = [
    [
      "Errors",
      'Every refusal is a <a href="#schema-Problem">problem document</a> (RFC 9457) with a stable <code>code</code>, and names each fault by its place.',
    ],
    [
      "Repeats",
      "Send an <code>Idempotency-Key</code> with a POST: the same request with the same key is done once and gets the same answer for 24 hours.",
    ],
    [
      "Changes",
      "A resource has a version, its <code>ETag</code>. With <code>If-Match</code> a change is refused if another caller was faster. A PATCH is a merge patch.",
    ],
    [
      "Lists",
      "Lists have <code>page_size</code> and <code>page_token</code>; the <code>next_page_token</code> of an answer continues with the same filter.",
    ],
    [
      "Names",
      "A job is named by its id or by <code>@</code> and its key. Field names of other systems, such as <code>cron_expression</code>, are accepted.",
    ],
    [
      "Addresses",
      "Verbs follow a colon, as in <code>:pause</code>; <code>/pause</code> works too. Addresses of jobs and runs also work without <code>/v1</code>, and <code>/task</code> means <code>/v1/jobs</code>.",
    ],
  ];
  return [
    '<section class="intro"><div class="text"><h1>Carillon API</h1>',
    "<p>Schedule jobs, enqueue runs, and see why each one runs or waits. Requests and answers are JSON.</p>",
    `<p class="base"><span>Server</span> <code class="origin">${originMark}</code></p>`,
    '<p><a href="/openapi.json">OpenAPI 3.1 document</a></p>',
    `</div><div class="code">${panel("A first job", "sh", curlText("POST", "/v1/jobs", '{\n  "task": "echo",\n  "payload": {\n    "hello": "world"\n  },\n  "schedule": {\n    "cron": "*/15 * * * *"\n  }\n}'))}</div></section>`,
    `<section class="notes">${notes.map(([head, body]) => `<div><h2>${head}</h2><p>${body}</p></div>`).join("")}</section>`,
  ].join("");
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

const idOfTag = (tag: string): string => `tag-${tag.toLowerCase().replaceAll(" ", "-")}`;

function navGroup([tag, operations]: Group, schemas: JsonMap): string {
  const items = operations.map((one) => navItem(one, schemas)).join("");
  return `<details><summary>${tag} <small>${operations.length}</small></summary><ul>${items}</ul></details>`;
}

function navItem({ path, method, operation }: Listed, schemas: JsonMap): string {
  const id = text(operation["operationId"]);
  const words = [path, id, ...listOf(operation["x-aliases"]), ...fieldNames(operation, schemas)].map(text).join(" ");
  return `<li data-words="${words.toLowerCase()}"><a href="#${id}">${methodMark(method)}<span>${text(operation["summary"])}</span></a></li>`;
}

/** The names of its parameters and of the fields of its body, for the search. */
function fieldNames(operation: JsonMap, schemas: JsonMap): readonly Json[] {
  const parameters = listOf(operation["parameters"]).map((one) => mapOf(one)["name"] ?? "");
  const body = nameOf(bodyOf(operation).schema);
  return [...parameters, ...Object.keys(mapOf(mapOf(schemas[body ?? ""])["properties"]))];
}

function groupSections([tag, operations]: Group, schemas: JsonMap, tags: ReadonlyMap<string, JsonMap>): string {
  const { description, "x-guide": guide } = tags.get(tag) ?? {};
  const about = `<p class="lead">${text(description)} <span>Guide ${code(text(guide))}</span></p>`;
  return `<h2 class="tag" id="${idOfTag(tag)}">${tag}</h2>${about}\n${operations.map((one) => operationSection(one, schemas)).join("\n")}`;
}

function operationSection(listed: Listed, schemas: JsonMap): string {
  const { path, method, operation } = listed;
  const id = text(operation["operationId"]);
  const answers = Object.entries(mapOf(operation["responses"]));
  const isProblem = ([, answer]: [string, Json]): boolean =>
    Object.keys(mapOf(mapOf(answer)["content"])).join() === "application/problem+json";
  return [
    `<section class="call" id="${id}"><div class="text"><h3><a href="#${id}">${text(operation["summary"])}</a></h3>`,
    `<p class="address">${methodMark(method)} <code>${pathMarks(path)}</code></p>`,
    `<p>${text(operation["description"])}</p>`,
    aliasLine(operation),
    ruleList(listOf(operation["x-carillon-rules"])),
    parameterLists(operation, schemas),
    bodyFields(operation, schemas),
    answerList(answers.filter((one) => !isProblem(one))),
    problems(answers.filter(isProblem)),
    `</div><div class="code">${requestPanel(listed)}${answers
      .filter((one) => !isProblem(one))
      .map(answerPanel)
      .join("")}</div></section>`,
  ].join("\n");
}

function methodMark(method: string): string {
  return `<span class="method ${method}">${method === "delete" ? "DEL" : method.toUpperCase()}</span>`;
}

const pathMarks = (path: string): string => escaped(path).replaceAll(/\{\w+\}/g, "<em>$&</em>");

function aliasLine(operation: JsonMap): string {
  const aliases = listOf(operation["x-aliases"]).map((path) => code(path));
  return aliases.length === 0 ? "" : `<p class="aliases">Also at ${aliases.join(" ")}</p>`;
}

const places = [
  ["path", "In the address"],
  ["query", "In the query"],
  ["header", "Headers"],
] as const;

function parameterLists(operation: JsonMap, schemas: JsonMap): string {
  const parameters = listOf(operation["parameters"]).map(mapOf);
  return places
    .map(([place, head]) => {
      const items = parameters.filter((one) => one["in"] === place).map((one) => parameterItem(one, schemas));
      if (items.length === 0) return "";
      const list = `<ul class="fields">${items.join("")}</ul>`;
      return place === "header" ? `<details><summary>${head}</summary>${list}</details>` : `<h4>${head}</h4>${list}`;
    })
    .join("");
}

function parameterItem(parameter: JsonMap, schemas: JsonMap): string {
  const isRequired = parameter["required"] === true;
  return fieldItem(text(parameter["name"]), mapOf(parameter["schema"]), { schemas, depth: 0, isRequired });
}

/** The schema and the example of the body; both empty when the call has none. */
function bodyOf(operation: JsonMap): { readonly schema: JsonMap; readonly example: Json | undefined } {
  const [content] = Object.values(mapOf(mapOf(operation["requestBody"])["content"])).map(mapOf);
  return { schema: mapOf(content?.["schema"]), example: content?.["example"] };
}

function bodyFields(operation: JsonMap, schemas: JsonMap): string {
  const { schema } = bodyOf(operation);
  const list = fieldList(schema, schemas);
  if (list === "") return "";
  const isRequired = mapOf(operation["requestBody"])["required"] === true;
  const name = nameOf(schema);
  const about = text(mapOf(schemas[name ?? ""])["description"]);
  return `<h4>Body ${isRequired ? "" : "<small>optional</small>"}</h4><p>${about}</p>${list}`;
}

function answerList(answers: readonly [string, Json][]): string {
  const items = answers.map(([status, answer]) => {
    const { description, content } = mapOf(answer);
    const [media] = Object.values(mapOf(content)).map(mapOf);
    const type = media === undefined ? "" : ` <span class="type">${typeWords(mapOf(media["schema"]))}</span>`;
    return `<li><p class="field"><span class="status">${status}</span>${type}</p><p class="about">${text(description)}</p></li>`;
  });
  return `<h4>Answers</h4><ul class="fields">${items.join("")}</ul>`;
}

/** Each code with its meaning: the document lists them in one text, and by name in x-codes. */
function problems(answers: readonly [string, Json][]): string {
  const items = answers.flatMap(([status, answer]) => {
    const { description, "x-codes": codes } = mapOf(answer);
    const meanings = text(description);
    return listOf(codes).map((name) => {
      const [, meaning = ""] = new RegExp(`${text(name)}: ([^.]*\\.)`).exec(meanings) ?? [];
      return `<li><span class="status bad">${status}</span> ${code(name)} ${meaning}</li>`;
    });
  });
  if (items.length === 0) return "";
  return `<details><summary>Problems</summary><ul class="problems">${items.join("")}</ul></details>`;
}

function requestPanel({ path, method, operation }: Listed): string {
  const { example } = bodyOf(operation);
  const body = example === undefined ? undefined : JSON.stringify(example, null, 2);
  const type = Object.keys(mapOf(mapOf(operation["requestBody"])["content"]))[0];
  return panel("Request", "sh", curlText(method.toUpperCase(), withExamples(path, operation), body, type));
}

function answerPanel([status, answer]: [string, Json]): string {
  const [media] = Object.values(mapOf(mapOf(answer)["content"])).map(mapOf);
  const example = media?.["example"];
  if (example === undefined) return "";
  const json = JSON.stringify(example, null, 2);
  return `<details class="answer"${status.startsWith("2") ? " open" : ""}><summary><span class="status">${status}</span> Example answer</summary><pre tabindex="0"><code>${highlighted(json)}</code></pre></details>`;
}

function panel(head: string, kind: string, content: string): string {
  return `<div class="panel"><p>${head}<button type="button" class="copy" hidden>Copy</button></p><pre tabindex="0"><code class="${kind}">${content}</code></pre></div>`;
}

/** The call as a curl command, with the examples of the document. */
function curlText(verb: string, path: string, body?: string, type = "application/json"): string {
  const follows = path === "/v1/events" ? "N" : "";
  const how = verb === "GET" ? "" : `-X ${verb} `;
  const sent =
    body === undefined
      ? ""
      : ` \\\n  -H ${escaped(quoted(`content-type: ${type}`))} \\\n  -d '${highlighted(body.replaceAll("'", String.raw`'\''`))}'`;
  return `<b>curl</b> -sS${follows} ${how}${originMark}${escaped(path)}${sent}`;
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

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

function formatSection(formats: JsonMap): string {
  const items = Object.entries(formats).map(([name, meaning]) => `<dt>${code(name)}</dt><dd>${text(meaning)}.</dd>`);
  return `<section id="formats"><h2>Formats of texts</h2><dl>${items.join("")}</dl></section>`;
}

function schemaSection(name: string, schema: JsonMap, schemas: JsonMap): string {
  const fields = fieldList(schema, schemas, 2);
  return `<section class="schema" id="schema-${escaped(name)}"><h3>${escaped(name)}</h3><p>${text(schema["description"])}</p>${fields}</section>`;
}
