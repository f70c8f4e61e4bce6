import { answerSpellings, commonErrors, errorsOf, operations, Problem, type Operation } from "@carillon/contract";
import { isObject } from "@carillon/core";
import type { FastifyInstance } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";

const declared: readonly Operation[] = Object.values(operations);
const validators = new Map<TSchema, (value: unknown) => readonly { instancePath: string; message: string }[]>();

function faultsOf(schema: TSchema, value: unknown): string[] {
  let errors = validators.get(schema);
  if (errors === undefined) {
    const validator = Compile(schema);
    errors = (given) => validator.Errors(given);
    validators.set(schema, errors);
  }
  return errors(value).map((fault) => `${fault.instancePath} ${fault.message}`);
}

/** Compares every response with the declaration of its operation, and collects the differences. */
export function watchAnswers(app: FastifyInstance): string[] {
  const violations: string[] = [];
  app.addHook("onSend", async (request, reply, payload) => {
    const { operationPath } = request.routeOptions.config;
    const operation = declared.find(
      (one) => one.path === operationPath && one.method === (request.method === "HEAD" ? "GET" : request.method),
    );
    const faults = faultsOfAnswer(operation, {
      route: request.routeOptions.url,
      status: reply.statusCode,
      type: String(reply.getHeader("content-type") ?? ""),
      body: typeof payload === "string" ? payload : "",
    });
    violations.push(...faults.map((fault) => `${request.method} ${request.url} ${reply.statusCode}: ${fault}`));
  });
  return violations;
}

interface Sent {
  /** Undefined if the operation declares none. */
  readonly route: string | undefined;
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

function faultsOfAnswer(operation: Operation | undefined, { route, status, type, body }: Sent): string[] {
  if (status >= 500 && status !== 503 && status !== 504) return [`a mistake of the server: ${body}`];
  if (type.startsWith("application/problem+json")) {
    const problem = JSON.parse(body) as { status?: unknown; code?: string };
    const declaredCodes = operation === undefined ? ["not_found", ...commonErrors] : errorsOf(operation);
    const allowed: readonly string[] = [...declaredCodes, "method_not_allowed"];
    return [
      ...faultsOf(Problem, problem),
      ...(problem.status === status ? [] : [`the body says ${String(problem.status)}`]),
      ...(allowed.includes(problem.code ?? "") ? [] : [`the code ${problem.code} is not declared`]),
    ];
  }
  if (route === "/" && status === 302) return [];
  if (operation === undefined) return status < 300 ? [] : ["not a problem document"];
  const answer = operation.answers[status];
  if (answer === undefined) return ["the status is not declared"];
  if (answer.schema === undefined) return body === "" ? [] : ["there should be no body"];
  if (answer.contentType !== undefined) return type.startsWith(answer.contentType) ? [] : [`the type is ${type}`];
  return faultsOf(answer.schema, withoutSpellings(JSON.parse(body)));
}

const theirNames = new Set([...answerSpellings.map(({ theirs }) => theirs), "history"]);

/** The declared part of an answer about jobs, whose addresses may be those of other systems. */
function withoutSpellings(body: unknown): unknown {
  if (!isObject(body)) return body;
  if (Array.isArray(body["jobs"])) return { ...body, jobs: body["jobs"].map(withoutSpellings) };
  if (!("cron_expression" in body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !theirNames.has(name)));
}
