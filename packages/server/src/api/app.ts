import { CarillonError } from "@carillon/core";
import { limits } from "@carillon/contract";
import { fastify, LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Handlers } from "./http/call.js";
import { answerBrokenRequest } from "./http/broken-request.js";
import { docsStyle } from "./http/docs-style.js";
import { backfillHandlers } from "./backfills.js";
import { breakerHandlers } from "./breakers.js";
import { calendarHandlers } from "./calendars.js";
import { callbackHandlers } from "./callbacks.js";
import { catalogueHandlers } from "./tasks.js";
import { deadLetterHandlers } from "./dead-letters.js";
import { errorGroupHandlers } from "./error-groups.js";
import { eventHandlers } from "./events.js";
import { jobBatchHandlers } from "./job-batch.js";
import { jobChangeHandlers } from "./job-changes.js";
import { explanationHandlers } from "./explanations.js";
import { jobHistoryHandlers } from "./job-history.js";
import { jobPreviewHandlers } from "./schedules.js";
import { jobRunHandlers } from "./job-runs.js";
import { jobHandlers } from "./jobs.js";
import { metaHandlers } from "./meta.js";
import { recallsOf } from "./recalls.js";
import { namespaceHandlers } from "./namespaces.js";
import { runCreateHandlers } from "./run-create.js";
import { limitHandlers } from "./limits.js";
import { queueHandlers } from "./queues.js";
import { runLogHandlers } from "./run-logs.js";
import { operationHandlers } from "./operations.js";
import { runChangeHandlers } from "./run-changes.js";
import { runHandlers } from "./runs.js";
import { webhookHandlers } from "./webhooks.js";
import { windowHandlers } from "./windows.js";
import { workerHandlers } from "./workers.js";
import { workerProtocolHandlers } from "./worker-protocol.js";
import { type BudgetName, defaultIntake, Intake, intakeLimits } from "./http/admission.js";
import { acceptJsonBodies } from "./http/request.js";
import { assertLoopbackCaller } from "./http/access.js";
import type { ApiMetrics, ApiOptions } from "./http/handler.js";
import { problemOf, problemType } from "./http/errors.js";
import { callerByNamespace } from "./http/caller.js";
import { Quotas } from "./http/quota.js";
import { registerOperations } from "./http/routes.js";
import { QuietConnections } from "./http/idle-connections.js";
import { requestIdHeader, requestIdOf } from "./http/request-id.js";
import { noTracing } from "./http/tracing.js";
import { securityHeaders } from "./http/security-headers.js";
import { similarAddress } from "./http/similar-address.js";

/** Long enough for a large body on a slow line, short enough that idle callers do not hold connections. */
const requestTimeoutMs = 60_000;
/** An @ and the longest key, percent-encoded in part. */
const longestParam = 300;

/** Calls are checked by the contract's own checker. The framework's compilers would be loaded at every start, for nothing. */
function noSchemas(): never {
  throw new Error("no route has a schema of the framework's");
}

/** What those who start and stop it hold; the framework's own name stays in this folder. */
export type Api = FastifyInstance;

/** The HTTP side of a node, not yet listening. */
export function createApi(options: ApiOptions): Api {
  const app = fastify({
    ...(options.logger !== undefined && { loggerInstance: options.logger }),
    // One line for each call is written by a hook below, with its outcome.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    bodyLimit: limits.bodyBytes,
    requestTimeout: requestTimeoutMs,
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (request) => requestIdOf(request.headers[requestIdHeader], options.newRequestId),
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply, options.metrics),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, options.newRequestId()),
    routerOptions: { maxParamLength: longestParam, ignoreTrailingSlash: true },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  acceptJsonBodies(app);
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, options.metrics));
  app.setNotFoundHandler((request, reply) => sendProblem(noSuchAddress(request), request, reply, options.metrics));
  addHooks(app, options);
  const { engine: receipts, namespace = "default", tracing = noTracing } = options;
  registerOperations(app, handlersOf(options), { namespace, receipts, recalls: recallsOf(options), tracing });
  app.get("/docs/style.css", { config: { probe: true } }, (_request, reply) =>
    reply.type("text/css; charset=utf-8").send(docsStyle),
  );
  // Who opens the address that a node prints wants to see something.
  app.get("/", { config: { probe: true } }, (_request, reply) => reply.redirect("/docs"));
  return app;
}

