import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import {
  type Alias,
  isWrite,
  limits,
  type Operation,
  type OperationId,
  operations,
  pathSpellings,
  type QuotaClass,
  quotaClassOf,
  takesIdempotencyKey,
} from "@carillon/contract";
import { CarillonError, idOfGeneratedKey, isObject, parseTraceParent } from "@carillon/core";
import type { KeptAnswer } from "@carillon/engine";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { withTimeout } from "../../timeout.js";
import type { BudgetName, Ticket } from "./admission.js";
import {
  type ApiEngine,
  type ApiResponse,
  type Call,
  type CallSpan,
  type Handler,
  type Handlers,
  type IdentifiedHandlers,
  markReplayed,
  type Replay,
  type Replays,
  type TracePlace,
  type TracingPort,
} from "./handler.js";
import { hasUnknownOutcome, refused, toProblem, UnknownOutcome } from "./errors.js";
import { ifVersionOf, namespaceOf, readQuery } from "./request.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The published address of the operation, for metrics; undefined for other routes. */
    readonly operationPath?: string;
    /** Probes are answered during the shutdown too. */
    readonly probe?: boolean;
    /** A missing body is allowed. */
    readonly mayBeEmpty?: boolean;
    /** The body is a stream, which the handler reads. */
    readonly takesLines?: boolean;
    /** The budget of its calls; left out: none. */
    readonly budget?: BudgetName;
    /** The quota of its calls; null or left out: none. */
    readonly quota?: QuotaClass | null;
    /** Its callers may ask it to wait for an event. */
    readonly mayWait?: boolean;
  }
  interface FastifyRequest {
    /** Null for routes without a budget. */
    ticket: Ticket | null;
  }
}

interface Address {
  readonly url: string;
  /** The published address; `url` may be an alias. */
  readonly operationPath: string;
  readonly methods: string[];
}

export interface ServedOptions {
  readonly namespace: string;
  readonly keys: ApiEngine["idempotencyKeys"];
  readonly replays: Replays;
  readonly identified: IdentifiedHandlers;
  readonly tracing: TracingPort;
}

/** Serves every declared operation, at its own address and at its aliases, and answers 405 to the other methods there. */
export function registerOperations(app: FastifyInstance, handlers: Handlers, options: ServedOptions): void {
  const { namespace, tracing } = options;
  const addresses = new Map<string, Address>();
  const declared: readonly (readonly [string, Operation])[] = Object.entries(operations);
  // Each handler takes exactly the calls of its own operation, which the types of a loop cannot express.
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  const byId = handlers as unknown as Readonly<Record<string, Handler<Operation>>>;
  for (const [id, operation] of declared) {
    const handler = byId[id];
    if (handler === undefined) throw new Error(`The operation ${id} has no handler.`);
    const respond = responder(id as OperationId, operation, handler, options);
    for (const { path, legacySpelling = false } of addressesOf(operation)) {
      const url = routePath(path);
      const address = addresses.get(url) ?? { url, operationPath: operation.path, methods: [] };
      address.methods.push(operation.method);
      addresses.set(url, address);
      app.route({
        method: operation.method,
        url,
        config: {
          operationPath: operation.path,
          probe: operation.rateClass === "none",
          quota: quotaClassOf(operation),
          ...budgetOf(operation),
          takesLines: operation.lines !== undefined,
          mayBeEmpty: operation.body === undefined || operation.bodyOptional === true,
        },
        ...(operation.bodyBytes !== undefined && { bodyLimit: operation.bodyBytes }),
        handler: async (request, reply) => {
          const call = callOf(operation, request, namespace, legacySpelling);
          const signal = endSignal(operation, reply, closing.signal);
          const waitingCall = signal === undefined ? call : { ...call, signal };
          const work = holdTicket(request.ticket, () => traced({ operation, request, tracing, respond }, waitingCall));
          return send(
            reply,
            await (hasTimeLimit(operation)
              ? withTimeout(maxCallMs, work, () => refuseSlowCall(operation, call, request))
              : work),
          );
        },
      });
    }
  }
  for (const address of addresses.values()) serveOtherMethods(app, address);
}

