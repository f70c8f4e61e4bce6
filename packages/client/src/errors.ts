import type { Finding, Problem } from "@carillon/contract";

/** The codes that this version knows; a newer server may send others. */
export type ApiErrorCode = Problem["code"] | "unexpected_answer" | (string & {});

type ApiErrorFacts = { readonly detail: string } & Pick<
  ApiError,
  "status" | "code" | "errors" | "requestId" | "retryable" | "retryAfterMs" | "serverDate"
>;

/** The server refused the call. Decide by `code`; `message` is for people. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** From the server's catalogue; "unexpected_answer" if another program, such as a proxy, answered. */
  readonly code: ApiErrorCode;
  readonly errors: readonly Finding[];
  readonly requestId: string | null;
  readonly retryable: boolean;
  /** How long to wait before the next try, where the server says so. */
  readonly retryAfterMs: number | null;
  /** The server's clock when it refused, as the header Date says it. */
  readonly serverDate: string | null;

  constructor(facts: ApiErrorFacts) {
    super(facts.detail);
    this.status = facts.status;
    this.code = facts.code;
    this.errors = facts.errors;
    this.requestId = facts.requestId;
    this.retryable = facts.retryable;
    this.retryAfterMs = facts.retryAfterMs;
    this.serverDate = facts.serverDate;
  }
}

/** What `fetch` of Node.js reports if it could not connect. */
const neverConnected: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function codeOf(error: unknown): unknown {
  if (typeof error !== "object" || error === null) return undefined;
  if ("code" in error) return error.code;
  return "cause" in error ? codeOf(error.cause) : undefined;
}

/** The client got no answer: whether a request that writes took effect is unknown. */
export class ServerUnreachable extends Error {
  override readonly name = "ServerUnreachable";
  readonly reason: "network" | "timeout";
  /** false: no connection could be made, so the call surely had no effect. */
  readonly wasSent: boolean;

  constructor(reason: "network" | "timeout", message: string, cause: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.wasSent = !neverConnected.has(codeOf(cause));
  }
}

/** Enough of a proxy's page to recognise it by. */
const maxExcerptLength = 200;

type ProblemLike = Omit<Problem, "code"> & { readonly code: ApiError["code"] };

/** The error for a problem inside an answer, such as that of a batch. */
export function problemError({ status, code, detail, errors, request_id, retryable }: Problem): ApiError {
  return new ApiError({
    status,
    code,
    detail,
    errors,
    requestId: request_id,
    retryable,
    retryAfterMs: null,
    serverDate: null,
  });
}

/** The error for a response with a status that is not good. */
export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  const problem = asProblem(text);
  return new ApiError({
    status: response.status,
    code: problem?.code ?? "unexpected_answer",
    detail:
      problem?.detail ??
      `The answer is ${response.status} without a problem document: ${text.slice(0, maxExcerptLength)}`,
    errors: problem?.errors ?? [],
    requestId: problem?.request_id ?? response.headers.get("x-request-id"),
    retryable: problem?.retryable ?? response.status >= 500,
    retryAfterMs: retryAfterOf(response),
    serverDate: response.headers.get("date"),
  });
}

function asProblem(text: string): ProblemLike | null {
  try {
    const value: unknown = JSON.parse(text);
    return isProblem(value) ? value : null;
  } catch {
    return null;
  }
}

/** Codes are not compared with the catalogue, because a newer server may have more of them than this client. */
function isProblem(value: unknown): value is ProblemLike {
  if (typeof value !== "object" || value === null) return false;
  const { code, detail, errors } = value as Partial<Record<keyof Problem, unknown>>;
  return typeof code === "string" && typeof detail === "string" && Array.isArray(errors);
}

/** Carillon servers send seconds, never a date. */
function retryAfterOf(response: Response): number | null {
  const seconds = response.headers.get("retry-after");
  return seconds !== null && /^\d{1,5}$/.test(seconds) ? Number(seconds) * 1_000 : null;
}
