import { errorCatalogue, type ErrorCode, namespaceNamePattern } from "@carillon/core";
import type { TObject, TSchema } from "typebox";
import { etagPattern, idempotencyKeyPattern, limits } from "../bounds.js";
import { textFormats } from "../formats.js";
import { type Answer, errorsOf, type Operation, quotaClassOf, takesIdempotencyKey } from "../operation.js";
import { operations } from "../operations.js";
import { exampleOf } from "./example.js";
import { tags } from "./tags.js";
import { Problem } from "../resources/problem.js";
import { pathSpellings } from "../spellings/table.js";

/** A response of the document. */
interface ResponseJson {
  readonly [name: string]: Json;
  readonly description: string;
  readonly headers: { readonly [name: string]: Json };
  readonly content: { readonly [type: string]: Json };
}

/** OpenAPI 3.1 of the declared operations: a pure function of the contract, so the committed file can be compared with it. */
export function openApiDocument(version: string): { readonly [name: string]: Json } {
  const components = new SchemaComponents();
  const paths: Record<string, Record<string, Json>> = {};
  const declared: readonly (readonly [string, Operation])[] = Object.entries(operations);
  for (const [id, operation] of declared) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describeOperation(id, operation, components);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Carillon",
      version,
      description: "A distributed job scheduler. Errors are RFC 9457 problem documents with a stable code.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set(declared.map(([, operation]) => operation.tag))].map(describeTag),
    paths,
    components: { schemas: components.toJson(), headers: quotaHeaders },
    "x-carillon-formats": textFormats,
  };
}

function describeTag(name: string): Json {
  const tag = tags[name];
  if (tag === undefined) throw new Error(`The tag ${name} has no description.`);
  return { name, description: tag.description, "x-guide": tag.guide };
}

/** The other addresses of a call: ours without the version, and those of other systems. */
function aliasesOf({ method, path, aliases = [] }: Operation): string[] {
  const spellings = pathSpellings.filter((spelling) => spelling.method === method && spelling.ours === path);
  return [...aliases.map((alias) => alias.path), ...spellings.map(({ theirs }) => theirs)];
}

function describeOperation(id: string, operation: Operation, components: SchemaComponents): Json {
  const { body, description, bodyOptional = false, conditional = false, streams = false, lines } = operation;
  const aliases = aliasesOf(operation);
  return {
    operationId: id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(description !== undefined && { description }),
    ...(aliases.length > 0 && { "x-aliases": aliases }),
    "x-permission": operation.permission,
    "x-rate-class": operation.rateClass,
    ...(operation.waits === true && { "x-waits": true }),
    ...(operation.rateClass === "none" && { "x-ignores-unknown-parameters": true }),
    ...(operation.rules !== undefined && { "x-carillon-rules": operation.rules.map((one) => ({ ...one })) }),
    parameters: [
      ...parameters("path", operation.params, components),
      ...parameters("query", operation.query, components),
      ...(operation.rateClass === "none" ? [] : [namespace]),
      ...(conditional ? [ifMatch] : []),
      ...(takesIdempotencyKey(operation) ? [idempotencyKey] : []),
      ...(streams ? [lastEventId] : []),
    ],
    ...(body !== undefined && {
      requestBody: { required: !bodyOptional, content: bodyContent(operation, body, components) },
    }),
    ...(lines !== undefined && {
      requestBody: {
        required: true,
        description: "One on each line",
        content: { "application/x-ndjson": { schema: components.reference(lines) } },
      },
    }),
    responses: responses(operation, components),
  };
}

/** A change is a merge patch (RFC 7396), which has a type of its own. */
function bodyContent({ method }: Operation, body: TObject, components: SchemaComponents): Json {
  const schema = components.reference(body);
  const types = method === "PATCH" ? ["application/merge-patch+json", "application/json"] : ["application/json"];
  return Object.fromEntries(types.map((type) => [type, { schema, example: jsonOf(exampleOf(body)) }]));
}

const namespace: Json = {
  name: "Carillon-Namespace",
  in: "header",
  required: false,
  schema: {
    type: "string",
    pattern: namespaceNamePattern,
    description: "The namespace of the call; by default the server's own, usually default",
    examples: ["billing"],
  },
};

const ifMatch: Json = {
  name: "If-Match",
  in: "header",
  required: false,
  schema: {
    type: "string",
    pattern: etagPattern,
    description:
      "The ETag of the version that the change is based on. The call is refused with 412 if the resource has another version",
    examples: ['"v7"'],
  },
};

const idempotencyKey: Json = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  "x-carillon-rules": [
    { code: "idempotency_key_reused", rule: "Within 24 hours the key goes only with the same request" },
  ],
  schema: {
    type: "string",
    minLength: 1,
    maxLength: limits.idempotencyKeyLength,
    pattern: idempotencyKeyPattern,
    description:
      "Identifies this call for 24 hours. The same request with the same key gets the first answer and changes nothing; " +
      "another request with it is refused with 422, and any request is refused with 409 while the first is in progress",
    examples: ["8e03978e-40d5-43e8-bc93-6894a57f9324"],
  },
};

const lastEventId: Json = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  schema: { type: "string", description: "The id of the last event that was received" },
};

function parameters(place: "path" | "query", schema: TObject | undefined, components: SchemaComponents): Json[] {
  const required: readonly string[] = schema?.required ?? [];
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    ...(isRecord(property)
      ? { style: "form", explode: true, schema: prefixed(name, components.reference(property)) }
      : { schema: components.reference(property) }),
  }));
}

function isRecord(property: object): boolean {
  return "propertyNames" in property;
}

