// What callers of the API may rely on, read from the OpenAPI document.

/**
 * Lists what callers may rely on, one line each: operations, their parameters, the schemas of requests and answers, and the members,
 * types and values of every schema. A line with ! names a member that is required.
 */
export function apiSurface(document) {
  /** @type {Set<string>} */
  const lines = new Set();
  const requested = new Set();
  const schemas = mapOf(mapOf(document["components"])["schemas"]);
  for (const [path, methods] of Object.entries(mapOf(document["paths"]))) {
    for (const [method, given] of Object.entries(mapOf(methods))) {
      describeOperation(`${method.toUpperCase()} ${path}`, mapOf(given), { lines, requested, schemas });
    }
  }
  for (const [name, schema] of Object.entries(schemas)) {
    describeSchema(name, schema, { lines, isRequested: requested.has(name) });
  }
  return [...lines].sort();
}

/** The promised lines that are missing, and members that became required. */
export function breachesOf(promised, present) {
  const [before, now] = [new Set(promised), new Set(present)];
  const subjects = new Set(promised.map(subjectOf));
  const removed = promised.filter((line) => !line.includes(" ! ") && !now.has(line));
  const required = present.filter((line) => line.includes(" ! ") && !before.has(line) && subjects.has(subjectOf(line)));
  return [...removed.map((line) => `removed: ${line}`), ...required.map((line) => `now required: ${line}`)];
}

/** The operation or the schema that a line is about. */
function subjectOf(line) {
  return line.split(/ [<>!] /, 1)[0] ?? line;
}

/**
 * @typedef {{ lines: Set<string>, requested: Set<string>, schemas: Record<string, unknown> }} Surface `requested` names the schemas that
 * requests use, directly or inside others.
 */

/** @param {Surface} surface */
function describeOperation(name, operation, surface) {
  const { lines } = surface;
  lines.add(name);
  for (const parameter of listOf(operation["parameters"]).map(mapOf)) {
    const what = `${textOf(parameter["in"])} ${textOf(parameter["name"])}`;
    describeValue(`${name} < ${what}`, parameter["schema"] ?? null, lines);
    if (parameter["required"] === true) lines.add(`${name} ! ${what}`);
  }
  const body = mapOf(operation["requestBody"]);
  for (const content of Object.values(mapOf(body["content"])).map(mapOf)) {
    describeValue(`${name} < body`, content["schema"] ?? null, lines);
    markRequested(content["schema"] ?? null, surface);
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
function markRequested(node, surface) {
  for (const name of referencesIn(node)) {
    if (surface.requested.has(name)) continue;
    surface.requested.add(name);
    markRequested(surface.schemas[name] ?? null, surface);
  }
}

function referencesIn(node) {
  if (Array.isArray(node)) return node.flatMap(referencesIn);
  if (typeof node !== "object" || node === null) return [];
  const own = typeof node["$ref"] === "string" ? [nameOf(node["$ref"])] : [];
  return [...own, ...Object.values(node).flatMap(referencesIn)];
}

function describeSchema(name, schema, { lines, isRequested }) {
  describeValue(`${name} <`, schema, lines);
  if (!isRequested) return;
  for (const required of listOf(mapOf(schema)["required"])) lines.add(`${name} ! ${textOf(required)}`);
}

/** Types, values and members, down to the schemas that have names of their own. */
function describeValue(place, node, lines) {
  const schema = mapOf(node);
  if (typeof schema["$ref"] === "string") {
    lines.add(`${place} ${nameOf(schema["$ref"])}`);
    return;
  }
  const types = Array.isArray(schema["type"] ?? null) ? listOf(schema["type"]) : [schema["type"] ?? null];
  for (const type of types) if (typeof type === "string") lines.add(`${place} ${type}`);
  for (const value of listOf(schema["enum"])) lines.add(`${place} = ${JSON.stringify(value)}`);
  for (const choice of [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])]) describeValue(place, choice, lines);
  for (const [member, inner] of Object.entries(mapOf(schema["properties"]))) {
    describeValue(`${place}/${member}`, inner, lines);
  }
  if (schema["items"] !== undefined) describeValue(`${place}/*`, schema["items"], lines);
}

function nameOf(reference) {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function textOf(node) {
  return typeof node === "string" ? node : JSON.stringify(node ?? null);
}

function listOf(node) {
  return Array.isArray(node) ? node : [];
}

function mapOf(node) {
  return typeof node === "object" && node !== null && !Array.isArray(node) ? node : {};
}
