import type { Json } from "./schema-components.js";

/**
 * What callers may rely on, a line each: operations, their parameters, the schemas of what they take and give, and of every schema its
 * members, their types and their values. A line with ! says what must be given.
 */
export function apiSurface(document: { readonly [name: string]: Json }): string[] {
  const lines = new Set<string>();
  const taken = new Set<string>();
  const schemas = mapOf(mapOf(document["components"])["schemas"]);
  for (const [path, methods] of Object.entries(mapOf(document["paths"]))) {
    for (const [method, given] of Object.entries(mapOf(methods))) {
      describeOperation(`${method.toUpperCase()} ${path}`, mapOf(given), { lines, taken, schemas });
    }
  }
  for (const [name, schema] of Object.entries(schemas)) {
    describeSchema(name, schema, { lines, isTaken: taken.has(name) });
  }
  return [...lines].sort();
}

/** What of the promised lines no longer holds, and what callers must give that they did not have to. */
export function breachesOf(promised: readonly string[], present: readonly string[]): string[] {
  const [before, now] = [new Set(promised), new Set(present)];
  const subjects = new Set(promised.map(subjectOf));
  const gone = promised.filter((line) => !line.includes(" ! ") && !now.has(line));
  const asked = present.filter((line) => line.includes(" ! ") && !before.has(line) && subjects.has(subjectOf(line)));
  return [...gone.map((line) => `gone: ${line}`), ...asked.map((line) => `asked for: ${line}`)];
}

/** The operation or the schema that a line is about. */
function subjectOf(line: string): string {
  return line.split(/ [<>!] /, 1)[0] ?? line;
}

interface Sight {
  readonly lines: Set<string>;
  /** Schemas that requests use, directly or inside others. */
  readonly taken: Set<string>;
  readonly schemas: JsonMap;
}

type JsonMap = { readonly [name: string]: Json };

function describeOperation(name: string, operation: JsonMap, sight: Sight): void {
  const { lines } = sight;
  lines.add(name);
  for (const parameter of listOf(operation["parameters"]).map(mapOf)) {
    const what = `${textOf(parameter["in"])} ${textOf(parameter["name"])}`;
    describeValue(`${name} < ${what}`, parameter["schema"] ?? null, lines);
    if (parameter["required"] === true) lines.add(`${name} ! ${what}`);
  }
  const body = mapOf(operation["requestBody"]);
  for (const content of Object.values(mapOf(body["content"])).map(mapOf)) {
    describeValue(`${name} < body`, content["schema"] ?? null, lines);
    take(content["schema"] ?? null, sight);
  }
  if (body["required"] === true) lines.add(`${name} ! body`);
  for (const [status, answer] of Object.entries(mapOf(operation["responses"]))) {
    if (!status.startsWith("2")) continue;
    lines.add(`${name} > ${status}`);
    for (const content of Object.values(mapOf(mapOf(answer)["content"])).map(mapOf)) {
      describeValue(`${name} > ${status}`, content["schema"] ?? null, lines);
    }
  }
}

/** Marks the schemas that a request may hold. */
function take(node: Json, sight: Sight): void {
  for (const name of referencesIn(node)) {
    if (sight.taken.has(name)) continue;
    sight.taken.add(name);
    take(sight.schemas[name] ?? null, sight);
  }
}

function referencesIn(node: Json): string[] {
  if (isList(node)) return node.flatMap(referencesIn);
  if (typeof node !== "object" || node === null) return [];
  const own = typeof node["$ref"] === "string" ? [nameOf(node["$ref"])] : [];
  return [...own, ...Object.values(node).flatMap(referencesIn)];
}

function describeSchema(
  name: string,
  schema: Json,
  { lines, isTaken }: { lines: Set<string>; isTaken: boolean },
): void {
  describeValue(`${name} <`, schema, lines);
  if (!isTaken) return;
  for (const required of listOf(mapOf(schema)["required"])) lines.add(`${name} ! ${textOf(required)}`);
}

/** Types, values and members, down to the schemas that have names of their own. */
function describeValue(place: string, node: Json, lines: Set<string>): void {
  const schema = mapOf(node);
  if (typeof schema["$ref"] === "string") {
    lines.add(`${place} ${nameOf(schema["$ref"])}`);
    return;
  }
  const types = isList(schema["type"] ?? null) ? listOf(schema["type"]) : [schema["type"] ?? null];
  for (const type of types) if (typeof type === "string") lines.add(`${place} ${type}`);
  for (const value of listOf(schema["enum"])) lines.add(`${place} = ${JSON.stringify(value)}`);
  for (const choice of [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])]) describeValue(place, choice, lines);
  for (const [member, inner] of Object.entries(mapOf(schema["properties"]))) {
    describeValue(`${place}/${member}`, inner, lines);
  }
  if (schema["items"] !== undefined) describeValue(`${place}/*`, schema["items"], lines);
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function textOf(node: Json | undefined): string {
  return typeof node === "string" ? node : JSON.stringify(node ?? null);
}

function isList(node: Json): node is readonly Json[] {
  return Array.isArray(node);
}

function listOf(node: Json | undefined): readonly Json[] {
  return node !== undefined && isList(node) ? node : [];
}

function mapOf(node: Json | undefined): JsonMap {
  return typeof node === "object" && node !== null && !isList(node) ? node : {};
}