/** A record is sent as one parameter for each member, named by the record, a dot and the member. */
function prefixed(name: string, schema: Json): Json {
  const { examples: _, propertyNames, ...rest } = schema as Readonly<Record<string, Json>>;
  const { pattern, minLength: _least, maxLength: _most, ...names } = propertyNames as Readonly<Record<string, Json>>;
  const shape = typeof pattern === "string" ? pattern.replace("^", `^${name}\\.`) : `^${name}\\.`;
  return { ...rest, propertyNames: { ...names, pattern: shape } };
}

/** One status may be both an answer and a problem: /readyz answers 503 with its checks, and a node that shuts down refuses with 503. */
function responses(operation: Operation, components: SchemaComponents): Json {
  const all = new Map<string, ResponseJson>();
  for (const [status, answer] of Object.entries(operation.answers)) all.set(status, answerOf(answer, components));
  for (const [status, codes] of codesByStatus(operation)) {
    const problem = problemAnswer(codes, components);
    const own = all.get(String(status));
    const merged = own && { ...problem, description: `${own.description}. Or ${problem.description}` };
    all.set(String(status), merged ? { ...merged, content: { ...own.content, ...problem.content } } : problem);
  }
  return Object.fromEntries(
    [...all]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([status, answer]) => [status, withQuotaHeaders(operation, status, answer)]),
  );
}

function answerOf(answer: Answer, components: SchemaComponents): ResponseJson {
  const { description, headers = {}, schema, contentType = "application/json" } = answer;
  const content = schema === undefined ? {} : { [contentType]: mediaOf(answer, schema, components) };
  return { description, headers: headersOf(headers), content };
}

/** A text, such as the page of the documentation or a stream, has no example. */
function mediaOf({ contentType }: Answer, schema: TSchema, components: SchemaComponents): Json {
  const reference = components.reference(schema);
  return contentType === undefined ? { schema: reference, example: jsonOf(exampleOf(schema)) } : { schema: reference };
}

function headersOf(headers: Readonly<Record<string, string>>): ResponseJson["headers"] {
  const all = { "X-Request-Id": "Identifies this call in the logs", ...headers };
  return Object.fromEntries(
    Object.entries(all).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
}

function codesByStatus(operation: Operation): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(operation)) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

function problemAnswer(codes: readonly ErrorCode[], components: SchemaComponents): ResponseJson {
  return {
    description: codes.map((code) => `${code}: ${errorCatalogue[code].title}`).join(" "),
    headers: headersOf({}),
    content: { "application/problem+json": { schema: components.reference(Problem) } },
    "x-codes": [...codes],
  };
}

/** The headers of draft-ietf-httpapi-ratelimit-headers-11, whose values are structured fields (RFC 9651), and Retry-After. */
const quotaHeaders = {
  "RateLimit-Policy": {
    description:
      "The quota that the call counts against, if the node has one for its class: its name, requests (q) and window in " +
      "seconds (w)",
    schema: { type: "string" },
    example: '"read";q=600;w=60',
  },
  RateLimit: {
    description: "The requests that the caller has left (r), and the seconds until there are more (t)",
    schema: { type: "string" },
    example: '"read";r=42;t=1',
  },
  "Retry-After": {
    description: "The seconds after which the call may be repeated",
    schema: { type: "integer", minimum: 1 },
    example: 1,
  },
} as const satisfies Json;

/** Every answer of such a call has the quota headers. The document names them where callers use them: in successes and in refusals by a quota. */
function withQuotaHeaders(operation: Operation, status: string, answer: ResponseJson): ResponseJson {
  const isRefused = status === "429";
  if (quotaClassOf(operation) === null || !(isRefused || status.startsWith("2"))) return answer;
  const names = ["RateLimit-Policy", "RateLimit", ...(isRefused ? ["Retry-After"] : [])];
  const references = names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const);
  return { ...answer, headers: { ...answer.headers, ...Object.fromEntries(references) } };
}

/** Any JSON value of the document. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * Turns schemas into plain JSON and moves each one with a title into `components/schemas`, once, leaving a reference in its place. Two
 * different schemas with the same title are an error in the contract.
 */
export class SchemaComponents {
  readonly #schemas = new Map<string, Json>();

  /** The schema, with references in place of schemas that have a title. */
  reference(schema: object): Json {
    return this.#hoisted(plain(schema));
  }

  toJson(): Json {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #hoisted(node: Json): Json {
    if (isList(node)) return node.map((item) => this.#hoisted(item));
    if (typeof node !== "object" || node === null) return node;
    const { title, description, ...rest } = node;
    // Under `properties` a title is a field of that name, which is an object.
    if (typeof title !== "string") return mapMembers(node, (member) => this.#hoisted(member));
    this.#keep(
      title,
      mapMembers(rest, (member) => this.#hoisted(member)),
      description,
    );
    const reference = { $ref: `#/components/schemas/${title}` };
    return description === undefined ? reference : { ...reference, description };
  }

  #keep(title: string, body: Json, description: Json | undefined): void {
    const known = this.#schemas.get(title);
    const bare = JSON.stringify(body);
    if (known === undefined) {
      this.#schemas.set(title, description === undefined || !isMap(body) ? body : { description, ...body });
    } else if (JSON.stringify(withoutDescription(known)) !== bare) {
      throw new Error(`Two different schemas have the title ${title}.`);
    }
  }
}

const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

function plain(schema: object): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}

function isList(node: Json): node is readonly Json[] {
  return Array.isArray(node);
}

function isMap(node: Json): node is { readonly [name: string]: Json } {
  return typeof node === "object" && node !== null && !isList(node);
}

function mapMembers(node: { readonly [name: string]: Json }, change: (member: Json) => Json): Json {
  return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, change(member)]));
}

function withoutDescription(node: Json): Json {
  if (!isMap(node)) return node;
  const { description: _, ...rest } = node;
  return rest;
}