function handlersOf(options: ApiOptions): Handlers {
  return {
    ...jobHandlers(options),
    ...jobBatchHandlers(options),
    ...callbackHandlers(options),
    ...deadLetterHandlers(options),
    ...errorGroupHandlers(options),
    ...jobPreviewHandlers(options),
    ...jobChangeHandlers(options),
    ...jobRunHandlers(options),
    ...jobHistoryHandlers(options),
    ...explanationHandlers(options),
    ...runHandlers(options),
    ...runChangeHandlers(options),
    ...operationHandlers(options),
    ...runLogHandlers(options),
    ...runCreateHandlers(options),
    ...eventHandlers(options),
    ...webhookHandlers(options),
    ...backfillHandlers(options),
    ...limitHandlers(options),
    ...queueHandlers(options),
    ...namespaceHandlers(options),
    ...breakerHandlers(options),
    ...calendarHandlers(options),
    ...windowHandlers(options),
    ...workerHandlers(options),
    ...catalogueHandlers(options),
    ...workerProtocolHandlers(options),
    ...metaHandlers(options),
  };
}

function quotasOf({ quotas, metrics }: ApiOptions): Quotas | null {
  return quotas === undefined ? null : new Quotas({ ...quotas, onRefused: (name) => metrics.rateLimited(name) });
}

function addHooks(app: FastifyInstance, options: ApiOptions): void {
  const { dev, metrics, intake: most = defaultIntake, namespace = "default" } = options;
  const { callerOf = callerByNamespace(namespace) } = options;
  const quotas = quotasOf(options);
  const intake = new Intake(intakeLimits(most));
  metrics.watchIntake(intake.load);
  app.decorateRequest("ticket", null);
  let closing = false;
  const connections = new QuietConnections(app.server);
  app.addHook("preClose", async () => {
    closing = true;
    connections.end();
  });
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(securityHeaders).header(requestIdHeader, request.id);
    if (dev !== undefined) assertLoopbackCaller({ headers: request.headers, localPort: request.socket.localPort });
    // Before the body is read: whatever it is, nobody wants it.
    if (request.is404) throw noSuchAddress(request);
    if (closing && request.routeOptions.config.probe !== true) {
      reply.header("Connection", "close");
      throw new CarillonError("shutting_down", "This node is shutting down.");
    }
    const { quota = null } = request.routeOptions.config;
    // Before the intake: who asks for too much must not take the places of others.
    if (quota !== null) quotas?.count(quota, () => callerOf(request), reply);
    const budget = budgetOf(request);
    if (budget !== undefined) request.ticket = intake.enter(budget, request, reply);
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
  const asksToWait =
    mayWait === true && typeof query === "object" && query !== null && ("wait" in query || "follow" in query);
  return asksToWait ? "waits" : budget;
}

function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply, metrics: ApiMetrics): FastifyReply {
  const { body, headers, ours } = problemOf(error, request.id);
  metrics.httpProblem(body.code);
  // Where a retry may help, others report the cause once: a line for each caller would only bury it.
  const level = body.retryable && body.status !== 500 ? "debug" : "error";
  if (ours) request.log[level]({ err: error, method: request.method, path: pathOf(request) }, "request failed");
  return reply
    .headers(securityHeaders)
    .headers({ ...headers, [requestIdHeader]: request.id })
    .code(body.status)
    .type(problemType)
    .send(JSON.stringify(body));
}

function noSuchAddress(request: FastifyRequest): CarillonError {
  const { method, url } = request;
  const meant = similarAddress(method, pathOf(request));
  const hint = meant === undefined ? "GET /docs lists what there is." : `did you mean ${meant}?`;
  return new CarillonError("not_found", `There is nothing at ${method} ${shortened(url)}; ${hint}`);
}

/** Without the query: what somebody searches for is nobody else's business. */
function pathOf({ url }: FastifyRequest): string {
  return shortened(url.split("?", 1)[0] ?? "");
}

function shortened(url: string): string {
  return url.length <= 100 ? url : `${url.slice(0, 97)}…`;
}