/** Every address of an operation: its own, shorter ones, and those of other systems, each also with the version before it. */
function addressesOf({ method, path, aliases = [] }: Operation): readonly Alias[] {
  const theirs = pathSpellings
    .filter((row) => row.method === method && row.ours === path)
    .flatMap((row) => [row.theirs, `/v1${row.theirs}`].map((url) => ({ path: url, ...legacyIf(row.namesInAnswer) })));
  return uniqueByPath([{ path }, ...aliases, ...theirs]);
}

function legacyIf(isLegacy = false): Pick<Alias, "legacySpelling"> {
  return isLegacy ? { legacySpelling: true } : {};
}

function uniqueByPath(addresses: readonly Alias[]): Alias[] {
  return [...new Map([...addresses].toReversed().map((one) => [one.path, one])).values()].toReversed();
}

/** Event streams have a limit of their own, and probes have none. */
function budgetOf({ rateClass, streams, lines, waits }: Operation): { budget?: BudgetName; mayWait?: boolean } {
  if (rateClass === "none" || streams === true || lines !== undefined) return {};
  if (rateClass === "worker") return { budget: "workers" };
  return { budget: "calls", mayWait: waits === true };
}

type Respond = (call: Call<Operation>, request: FastifyRequest) => ApiResponse | Promise<ApiResponse>;

/** A last resort: every statement and every wait of a call has a shorter limit of its own. */
const maxCallMs = 60_000;

function hasTimeLimit({ rateClass, waits, streams }: Operation): boolean {
  return rateClass !== "none" && rateClass !== "worker" && waits !== true && streams !== true;
}

/** The work of the call goes on. */
function refuseSlowCall(operation: Operation, call: Call<Operation>, request: FastifyRequest): never {
  const slow = new CarillonError("database_timeout", `The call did not finish within ${maxCallMs} ms.`);
  if (!isWrite(operation)) throw slow;
  const isKeyed = takesIdempotencyKey(operation) && keyAndBody(operation, call, request).key !== undefined;
  throw new UnknownOutcome(howToRepeat(operation, isKeyed ? { ...call, isKeyed } : call), slow);
}

/** A call occupies its budget until its work has ended, even if its caller has disconnected. */
async function holdTicket(ticket: Ticket | null, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const done = ticket?.begin();
  try {
    return await work();
  } finally {
    done?.();
  }
}

interface TracedCall {
  readonly operation: Operation;
  readonly request: FastifyRequest;
  readonly tracing: TracingPort;
  readonly respond: Respond;
}

/** Runs the call within a span, if spans are recorded. Calls of workers and event streams are not traced. */
async function traced(
  { operation, request, tracing, respond }: TracedCall,
  call: Call<Operation>,
): Promise<ApiResponse> {
  const { rateClass, path, streams } = operation;
  if (rateClass === "none" || rateClass === "worker" || streams === true) return respond(call, request);
  const span = beginHttpSpan(tracing, request, path);
  const { traceparent, tracestate } = span;
  if (traceparent === undefined) return respond(call, request);
  const trace = { traceparent, ...(tracestate !== undefined && { tracestate }) };
  try {
    const response = await span.run(() => respond({ ...call, trace }, request));
    endHttpSpan(span, response);
    return response;
  } catch (error) {
    endHttpSpan(span, { error });
    throw error;
  }
}

/** A span for a call: in the trace of the instrumented process if there is one, else in that of the caller. */
function beginHttpSpan(tracing: TracingPort, { method, headers }: FastifyRequest, route: string): CallSpan {
  const parent = tracing.activeTraceParent() === undefined ? callersTrace(headers) : "active";
  const span = tracing.beginSpan({ name: `${method} ${route}`, kind: "server", parent });
  if (span.isSeen) span.note({ "http.request.method": method, "http.route": route });
  return span;
}

