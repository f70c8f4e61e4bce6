import { CarillonError, errorCatalogue, type ErrorCode } from "@carillon/core";
import { limits, type Finding, type Problem } from "@carillon/contract";
import { QuotaExceeded } from "./quota-exceeded.js";

/** What every failed call is answered with (RFC 9457). */
export interface ProblemAnswer {
  readonly body: Problem;
  readonly headers: Readonly<Record<string, string>>;
  /** The caller could not help it: the error belongs into the log. */
  readonly ours: boolean;
}

export const problemType = "application/problem+json; charset=utf-8";

/** A database that comes back does so within seconds; a node that stops has others beside it. */
const usualRetryAfterSeconds = 2;

export function problemOf(error: unknown, requestId: string): ProblemAnswer {
  const { code, detail: own, items } = understood(error);
  const { status, title, retryable } = errorCatalogue[code];
  // What failed behind the API (hosts, statements) is for the log, not for whoever can call it.
  const behind =
    retryable && status !== 500
      ? `${title}; try again a little later.`
      : "The server failed. Its log says why, under this request_id.";
  const detail = status >= 500 ? behind : own;
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
    headers: retryable && status !== 500 ? { "Retry-After": String(retryAfterSeconds(error)) } : {},
    ours: status >= 500,
  };
}

function retryAfterSeconds(error: unknown): number {
  return error instanceof QuotaExceeded ? error.retryAfterSeconds : usualRetryAfterSeconds;
}

interface Understood {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly items: readonly Finding[];
}

function understood(error: unknown): Understood {
  if (error instanceof CarillonError) return { code: error.code, detail: error.message, items: error.items };
  const known = frameworkProblems.get(frameworkCode(error));
  if (known !== undefined) return { ...known, items: [] };
  if (isClientFault(error)) return { code: "bad_request", detail: "The request could not be read.", items: [] };
  return { code: "internal", detail: "", items: [] };
}

const frameworkProblems: ReadonlyMap<string, { code: ErrorCode; detail: string }> = new Map([
  [
    "FST_ERR_CTP_INVALID_MEDIA_TYPE",
    {
      code: "unsupported_media_type",
      detail: "Send the body as JSON, with the header Content-Type: application/json.",
    },
  ],
  [
    "FST_ERR_CTP_BODY_TOO_LARGE",
    { code: "payload_too_large", detail: `The body is larger than ${limits.bodyBytes} bytes.` },
  ],
  [
    "FST_ERR_CTP_INVALID_CONTENT_LENGTH",
    { code: "bad_request", detail: "The body is not as long as Content-Length says." },
  ],
  ["FST_ERR_MAX_PARAM_LENGTH", { code: "not_found", detail: "Nothing here has a name as long as that." }],
  [
    "FST_ERR_BAD_URL",
    {
      code: "bad_request",
      detail: "The address has a percent sign that is not followed by two hex digits of valid UTF-8.",
    },
  ],
]);

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
