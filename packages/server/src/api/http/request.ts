import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { Socket } from "node:net";
import {
  anyNamePattern,
  checkJsonValue,
  checkValue,
  Findings,
  hintForParameter,
  keyPattern,
  limits,
  namespaceNameLength,
  plainNameLength,
  plainNamePattern,
  translateQuery,
} from "@carillon/contract";
import {
  CarillonError,
  type DurationMs,
  formatId,
  type IdPrefix,
  isObject,
  namespaceNamePattern,
  parseId,
  systemTimers,
} from "@carillon/core";
import type { Engine, JobRef, JobView } from "@carillon/engine";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, type TObject, Type } from "typebox";
import { found, notFound } from "./errors.js";

/** A change is a merge patch (RFC 7396), which has a type of its own. */
const bodyTypes = ["application/json", "application/merge-patch+json"];

/**
 * Bodies are JSON. Bytes that are not UTF-8 are refused rather than replaced, and so are members named __proto__, which have a
 * meaning in JavaScript that the caller cannot have intended.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<Buffer>(bodyTypes, { parseAs: "buffer" }, (request, bytes, done) => {
    if (bytes.length === 0) {
      const isAllowed = request.routeOptions.config.mayBeEmpty === true;
      return isAllowed ? done(null, undefined) : done(invalidJson("The body is empty; send a JSON object."));
    }
    if (!isUtf8(bytes)) return done(invalidJson("The body is not valid UTF-8."));
    parseText(request, bytes.toString("utf8"), parse, done);
  });
  acceptLines(app);
}

/** Both directions: a stream of lines has no limit in all. */
const idleLineMs = 60_000;

/**
 * A stream of lines is read by its handler, with any content type: `curl --data-binary` sends that of a form, and `curl -T` none.
 * Other calls refuse such bodies.
 */
function acceptLines(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ routeOptions, headers }) => {
    if (routeOptions.config.takesLines === true) headers["content-type"] = linesType;
  });
  app.addContentTypeParser(linesType, (request, body, done) => {
    if (request.routeOptions.config.takesLines !== true) return done(unsupportedType());
    // An injected request has no socket.
    if (body.socket instanceof Socket) body.setTimeout(idleLineMs, () => body.destroy());
    done(null, body);
  });
}

const linesType = "application/x-ndjson";

function unsupportedType(): CarillonError {
  return new CarillonError(
    "unsupported_media_type",
    "Send the body as JSON, with the header Content-Type: application/json. Only POST /v1/runs:import takes lines.",
  );
}

/** Ends the connection of a caller whose body has not arrived in time; a stream of lines may last as long as it moves. */
export function limitBodyTime(app: FastifyInstance, limitMs: DurationMs): void {
  app.addHook("preParsing", async ({ raw, routeOptions }, _reply, payload) => {
    if (raw.complete || routeOptions.config.takesLines === true) return payload;
    const timer = systemTimers.setTimeout(() => raw.destroy(), limitMs);
    raw.once("close", () => systemTimers.clearTimeout(timer));
    raw.once("end", () => systemTimers.clearTimeout(timer));
    return payload;
  });
}

type Parser = ReturnType<FastifyInstance["getDefaultJsonParser"]>;
type Done = (error: Error | null, body?: unknown) => void;

function parseText(request: FastifyRequest, text: string, parse: Parser, done: Done): void {
  // Readers may accept a byte order mark at the start (RFC 8259, section 8.1).
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  void parse(request, json, (error, body) => {
    if (error === null) done(null, body);
    else done(invalidJson(`The body is not valid JSON: ${parseFailure(json)}`));
  });
}

/** JSON.parse reports the position; the framework's own error does not. */
function parseFailure(json: string): string {
  try {
    JSON.parse(json);
    return "a member is named __proto__, or is a constructor with a prototype.";
  } catch (error) {
    return error instanceof Error ? `${error.message}.` : "it does not parse.";
  }
}

function invalidJson(detail: string): CarillonError {
  return new CarillonError("json_invalid", detail);
}

const noParameters = Type.Object({}, { additionalProperties: false });

/**
 * Reads a query string by its schema. Texts become numbers only where the schema has a number. A parameter that is unknown or
 * given twice is refused, because a filter that is silently ignored shows the wrong rows.
 */
export function readQuery<Schema extends TObject>(schema: Schema | undefined, raw: unknown): Static<Schema> {
  const findings = new Findings("query");
  const expected: TObject = schema ?? noParameters;
  const given = translateQuery(Object.entries(raw ?? {}), expected.properties, findings);
  const read = gatherRecords(
    expected,
    given.map(([name, value]) => [name, readParameter(expected, name, value, findings)]),
  );
  checkJsonValue(read, findings);
  const explainUnknown = (pointer: string, parent: string, name: string): boolean => {
    const hint = parent === "" ? hintForParameter(name) : undefined;
    if (hint !== undefined) findings.add(pointer, "unknown_field", `${name} is not a parameter. ${hint}`);
    return hint !== undefined;
  };
  const valid = checkValue(expected, read, { findings, explainUnknown });
  findings.raise();
  return valid as Static<Schema>;
}

/** `payload.a.b=c` is a member of the parameter payload, if the schema has a record of that name. */
function gatherRecords(schema: TObject, given: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const isRecord = (name: string): boolean => "propertyNames" in (schema.properties[name] ?? {});
  const query: Record<string, unknown> = {};
  for (const [name, value] of given) {
    const dot = name.indexOf(".");
    const record = name.slice(0, Math.max(dot, 0));
    if (dot !== -1 && isRecord(record)) {
      query[record] = { ...(query[record] as object | undefined), [name.slice(dot + 1)]: value };
    } else query[name] = value;
  }
  return query;
}

