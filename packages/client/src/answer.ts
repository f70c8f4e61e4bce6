import type { Problem } from "@carillon/contract";
import { ApiError } from "./errors.js";

/** Enough of a proxy's page to recognise it by. */
const longestExcerpt = 200;

type ProblemLike = Omit<Problem, "code"> & { readonly code: ApiError["code"] };

/** The error that a problem inside an answer stands for, as in a batch. */
export function problemError({ status, code, detail, errors, request_id, retryable }: Problem): ApiError {
  return new ApiError({ status, code, detail, errors, requestId: request_id, retryable, retryAfterMs: null });
}

/** The error that a refused call stands for. */
export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  const problem = asProblem(text);
  return new ApiError({
    status: response.status,
    code: problem?.code ?? "unexpected_answer",
    detail:
      problem?.detail ??
      `The answer is ${response.status} without a problem document: ${text.slice(0, longestExcerpt)}`,
    errors: problem?.errors ?? [],
    requestId: problem?.request_id ?? response.headers.get("x-request-id"),
    retryable: problem?.retryable ?? response.status >= 500,
    retryAfterMs: retryAfterOf(response),
  });
}

function asProblem(text: string): ProblemLike | null {
  const value = asJson(text);
  return isProblem(value) ? value : null;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Codes are not compared with the catalogue: a newer server may know more of them than this client. */
function isProblem(value: unknown): value is ProblemLike {
  if (typeof value !== "object" || value === null) return false;
  const { code, detail, errors } = value as Partial<Record<keyof Problem, unknown>>;
  return typeof code === "string" && typeof detail === "string" && Array.isArray(errors);
}

/** Our servers send seconds, never a date. */
function retryAfterOf(response: Response): number | null {
  const seconds = response.headers.get("retry-after");
  return seconds !== null && /^\d{1,5}$/.test(seconds) ? Number(seconds) * 1_000 : null;
}
