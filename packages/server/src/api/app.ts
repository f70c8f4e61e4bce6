import { live } from "@carillon/engine";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { limits, ownAddress } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from "fastify";
import { backfillHandlers, backfillReplays } from "./backfills.js";
import { breakerHandlers } from "./breakers.js";
import { calendarHandlers, windowHandlers } from "./calendars.js";
import { deadLetterHandlers, errorGroupHandlers } from "./dead-letters.js";
import { eventHandlers } from "./events.js";
import { explanationHandlers } from "./explanations.js";
import {
  Admission,
  admissionLimits,
  assertLoopbackCaller,
  type BudgetName,
  callerByNamespace,
  defaultAdmission,
  Quotas,
  securityHeaders,
} from "./http/admission.js";
import { docsScript } from "./http/docs/script.js";
import { docsStyle } from "./http/docs/style.js";
import { answerBrokenRequest, noSuchAddress, problemType, toProblem } from "./http/errors.js";
import { type ApiMetrics, type ApiOptions, type Handlers, noTracing, type Replays } from "./http/handler.js";
import { registerOperations } from "./http/routes.js";
import { acceptJsonBodies, limitBodyTime, requestIdHeader, requestIdOf } from "./http/request.js";
import { jobChangeHandlers, jobHandlers, jobHistoryHandlers, jobReplays } from "./jobs.js";
import { limitHandlers } from "./limits.js";
import { mailHandlers } from "./mails.js";
import { clusterHandlers, metaHandlers } from "./meta.js";
import { namespaceHandlers, namespaceReplays } from "./namespaces.js";
import { operationHandlers, operationReplays } from "./operations.js";
import { queueHandlers, queueReplays } from "./queues.js";
import { runHistoryHandlers, runLogHandlers } from "./run-history.js";
import { runImportHandlers } from "./run-import.js";
import { callbackHandlers, identifiedRunHandlers, runChangeHandlers, runHandlers, runReplays } from "./runs.js";
import { jobPreviewHandlers } from "./schedules.js";
import { webhookHandlers, webhookReplays } from "./webhooks.js";
import { workerProtocolHandlers } from "./worker-protocol.js";
import { taskHandlers, workerHandlers } from "./workers.js";

/** Long enough for a large body on a slow line, short enough that idle callers do not hold connections. */
const requestTimeoutMs = 60_000;
/** An @ and the longest key, percent-encoded in part. */
const maxParamLength = 300;

/** Commands that use the default address warn if the server there is that of another folder. */
const folderHeader = "carillon-folder";

/** Calls are validated by the contract's own checker. The framework's compilers would only slow down each start. */
function noSchemas(): never {
  throw new Error("Routes have no schema of the framework.");
}

/** The application for those that start and stop it; only this folder uses the framework's own type. */
export type Api = FastifyInstance;

/** The HTTP side of a node, not yet listening. */
export function createApi(options: ApiOptions): Api {
  const app = fastify({
    ...(options.logger !== undefined && { loggerInstance: options.logger }),
    // A hook below writes one line for each call, with its outcome.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    bodyLimit: limits.bodyBytes,
    // A stream of lines may last longer: the limit of other bodies is in limitBodyTime, of headers in Node's headersTimeout.
    requestTimeout: 0,
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (request) => requestIdOf(request.headers[requestIdHeader], options.newRequestId),
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply, options.metrics),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, options.newRequestId()),
    rewriteUrl: ({ url = "/" }) => ownAddress(url),
    routerOptions: { maxParamLength, ignoreTrailingSlash: true },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  acceptJsonBodies(app);
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, options.metrics));
  app.setNotFoundHandler((request, reply) => sendProblem(unknownAddress(request), request, reply, options.metrics));
  addHooks(app, options);
  const { engine, namespace = "default", tracing = noTracing } = options;
  registerOperations(app, handlersOf(options), {
    namespace,
    keys: live(() => engine.idempotencyKeys),
    replays: replaysOf(options),
    identified: identifiedRunHandlers(options),
    tracing,
  });
  app.get("/docs/style.css", { config: { probe: true } }, (_request, reply) =>
    reply.type("text/css; charset=utf-8").send(docsStyle),
  );
  app.get("/docs/script.js", { config: { probe: true } }, (_request, reply) =>
    reply.type("text/javascript; charset=utf-8").send(docsScript),
  );
  // For a person who opens the address that a node prints.
  app.get("/", { config: { probe: true } }, (_request, reply) => reply.redirect("/docs"));
  return app;
}

function handlersOf(options: ApiOptions): Handlers {
  return {
    ...jobHandlers(options),
    ...jobChangeHandlers(options),
    ...jobHistoryHandlers(options),
    ...jobPreviewHandlers(options),
    ...runHandlers(options),
    ...runImportHandlers(options),
    ...runChangeHandlers(options),
    ...runHistoryHandlers(options),
    ...runLogHandlers(options),
    ...callbackHandlers(options),
    ...deadLetterHandlers(options),
    ...errorGroupHandlers(options),
    ...operationHandlers(options),
    ...backfillHandlers(options),
    ...explanationHandlers(options),
    ...queueHandlers(options),
    ...taskHandlers(options),
    ...limitHandlers(options),
    ...breakerHandlers(options),
    ...calendarHandlers(options),
    ...windowHandlers(options),
    ...namespaceHandlers(options),
    ...webhookHandlers(options),
    ...eventHandlers(options),
    ...workerHandlers(options),
    ...workerProtocolHandlers(options),
    ...clusterHandlers(options),
    ...mailHandlers(options),
    ...metaHandlers(options),
  };
}

