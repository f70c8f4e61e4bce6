import { type JsonMap, listOf, mapOf } from "./docs-html.js";

const usualAddress = "http://127.0.0.1:8023";

interface Listed {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonMap;
}

/** The call as somebody types it, with the examples that the document has. */
export function curlLine({ path, method, operation }: Listed, schemas: JsonMap): string {
  const verb = method.toUpperCase();
  const how = verb === "GET" ? "" : `-X ${verb} `;
  const url = quotedIfNeeded(`${usualAddress}${withExamples(path, operation)}`);
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

/** Undefined where nothing has to be sent, or no example is there. */
function exampleBody(operation: JsonMap, schemas: JsonMap): string | undefined {
  const schema = mapOf(mapOf(mapOf(mapOf(operation["requestBody"])["content"])["application/json"])["schema"]);
  const reference = schema["$ref"];
  const named = typeof reference === "string" ? mapOf(schemas[reference.slice(reference.lastIndexOf("/") + 1)]) : {};
  const [example] = listOf(schema["examples"] ?? named["examples"]);
  return example === undefined ? undefined : JSON.stringify(example);
}

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
const quotedIfNeeded = (word: string): string => (/^[\w:/.@-]+$/.test(word) ? word : quoted(word));
