import { CarillonError } from "@carillon/core";
import { limits } from "@carillon/contract";
import { fastify, LogController, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Handlers } from "./call.js";
import { answerBrokenRequest } from "./broken-request.js";
import { docsStyle } from "./docs-style.js";
import { backfillHandlers } from "./handlers/backfills.js";
import { breakerHandlers } from "./handlers/breakers.js";
import { calendarHandlers } from "./handlers/calendars.js";
import { callbackHandlers } from "./handlers/callbacks.js";
import { catalogueHandlers } from "./handlers/catalogue.js";
import { deadLetterHandlers } from "./handlers/dead-letters.js";
import { errorGroupHandlers } from "./handlers/error-groups.js";
import { eventHandlers } from "./handlers/events.js";
import { jobBatchHandlers } from "./handlers/job-batch.js";
import { jobChangeHandlers } from "./handlers/job-changes.js";
import { explanationHandlers } from "./handlers/explanations.js";
import { jobHistoryHandlers } from "./handlers/job-history.js";
import { jobPreviewHandlers } from "./handlers/job-preview.js";
import { jobRunHandlers } from "./handlers/job-runs.js";
import { jobHandlers } from "./handlers/jobs.js";
import { metaHandlers } from "./handlers/meta.js";
import { recallsOf } from "./handlers/recalls.js";
import { namespaceHandlers } from "./handlers/namespaces.js";
import { runCreateHandlers } from "./handlers/run-create.js";
import { limitHandlers } from "./handlers/limits.js";
import { queueHandlers } from "./handlers/queues.js";
import { runLogHandlers } from "./handlers/run-logs.js";
import { operationHandlers } from "./handlers/operations.js";
import { runChangeHandlers } from "./handlers/run-changes.js";
import { runHandlers } from "./handlers/runs.js";
import { webhookHandlers } from "./handlers/webhooks.js";
import { windowHandlers } from "./handlers/windows.js";
import { workerHandlers } from "./handlers/workers.js";
import { workerProtocolHandlers } from "./handlers/worker-protocol.js";
import { type BudgetName, defaultIntake, Intake, intakeLimits } from "./intake.js";
import { acceptJsonBodies } from "./json-body.js";
import { assertLoopbackCaller } from "./loopback-guard.js";
import type { ApiMetrics, ApiOptions } from "./ports.js";
import { problemOf, problemType } from "./problem.js";
import { callerByNamespace } from "./quota/caller.js";
import { Quotas } from "./quota/quotas.js";
import { registerOperations } from "./register-operations.js";
import { QuietConnections } from "./quiet-connections.js";
import { requestIdHeader, requestIdOf } from "./request-id.js";
import { noTracing } from "./tracing.js";
import { securityHeaders } from "./security-headers.js";
import { similarAddress } from "./similar-address.js";

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