function endHttpSpan(span: CallSpan, outcome: { readonly status: number } | { readonly error: unknown }): void {
  if (span.isSeen) {
    const status = "error" in outcome ? toProblem(outcome.error, "").body.status : outcome.status;
    span.note({ "http.response.status_code": status });
    if ("error" in outcome && status >= 500) span.fail(describeThrown(outcome.error));
  }
  span.end();
}

function callersTrace({ traceparent, tracestate }: FastifyRequest["headers"]): TracePlace {
  if (typeof traceparent !== "string" || parseTraceParent(traceparent) === null) return { traceparent: undefined };
  return { traceparent, ...(typeof tracestate === "string" && { tracestate }) };
}

function describeThrown(error: unknown): { type: string; message: string; stack?: string } {
  if (!(error instanceof Error)) return { type: "Error", message: String(error) };
  const { name: type, message, stack } = error;
  return { type, message, ...(stack !== undefined && { stack }) };
}

/** Runs the handler; once for each Idempotency-Key, if the operation takes one and the caller sends one. */
function responder(
  id: OperationId,
  operation: Operation,
  handler: Handler<Operation>,
  { keys, replays, identified }: ServedOptions,
): Respond {
  const closed = async (
    call: Call<Operation>,
    respond: () => ApiResponse | Promise<ApiResponse>,
  ): Promise<ApiResponse> => {
    try {
      return await respond();
    } catch (error) {
      throw hasUnknownOutcome(error) ? unknownOutcome(error, operation, call) : error;
    }
  };
  const once: Respond = (call) => closed(call, () => handler(call));
  if (!takesIdempotencyKey(operation)) return once;
  const withIds = identified[id];
  return (call, request) => {
    const { key, body } = keyAndBody(operation, call, request);
    if (key === undefined) return once(call, request);
    const idOfCall = withIds === undefined ? null : idOfGeneratedKey(key);
    const keyed = { ...call, body, isKeyed: true as const };
    const response = idOfCall === null ? null : withIds?.(idOfCall, keyed);
    if (response) return closed(keyed, () => response);
    const onLost = (error: unknown): void =>
      request.log.warn(
        { err: error },
        "the response to a call with an Idempotency-Key was not stored; a repeated call rebuilds it",
      );
    const onceWithReceipt = (received: Call<Operation>) => once(received, request);
    return respondOnce({ keys, operation, handler: onceWithReceipt, replay: replays[id], onLost }, key, keyed);
  };
}

/**
 * The key of a call, from its header or from the member of the body that may stand for it, and the body without that member. The key that a
 * client generates for each call gives way to the one that its caller chose.
 */
function keyAndBody(
  { idempotencyField: field }: Operation,
  { body }: Call<Operation>,
  { headers }: FastifyRequest,
): { readonly key: string | undefined; readonly body: unknown } {
  const key = idempotencyKeyOf(headers["idempotency-key"]);
  if (field === undefined || !isObject(body) || !Object.hasOwn(body, field)) return { key, body };
  const { [field]: inBody, ...rest } = body;
  if (typeof inBody !== "string") throw refused(`/${field}`, "field_invalid", "Must be a string.");
  if (key !== undefined && key !== inBody && idOfGeneratedKey(key) === null) {
    const detail = "Means the same as the header Idempotency-Key, which has another value. Send only one of them.";
    throw refused(`/${field}`, "field_invalid", detail);
  }
  return { key: idempotencyKeyOf(inBody), body: rest };
}

/** Reads leave no outcome open, even if they write something on the way, such as a cached total. */
function unknownOutcome(error: unknown, operation: Operation, call: Call<Operation>): CarillonError {
  if (isWrite(operation)) return new UnknownOutcome(howToRepeat(operation, call), error);
  return new CarillonError("database_unavailable", "The connection to the database failed.", { cause: error });
}

