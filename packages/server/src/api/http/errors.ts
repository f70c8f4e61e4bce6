import type { Socket } from "node:net";
import { type Finding, limits, type Operation, operations, type Problem } from "@carillon/contract";
import { CarillonError, errorCatalogue, type ErrorCode, similarWord, slipsBetween } from "@carillon/core";

export function notFound(detail: string): CarillonError {
  return new CarillonError("not_found", detail);
}

/** The thing that a call names. Throws not_found with this detail for null. */
export function found<Thing>(thing: Thing | null, detail: string): Thing {
  if (thing === null) throw notFound(detail);
  return thing;
}

/** One part of a request is invalid; `pointer` names it, as in "?status". */
export function refused(pointer: string, code: ErrorCode, detail: string): CarillonError {
  return new CarillonError(code, `${pointer}: ${detail}`, { items: [{ pointer, code, detail }] });
}

/** Adds the name of the parameter to a parser's error. */
export function parsed<Value>(pointer: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw error instanceof CarillonError ? refused(pointer, error.code, error.message) : error;
  }
}

/** The caller has used up its quota; nothing was done. */
export class QuotaExceeded extends CarillonError {
  readonly retryAfterSeconds: number;

  constructor(detail: string, retryAfterSeconds: number) {
    super("rate_limited", detail);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A call that writes may have taken effect, and the database's answer was lost. */
export class UnknownOutcome extends CarillonError {
  /** Whether the same call, sent again, cannot have its effect twice. */
  readonly isRepeatable: boolean;

  constructor(howToRepeat: "by_key" | "by_method" | null, cause: unknown) {
    super("outcome_unknown", unknownOutcomes[howToRepeat ?? "never"], { cause });
    this.isRepeatable = howToRepeat !== null;
  }
}

export const hasUnknownOutcome = (error: unknown): boolean =>
  error instanceof CarillonError && error.code === "outcome_unknown";

const mayBeDone = "The call may have taken effect: the connection to the database was lost before its answer arrived.";
const unknownOutcomes = {
  by_key: `${mayBeDone} Send it again with the same Idempotency-Key: if it took effect, you get its answer, otherwise it is done once.`,
  by_method: `${mayBeDone} Send it again, or read the resource: the same call leaves the same state.`,
  never: `${mayBeDone} Read the resource or its list before you send the call again; with an Idempotency-Key a repeated call is safe.`,
};

/** The response to a failed call (RFC 9457). */
export interface ProblemResponse {
  readonly body: Problem;
  readonly headers: Readonly<Record<string, string>>;
  /** The caller did not cause the error: it belongs into the log. */
  readonly isServerFault: boolean;
}

export const problemType = "application/problem+json; charset=utf-8";

/** A database that restarts is back within seconds, and a node that stops usually has others beside it. */
const defaultRetryAfterSeconds = 2;

export function toProblem(error: unknown, requestId: string): ProblemResponse {
  const { code, detail: ownDetail, items } = classify(error);
  const { status, title } = errorCatalogue[code];
  const retryable = isRetryable(error, code);
  // The details of server errors (hosts, statements) are for the log, not for callers.
  const serverDetail =
    retryable && status !== 500
      ? `${title}; try again a little later.`
      : "The server failed. Its log has the reason, under this request_id.";
  const detail = status >= 500 && !(error instanceof UnknownOutcome) ? serverDetail : ownDetail;
  return {
    body: {
      type: "about:blank",
      title,
      status,
      code,
      detail,
      errors: items.map((item) => ({ ...item })),
      request_id: requestId,
      retryable,
    },
    headers: retryable && status !== 500 ? { "Retry-After": String(retryAfterOf(error)) } : {},
    isServerFault: status >= 500,
  };
}

/** A call with an unknown outcome may be sent again only if it cannot have its effect twice. */
function isRetryable(error: unknown, code: ErrorCode): boolean {
  if (code === "outcome_unknown") return error instanceof UnknownOutcome && error.isRepeatable;
  return errorCatalogue[code].retryable;
}

function retryAfterOf(error: unknown): number {
  return error instanceof QuotaExceeded ? error.retryAfterSeconds : defaultRetryAfterSeconds;
}

interface Classified {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly items: readonly Finding[];
}

function classify(error: unknown): Classified {
  if (error instanceof CarillonError) return { code: error.code, detail: error.message, items: error.items };
  const [code, detail = ""] = frameworkProblems.get(frameworkCode(error)) ?? [];
  if (code !== undefined) return { code, detail, items: [] };
  if (isClientFault(error)) return { code: "bad_request", detail: "The request could not be read.", items: [] };
  return { code: "internal", detail: "", items: [] };
}

const frameworkProblems = new Map<string, readonly [code: ErrorCode, detail: string]>(
  Object.entries({
    FST_ERR_CTP_INVALID_MEDIA_TYPE: [
      "unsupported_media_type",
      "Send the body as JSON, with the header Content-Type: application/json.",
    ],
    FST_ERR_CTP_BODY_TOO_LARGE: ["payload_too_large", `The body is larger than ${limits.bodyBytes} bytes.`],
    FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["bad_request", "The length of the body differs from Content-Length."],
    FST_ERR_MAX_PARAM_LENGTH: ["not_found", "A part of the address is longer than any name."],
    FST_ERR_BAD_URL: [
      "bad_request",
      "The address has a percent sign that is not followed by two hex digits of valid UTF-8.",
    ],
  } as const),
);

/** Fastify's own errors carry a code; matching on their text would break with any release. */
function frameworkCode(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}

function isClientFault(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("statusCode" in error)) return false;
  return typeof error.statusCode === "number" && error.statusCode >= 400 && error.statusCode < 500;
}

/** Answers bytes that Node's parser could not read as HTTP; there is no request object to reply to. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { body } = toProblem(brokenRequest(error.code), requestId);
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${body.status} ${body.title}\r\nContent-Type: ${problemType}\r\nX-Request-Id: ${requestId}\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}

function brokenRequest(code: string | undefined): CarillonError {
  if (code === "HPE_HEADER_OVERFLOW")
    return new CarillonError("headers_too_large", "The headers are larger than 16 KiB.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new CarillonError("bad_request", "The request did not arrive in time.");
  return new CarillonError("bad_request", "This is not an HTTP/1.1 request.");
}

/** The error for an address without an operation, with the most similar one as a hint. */
export function noSuchAddress(method: string, path: string, url: string): CarillonError {
  const similar = similarAddress(method, path);
  const hint = similar === undefined ? "GET /docs lists the operations." : `did you mean ${similar}?`;
  return notFound(`There is nothing at ${method} ${url}; ${hint}`);
}

interface KnownAddress {
  readonly method: string;
  readonly path: string;
  readonly parts: readonly string[];
}

const knownAddresses: readonly KnownAddress[] = Object.values<Operation>(operations).map(({ method, path }) => {
  return { method, path, parts: partsOf(path) };
});

/** Methods are rarely mistyped: an address with the same method wins over any other. */
const otherMethodPenalty = 1_000;

/** The published address that was probably meant, as "POST /v1/jobs/{id}:runNow"; undefined when none is similar enough. */
function similarAddress(method: string, path: string): string | undefined {
  const given = partsOf(path);
  let best: KnownAddress | undefined;
  let minSlips = Number.POSITIVE_INFINITY;
  for (const one of knownAddresses) {
    const slips = slipsOf(given, one.parts) + (one.method === method ? 0 : otherMethodPenalty);
    if (slips < minSlips) [best, minSlips] = [one, slips];
  }
  return best === undefined ? undefined : `${best.method} ${best.path}`;
}

/** A verb is a part like any other, whether a colon or a slash precedes it. */
function partsOf(path: string): readonly string[] {
  return path.split(/[/:]/);
}

/** Infinite if one of the parts has no similarity with its counterpart. */
function slipsOf(given: readonly string[], known: readonly string[]): number {
  if (given.length !== known.length) return Number.POSITIVE_INFINITY;
  let slips = 0;
  for (const [index, part] of given.entries()) {
    const word = known[index] ?? "";
    if (part === word || (word.startsWith("{") && part !== "")) continue;
    if (part === "" || !isSimilar(part, word)) return Number.POSITIVE_INFINITY;
    slips += slipsBetween(part, word);
  }
  return slips;
}

function isSimilar(part: string, word: string): boolean {
  return similarWord(part, [word]) !== undefined || (part.length > 2 && word.startsWith(part));
}