function replaysOf(options: ApiOptions): Replays {
  return {
    ...jobReplays(options),
    ...runReplays(options),
    ...operationReplays(options),
    ...backfillReplays(options),
    ...queueReplays(options),
    ...namespaceReplays(options),
    ...webhookReplays(options),
  };
}

function quotasOf({ quotas, metrics }: ApiOptions): Quotas | null {
  return quotas === undefined ? null : new Quotas({ ...quotas, onRefused: (name) => metrics.rateLimited(name) });
}

function addHooks(app: FastifyInstance, options: ApiOptions): void {
  const { dev, folder, metrics, admission: budget = defaultAdmission, namespace = "default" } = options;
  const { callerOf = callerByNamespace(namespace) } = options;
  const quotas = quotasOf(options);
  const admission = new Admission(admissionLimits(budget));
  metrics.watchAdmission(admission.load);
  app.decorateRequest("ticket", null);
  limitBodyTime(app, requestTimeoutMs);
  let isClosing = false;
  const connections = new IdleConnections(app.server);
  app.addHook("preClose", async () => {
    isClosing = true;
    connections.end();
  });
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(securityHeaders).header(requestIdHeader, request.id);
    if (folder !== undefined) reply.header(folderHeader, encodeURI(folder));
    if (dev !== undefined) assertLoopbackCaller({ headers: request.headers, localPort: request.socket.localPort });
    // Before the body is read: no operation will use it.
    if (request.is404) throw unknownAddress(request);
    if (isClosing && request.routeOptions.config.probe !== true) {
      reply.header("Connection", "close");
      throw new CarillonError("shutting_down", "This node is shutting down.");
    }
    const { quota = null } = request.routeOptions.config;
    // Before the admission: a caller above its quota must not occupy the budget of others.
    if (quota !== null) quotas?.count(quota, () => callerOf(request), reply);
    const name = budgetOf(request);
    if (name !== undefined) request.ticket = admission.enter(name, request, reply);
  });
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.config.operationPath ?? "other";
    metrics.httpRequest({ method: request.method, route, status: reply.statusCode, durationMs: reply.elapsedTime });
    const { method } = request;
    request.log.debug({ method, path: pathOf(request), status: reply.statusCode }, "request answered");
  });
}

function budgetOf({ routeOptions: { config }, query }: FastifyRequest): BudgetName | undefined {
  const { budget, mayWait } = config;
  const isWaiting =
    mayWait === true && typeof query === "object" && query !== null && ("wait" in query || "follow" in query);
  return isWaiting ? "waits" : budget;
}

function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply, metrics: ApiMetrics): FastifyReply {
  const { body, headers, isServerFault } = toProblem(error, request.id);
  metrics.httpProblem(body.code);
  // The component that failed logs a temporary failure once; a line for each caller would only hide it.
  const level = body.retryable && body.status !== 500 ? "debug" : "error";
  if (isServerFault)
    request.log[level]({ err: error, method: request.method, path: pathOf(request) }, "request failed");
  return reply
    .headers(securityHeaders)
    .headers({ ...headers, [requestIdHeader]: request.id })
    .code(body.status)
    .type(problemType)
    .send(JSON.stringify(body));
}

function unknownAddress(request: FastifyRequest): CarillonError {
  return noSuchAddress(request.method, pathOf(request), shortened(request.url));
}

/** Without the query: the values that callers search for stay out of the log. */
function pathOf({ url }: FastifyRequest): string {
  return shortened(url.split("?", 1)[0] ?? "");
}

function shortened(url: string): string {
  return url.length <= 100 ? url : `${url.slice(0, 97)}…`;
}

/** The time in which a connection that is opened during the close must send its request. */
const firstRequestMs = 1_000;

/**
 * Tracks the connections that carry a request. A server that closes would wait for connections that never carried one (browsers
 * open some in advance) as if they were busy. This class ends them, and the others as they become idle.
 */
class IdleConnections {
  readonly #requests = new Map<Socket, number>();
  #isClosing = false;

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#requests.set(socket, 0);
      socket.once("close", () => this.#requests.delete(socket));
      if (this.#isClosing) socket.setTimeout(firstRequestMs, () => this.#endIdle(socket));
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#count(socket, 1);
      response.once("close", () => this.#count(socket, -1));
    });
  }

  /** From now on no connection outlasts its requests. */
  end(): void {
    this.#isClosing = true;
    for (const socket of this.#requests.keys()) this.#endIdle(socket);
  }

  #endIdle(socket: Socket): void {
    if (this.#requests.get(socket) === 0) socket.destroy();
  }

  #count(socket: Socket, change: 1 | -1): void {
    const requests = this.#requests.get(socket);
    if (requests === undefined) return;
    this.#requests.set(socket, requests + change);
    // The response may still be in the socket's buffer: end() sends it before it closes.
    if (this.#isClosing && requests + change === 0) socket.end();
  }
}
