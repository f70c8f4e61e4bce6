import { Readable } from "node:stream";
import {
  type Operation,
  type OperationId,
  type QuotaClass,
  operations,
  quotaClassOf,
  takesIdempotencyKey,
} from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { withTimeout } from "../../timeout.js";
import type { BudgetName, Ticket } from "./admission.js";
import type { ApiEngine, ApiResponse, Call, Handler, Handlers } from "./handler.js";
import { idempotencyKeyOf, type Replays, respondOnce } from "./idempotency.js";
import { ifVersionOf, namespaceOf, readQuery } from "./request.js";
import { beginHttpSpan, endHttpSpan, type TracingPort } from "./tracing.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The published address of the operation, for metrics; undefined for other routes. */
    readonly operationPath?: string;
    /** Probes are answered during the shutdown too. */
    readonly probe?: boolean;
    /** A missing body is allowed. */
    readonly mayBeEmpty?: boolean;
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
  readonly tracing: TracingPort;
}

/** Serves every declared operation, at its own address and at its aliases, and answers 405 to the other methods there. */
export function registerOperations(app: FastifyInstance, handlers: Handlers, options: ServedOptions): void {
  const { namespace, tracing } = options;
  const addresses = new Map<string, Address>();
  const declared: readonly (readonly [string, Operation])[] = Object.entries(operations);
  // Each handler takes exactly the calls of its own operation, which the types of a loop cannot express.
  const byId = handlers as unknown as Readonly<Record<string, Handler<Operation>>>;
  for (const [id, operation] of declared) {
    const handler = byId[id];
    if (handler === undefined) throw new Error(`The operation ${id} has no handler.`);
    const respond = responder(id as OperationId, operation, handler, options);
    for (const { path, legacySpelling = false } of [{ path: operation.path }, ...(operation.aliases ?? [])]) {
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
          mayBeEmpty: operation.body === undefined || operation.bodyOptional === true,
        },
        ...(operation.bodyBytes !== undefined && { bodyLimit: operation.bodyBytes }),
        handler: async (request, reply) => {
          const call = callOf(operation, request, namespace, legacySpelling);
          const signal = operation.waits === true ? disconnectSignal(reply) : undefined;
          const waitingCall = signal === undefined ? call : { ...call, signal };
          const work = holdTicket(request.ticket, () => traced({ operation, request, tracing, respond }, waitingCall));
          return send(reply, await (hasTimeLimit(operation) ? withTimeout(maxCallMs, work, refuseSlowCall) : work));
        },
      });
    }
  }
  for (const address of addresses.values()) serveOtherMethods(app, address);
}

/** Event streams have a limit of their own, and probes have none. */
function budgetOf({ rateClass, streams, waits }: Operation): { budget?: BudgetName; mayWait?: boolean } {
  if (rateClass === "none" || streams === true) return {};
  if (rateClass === "worker") return { budget: "workers" };
  return { budget: "calls", mayWait: waits === true };
}

type Respond = (call: Call<Operation>, request: FastifyRequest) => ApiResponse | Promise<ApiResponse>;

/** A last resort: every statement and every wait of a call has a shorter limit of its own. */
const maxCallMs = 60_000;

function hasTimeLimit({ rateClass, waits, streams }: Operation): boolean {
  return rateClass !== "none" && rateClass !== "worker" && waits !== true && streams !== true;
}

function refuseSlowCall(): never {
  throw new CarillonError("database_timeout", `The call did not finish within ${maxCallMs} ms.`);
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

/** Runs the handler; once for each Idempotency-Key, if the operation takes one and the caller sends one. */
function responder(
  id: OperationId,
  operation: Operation,
  handler: Handler<Operation>,
  { keys, replays }: ServedOptions,
): Respond {
  if (!takesIdempotencyKey(operation)) return handler;
  return (call, request) => {
    const key = idempotencyKeyOf(request.headers["idempotency-key"]);
    if (key === undefined) return handler(call);
    const onLost = (error: unknown): void =>
      request.log.warn(
        { err: error },
        "the response to a call with an Idempotency-Key was not stored; a repeated call rebuilds it",
      );
    return respondOnce({ keys, operation, handler, replay: replays[id], onLost }, key, call);
  };
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
  if (operation.body === undefined) refuseBody(request.body);
  return {
    params: request.params as Call<Operation>["params"],
    query,
    body: request.body,
    namespace: operation.rateClass === "none" ? namespace : namespaceOf(request.headers, namespace),
    actor: null,
    ...(ifVersion !== undefined && { ifVersion }),
    ...(operation.streams === true && lastEventIdOf(request)),
    requestId: request.id,
    legacySpelling,
  };
}

function lastEventIdOf({ headers }: FastifyRequest): { lastEventId?: string } {
  const id = headers["last-event-id"];
  return typeof id === "string" ? { lastEventId: id } : {};
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
