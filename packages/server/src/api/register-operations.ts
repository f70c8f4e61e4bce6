import { Readable } from "node:stream";
import { CarillonError } from "@carillon/core";
import {
  operations,
  type Operation,
  type OperationId,
  type QuotaClass,
  quotaClassOf,
  takesIdempotencyKey,
} from "@carillon/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Call, CallAnswer, Handler, Handlers } from "./call.js";
import type { Receipts } from "@carillon/engine";
import { answerOnce, idempotencyKeyOf, type Recalls } from "./idempotency.js";
import { ifVersionOf } from "./if-match.js";
import { beginHttpSpan, endHttpSpan } from "./http-span.js";
import type { BudgetName, Ticket } from "./intake.js";
import { readQuery } from "./read-query.js";
import { inTime } from "../lifecycle/within.js";
import { namespaceOf } from "./namespace-header.js";
import { routePath } from "./route-path.js";
import type { TracingPort } from "./tracing.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The published address of the operation, for metrics; undefined for what is not one. */
    readonly operationPath?: string;
    /** Probes are answered to the last: they say what is going on. */
    readonly probe?: boolean;
    /** Nothing where a body could be is an empty object. */
    readonly mayBeEmpty?: boolean;
    /** What its calls count against; left out: nothing. */
    readonly budget?: BudgetName;
    /** The quota that its calls count against; null or left out: none. */
    readonly quota?: QuotaClass | null;
    /** Its callers may ask it to wait for something to happen. */
    readonly mayWait?: boolean;
  }
  interface FastifyRequest {
    /** Null where nothing is counted. */
    ticket: Ticket | null;
  }
}

interface Address {
  readonly url: string;
  /** The published address, whatever alias was called. */
  readonly operationPath: string;
  readonly methods: string[];
}

export interface ServedOptions {
  readonly namespace: string;
  readonly receipts: Receipts;
  readonly recalls: Recalls;
  readonly tracing: TracingPort;
}

/** Serves every declared operation, at its own address and at its aliases, and says 405 to the other methods there. */
export function registerOperations(app: FastifyInstance, handlers: Handlers, options: ServedOptions): void {
  const { namespace, tracing } = options;
  const addresses = new Map<string, Address>();
  const declared: readonly (readonly [string, Operation])[] = Object.entries(operations);
  // Each handler takes exactly the calls of its own operation, which a loop over both cannot say in types.
  const byId = handlers as unknown as Readonly<Record<string, Handler<Operation>>>;
  for (const [id, operation] of declared) {
    const handler = byId[id];
    if (handler === undefined) throw new Error(`the operation ${id} has no handler`);
    const answer = answering(id as OperationId, operation, handler, options);
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
          const signal = operation.waits === true ? goneSignal(reply) : undefined;
          const given = signal === undefined ? call : { ...call, signal };
          const work = held(request.ticket, () => traced({ operation, request, tracing, answer }, given));
          return send(reply, await (isBounded(operation) ? inTime(longestMs, work, tooLong) : work));
        },
      });
    }
  }
  for (const address of addresses.values()) answerOtherMethods(app, address);
}

/** Streams have a bound of their own, and probes are answered to the last. */
function budgetOf({ rateClass, streams, waits }: Operation): { budget?: BudgetName; mayWait?: boolean } {
  if (rateClass === "none" || streams === true) return {};
  if (rateClass === "worker") return { budget: "workers" };
  return { budget: "calls", mayWait: waits === true };
}

type Answering = (call: Call<Operation>, request: FastifyRequest) => CallAnswer | Promise<CallAnswer>;

/** Whatever a call needs ends by itself sooner than this; that nobody waits for ever does not depend on it. */
const longestMs = 60_000;

function isBounded({ rateClass, waits, streams }: Operation): boolean {
  return rateClass !== "none" && rateClass !== "worker" && waits !== true && streams !== true;
}

function tooLong(): CarillonError {
  return new CarillonError("database_timeout", `The call was not done within ${longestMs} ms.`);
}

/** The call keeps its place until its work has ended, whether or not anybody still waits for that. */
async function held(ticket: Ticket | null, work: () => Promise<CallAnswer>): Promise<CallAnswer> {
  const done = ticket?.work();
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
  readonly answer: Answering;
}

/** Within a span, if anybody watches. Who waits for work or for news is in no trace. */
async function traced({ operation, request, tracing, answer }: TracedCall, call: Call<Operation>): Promise<CallAnswer> {
  const { rateClass, path, streams } = operation;
  if (rateClass === "none" || rateClass === "worker" || streams === true) return answer(call, request);
  const span = beginHttpSpan(tracing, request, path);
  const { traceparent, tracestate } = span;
  if (traceparent === undefined) return answer(call, request);
  const trace = { traceparent, ...(tracestate !== undefined && { tracestate }) };
  try {
    const answered = await span.run(() => answer({ ...call, trace }, request));
    endHttpSpan(span, answered);
    return answered;
  } catch (error) {
    endHttpSpan(span, { error });
    throw error;
  }
}

/** Once for each Idempotency-Key, where the operation takes one and the caller sends one. */
function answering(
  id: OperationId,
  operation: Operation,
  handler: Handler<Operation>,
  { receipts, recalls }: ServedOptions,
): Answering {
  if (!takesIdempotencyKey(operation)) return handler;
  return (call, request) => {
    const key = idempotencyKeyOf(request.headers["idempotency-key"]);
    if (key === undefined) return handler(call);
    const onLost = (error: unknown): void => request.log.warn({ err: error }, "the answer of a call was not kept");
    return answerOnce({ receipts, operation, handler, recall: recalls[id], onLost }, key, call);
  };
}

function callOf(operation: Operation, request: FastifyRequest, namespace: string, foreign: boolean): Call<Operation> {
  // Probes ignore what they do not know: load balancers add parameters of their own.
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
    foreign,
  };
}

function lastEventIdOf({ headers }: FastifyRequest): { lastEventId?: string } {
  const id = headers["last-event-id"];
  return typeof id === "string" ? { lastEventId: id } : {};
}

/** Fires when the connection closes before the answer was sent. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** What is ignored would look as if it had been heard. */
function refuseBody(body: unknown): void {
  if (body === undefined || (typeof body === "object" && body !== null && Object.keys(body).length === 0)) return;
  throw new CarillonError("field_invalid", "This call takes no body; leave it out.");
}

function send(reply: FastifyReply, answer: CallAnswer): FastifyReply {
  if (answer.headers !== undefined) reply.headers(answer.headers);
  if (answer.body === undefined) return reply.code(answer.status).send();
  // To HEAD a stream would have to be read to its end, and it has none.
  if (answer.body instanceof Readable && reply.request.method === "HEAD") {
    answer.body.destroy();
    return reply
      .code(answer.status)
      .type(answer.contentType ?? "")
      .send();
  }
  const isText = answer.contentType !== undefined;
  return reply
    .code(answer.status)
    .type(answer.contentType ?? "application/json; charset=utf-8")
    .send(isText ? answer.body : JSON.stringify(answer.body));
}

const allMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"] as const;

function answerOtherMethods(app: FastifyInstance, { url, operationPath, methods }: Address): void {
  const served = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
  const allow = served.join(", ");
  const config = { operationPath };
  // Answered before the body is read: whatever it is, neither of the two wants it.
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
      throw new CarillonError("method_not_allowed", `${request.method} is not possible here; allowed are ${allow}.`);
    },
    handler: () => undefined,
  });
}