/**
 * Why a repeated call cannot have its effect twice: the server keeps the answers of calls with a key; PUT, PATCH and DELETE name the state
 * that they leave; the fences of a worker's calls refuse the second one. After If-Match the repeated call would only be refused.
 */
function howToRepeat(
  { method, rateClass }: Operation,
  { isKeyed, ifVersion }: Call<Operation>,
): "by_key" | "by_method" | null {
  if (isKeyed === true) return "by_key";
  if (rateClass === "worker") return "by_method";
  return method === "POST" || ifVersion !== undefined ? null : "by_method";
}

interface KeyedOptions {
  readonly keys: ApiEngine["idempotencyKeys"];
  readonly operation: Operation;
  readonly handler: Handler<Operation>;
  readonly replay: Replay | undefined;
  readonly onLost: (error: unknown) => void;
}

const printable = /^[\x20-\x7e]+$/;

function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = Array.isArray(header) ? header.join(", ") : header;
  if (printable.test(key) && key.length <= limits.idempotencyKeyLength) return key;
  const detail = `Idempotency-Key must be 1 to ${limits.idempotencyKeyLength} printable ASCII characters`;
  const pointer = "Idempotency-Key";
  throw new CarillonError("field_invalid", detail, { items: [{ pointer, code: "field_invalid", detail }] });
}

/** Runs a call once for its key; a repeated call gets the stored response. */
async function respondOnce(options: KeyedOptions, key: string, call: Call<Operation>): Promise<ApiResponse> {
  const { keys, operation, handler, replay, onLost } = options;
  const request = fingerprint(operation, call);
  const begun = await keys.begin(call.namespace, { caller: call.actor ?? "", key, request });
  if (begun.state === "busy") {
    throw new CarillonError(
      "idempotency_in_progress",
      "The first call with this Idempotency-Key is still in progress.",
    );
  }
  if (begun.state === "other") {
    const detail = "This Idempotency-Key was used for another request; use a new key for each request.";
    throw new CarillonError("idempotency_key_reused", detail);
  }
  if (begun.state === "done") return replayed(begun.answer);
  if (begun.state === "effect") {
    if (replay === undefined) throw new Error(`The operation ${operation.path} stores an effect and has no replay.`);
    return markReplayed(await replay(begun.effect, call));
  }
  try {
    const response = await handler({ ...call, receipt: begun.receipt });
    // The effect is already stored: if this write fails, only the response is lost, and the replay rebuilds it.
    await begun.answered(toStored(response)).catch(onLost);
    return response;
  } catch (error) {
    await begun.failed().catch(onLost);
    throw error;
  }
}

function fingerprint({ method, path }: Operation, { params, query, body, ifVersion }: Call<Operation>): string {
  const request = JSON.stringify([method, path, params, query, ifVersion ?? null, body ?? null], sortMembers);
  return createHash("sha256").update(request).digest("base64url");
}

/** A caller that builds its request again may write the members in another order. */
function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function toStored({ status, headers = {}, body }: ApiResponse): KeptAnswer {
  return { status, headers, body: body === undefined ? null : JSON.stringify(body) };
}

function replayed({ status, headers, body }: KeptAnswer): ApiResponse {
  return markReplayed({ status, headers, ...(body !== null && { body: JSON.parse(body) as unknown }) });
}