function readParameter(schema: TObject, name: string, value: unknown, findings: Findings): unknown {
  if (Array.isArray(value)) {
    findings.add(`/${name}`, "field_invalid", "is given more than once; separate several values by commas");
    return value[0];
  }
  const property: { readonly type?: unknown } = schema.properties[name] ?? {};
  const isNumber = property.type === "integer" && typeof value === "string" && /^-?\d{1,400}$/.test(value);
  // Numbers beyond the safe integers all mean "very large", which page_size caps.
  return isNumber ? Math.max(-1, Math.min(Number(value), Number.MAX_SAFE_INTEGER)) : value;
}

/** Versions are four-byte integers; no job has a larger one. */
const maxVersion = 2_147_483_647;

/** The version that If-Match requires. Compressing proxies make an ETag weak, which does not matter here. */
export function ifVersionOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const match = /^\s*(?:W\/)?"v(\d{1,20})"\s*$/.exec(header);
  if (match !== null) return Math.min(Number(match[1]), maxVersion);
  const shown = JSON.stringify(header.length <= 60 ? header : `${header.slice(0, 57)}…`);
  const detail = `If-Match must be the one ETag of a response, such as "v7" with its quotes, not ${shown}`;
  throw new CarillonError("field_invalid", detail, { items: [{ pointer: "If-Match", code: "field_invalid", detail }] });
}

export const namespaceHeader = "carillon-namespace";
const namespacePattern = new RegExp(namespaceNamePattern);

/** The namespace that a call names; the engine checks that it exists. */
export function namespaceOf(headers: IncomingHttpHeaders, defaultName: string): string {
  const given = headers[namespaceHeader];
  if (given === undefined) return defaultName;
  const name = typeof given === "string" ? readNamespaceName(given) : null;
  if (name === null) throw noNamespace(String(given).slice(0, 100));
  return name;
}

/** The text, if it can be the name of a namespace; null otherwise. */
export function readNamespaceName(text: string): string | null {
  return text.length <= namespaceNameLength && namespacePattern.test(text) ? text : null;
}

export const noNamespace = (name: string): CarillonError => notFound(`There is no namespace ${JSON.stringify(name)}.`);

/** Characters of a caller's request id: none that could forge a log line or a header. */
const requestIdPattern = /^[A-Za-z0-9._:/+=-]{1,128}$/;

export const requestIdHeader = "x-request-id";

/** The caller's own id for the call if it is harmless, else a new one. */
export function requestIdOf(given: string | readonly string[] | undefined, newRequestId: () => string): string {
  return typeof given === "string" && requestIdPattern.test(given) ? given : newRequestId();
}

// How addresses and filters name things. A text that cannot be a name or an id is answered like one that does not exist: 404.

const jobKeyPattern = new RegExp(keyPattern);

/** A job by its id, or by @ and its key. */
export function jobRef(text: string): JobRef {
  if (!text.startsWith("@")) return { id: idOrNotFound("job", text) };
  if (!jobKeyPattern.test(text.slice(1)))
    throw notFound(
      `There is no job ${JSON.stringify(text)}: a key is 1 to 200 letters, digits, dots, dashes and underscores.`,
    );
  return { key: text.slice(1) };
}

export function idOrNotFound(prefix: IdPrefix, text: string): string {
  try {
    return parseId(prefix, text);
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    const byKey = prefix === "job" && jobKeyPattern.test(text) ? `, or @ and a key: @${text}` : "";
    throw notFound(`${error.message}${byKey}`);
  }
}

const nameReader = (pattern: RegExp, maxLength: number) => (text: string) =>
  text.length <= maxLength && pattern.test(text) ? text : null;

/** A name of a queue, a task or a breaker; null for a text that cannot be one. */
export const readAnyName = nameReader(new RegExp(anyNamePattern), limits.nameLength);

/** A name of a calendar or a maintenance window; null for a text that cannot be one. */
export const readPlainName = nameReader(new RegExp(plainNamePattern), plainNameLength);

export function plainNameOrNotFound(text: string, kind: string): string {
  return found(readPlainName(text), `There is no ${kind} ${JSON.stringify(text)}.`);
}

interface JobSource {
  readonly jobs: Pick<Engine["jobs"], "get">;
}

/** The job that an address names. Throws not_found. */
export async function findJob(engine: JobSource, namespace: string, text: string): Promise<JobView> {
  return found(await engine.jobs.get(namespace, jobRef(text)), `There is no job ${text}.`);
}

interface JobFiltered {
  readonly job_id?: string;
}

/** The filter with the id of its job, if job_id is @ and a key. Other values are validated with the rest of the filter. */
export async function withJobId<Filter extends JobFiltered>(
  engine: JobSource,
  namespace: string,
  filter: Filter,
): Promise<Filter> {
  const { job_id: text } = filter;
  if (typeof text !== "string" || !text.startsWith("@")) return filter;
  return { ...filter, job_id: await jobIdOf(engine, namespace, text) };
}

/** The same for a body that has such a filter and is not validated yet. */
export async function withJobIdInFilter(engine: JobSource, namespace: string, body: unknown): Promise<unknown> {
  if (!isObject(body) || !isObject(body["filter"])) return body;
  return { ...body, filter: await withJobId(engine, namespace, body["filter"]) };
}

/** The id of a job. A job named by its id need not exist: its runs are kept longer. */
export async function jobIdOf(engine: JobSource, namespace: string, text: string): Promise<string> {
  const ref = jobRef(text);
  return formatId("job", "id" in ref ? ref.id : (await findJob(engine, namespace, text)).id);
}