function callOf(
  operation: Operation,
  request: FastifyRequest,
  namespace: string,
  legacySpelling: boolean,
): Call<Operation> {
  // Probes ignore unknown parameters: load balancers add parameters of their own.
  const query = operation.rateClass === "none" ? undefined : readQuery(operation.query, request.query);
  const ifVersion = operation.conditional === true ? ifVersionOf(request.headers["if-match"]) : undefined;
  if (operation.body === undefined && operation.lines === undefined) refuseBody(request.body);
  else if (operation.method === "PATCH" && request.body === undefined && operation.body !== undefined)
    throw missingChanges(operation.body);
  return {
    params: request.params as Call<Operation>["params"],
    query,
    body: request.body,
    namespace: operation.rateClass === "none" ? namespace : namespaceOf(request.headers, namespace),
    actor: null,
    ...(ifVersion !== undefined && { ifVersion }),
    ...(operation.streams === true && lastEventIdOf(request)),
    requestId: request.id,
    origin: `${request.protocol}://${request.host}`,
    legacySpelling,
  };
}

function lastEventIdOf({ headers }: FastifyRequest): { lastEventId?: string } {
  const id = headers["last-event-id"];
  return typeof id === "string" ? { lastEventId: id } : {};
}

/** Ends a waiting call when its caller disconnects, and a stream of lines also when the node shuts down. */
function endSignal({ waits, lines }: Operation, reply: FastifyReply, closing: AbortSignal): AbortSignal | undefined {
  if (waits !== true) return undefined;
  const disconnected = disconnectSignal(reply);
  return lines === undefined ? disconnected : AbortSignal.any([disconnected, closing]);
}

/** Aborted when the connection closes before the response was sent. */
function disconnectSignal(reply: FastifyReply): AbortSignal {
  const disconnected = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) disconnected.abort();
  });
  return disconnected.signal;
}

/** Refused, because a caller could believe that an ignored body had an effect. */
function refuseBody(body: unknown): void {
  if (body === undefined || (typeof body === "object" && body !== null && Object.keys(body).length === 0)) return;
  throw new CarillonError("field_invalid", "This call takes no body; leave it out.");
}

/** An empty object changes nothing; a call without a body has lost it on the way. */
function missingChanges({ properties }: NonNullable<Operation["body"]>): CarillonError {
  const detail = `The body is missing. Send a JSON object with what is to change: ${Object.keys(properties).join(", ")}.`;
  return new CarillonError("field_invalid", detail, { items: [{ pointer: "", code: "field_invalid", detail }] });
}

function send(reply: FastifyReply, response: ApiResponse): FastifyReply {
  if (response.headers !== undefined) reply.headers(response.headers);
  if (response.body === undefined) return reply.code(response.status).send();
  // HEAD would have to read the stream to its end, and an event stream has none.
  if (response.body instanceof Readable && reply.request.method === "HEAD") {
    response.body.destroy();
    return reply
      .code(response.status)
      .type(response.contentType ?? "")
      .send();
  }
  const isText = response.contentType !== undefined;
  return reply
    .code(response.status)
    .type(response.contentType ?? "application/json; charset=utf-8")
    .send(isText ? response.body : JSON.stringify(response.body));
}

const allMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"] as const;

function serveOtherMethods(app: FastifyInstance, { url, operationPath, methods }: Address): void {
  const served = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
  const allow = served.join(", ");
  const config = { operationPath };
  // Both answer before the body is read: neither uses it.
  app.route({
    method: "OPTIONS",
    url,
    config,
    onRequest: async (_request, reply) => reply.code(204).header("Allow", allow).send(),
    handler: () => undefined,
  });
  app.route({
    method: allMethods.filter((method) => !served.includes(method)),
    url,
    config,
    onRequest: async (request, reply) => {
      reply.header("Allow", allow);
      throw new CarillonError("method_not_allowed", `${request.method} is not allowed here; allowed are ${allow}.`);
    },
    handler: () => undefined,
  });
}

/**
 * The router's form of an address: /v1/jobs/{id} becomes /v1/jobs/:id(^[^:/]+$). A parameter never holds a colon, because
 * a colon begins a verb, as in /v1/jobs/{id}:pause, whose own colon is written twice.
 */
export function routePath(path: string): string {
  return path.replaceAll(":", "::").replaceAll(/\{(\w+)\}/g, ":$1(^[^:/]+$)");
}
