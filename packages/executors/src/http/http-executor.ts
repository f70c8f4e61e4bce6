import type { CallbackAnswer } from "@carillon/core";
import {
  type Executor,
  type ExecutorHost,
  faultsOf,
  type HttpAnswer,
  NonRetryableError,
  RetryAfterError,
} from "@carillon/worker";
import { type HttpPayload, readHttpPayload } from "./http-payload.js";
import { httpRequest, httpScope } from "./http-request.js";
import { retryAfterMs } from "./retry-after.js";
import { sendGuarded } from "./send-guarded.js";

const callbackHeader = "carillon-callback-url";
/** The other side has begun, and will call back. */
const accepted = 202;

/** An answer that the success rule of the job does not take. */
class RuleNotMetError extends Error {
  override readonly name = "RuleNotMetError";
}

/**
 * Sends one request. A 2xx is success unless the job has a rule of its own; 408, 425, 429 and 5xx are tried again,
 * Retry-After is honoured; any other status ends the run. The idempotency key and the fence travel as headers, so that
 * the other side can do a thing once and refuse a late one.
 */
export function httpExecutor(host: ExecutorHost): Executor {
  return {
    name: "http",
    check: (payload) => faultsOf(readHttpPayload, payload),
    run: async (payload, context) => {
      const read = readHttpPayload(payload);
      const callback = read.callbackMs === null ? null : await context.callback();
      if (callback !== null && callback.answer !== null) return outputOf(callback.answer);
      const scope = await httpScope(read, payload, context);
      const request = await httpRequest(read, scope, context, host);
      if (callback !== null) request.headers[callbackHeader] = callbackUrl(callback.token, host);
      const { connectMs, firstByteMs, totalMs, answerBytes: mostBytes, redirects } = read;
      const limits = {
        signal: context.signal,
        mostBytes,
        ...(connectMs !== undefined && { connectMs }),
        ...(firstByteMs !== undefined && { firstByteMs }),
        ...(totalMs !== undefined && { totalMs }),
      };
      const answer = await sendGuarded(request, limits, redirects, host);
      if (callback !== null && read.callbackMs !== null && answer.status === accepted)
        throw callback.wait(read.callbackMs);
      return judged(read, answer, scope.upstream, host);
    },
  };
}

function callbackUrl(token: string, { callbackBase }: ExecutorHost): string {
  const base = callbackBase?.() ?? null;
  if (base === null)
    throw new NonRetryableError("this worker does not know at which address callbacks arrive: set CARILLON_PUBLIC_URL");
  return `${base.replace(/\/+$/, "")}/v1/callbacks/${token}`;
}

/** What the other side called back with, while nobody had the run. */
function outputOf(answer: CallbackAnswer): unknown {
  if (answer.status === "succeeded") return answer.output;
  const { message, retryable } = answer.error;
  if (!retryable) throw new NonRetryableError(message);
  throw answer.retryAfterMs === undefined ? new Error(message) : new RetryAfterError(answer.retryAfterMs, message);
}

function judged(read: HttpPayload, answer: HttpAnswer, upstream: unknown, { now }: ExecutorHost): unknown {
  const { status, headers, isCut } = answer;
  const body = bodyOf(answer);
  const isOk = status >= 200 && status < 300;
  const why = read.success === null ? (isOk ? null : "") : ruleFault(read.success, { status, headers, body, upstream });
  if (why === null) return { status, body, ...(isCut && { truncated: true }) };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const message = `the other side answered ${status}${why}${text === "" ? "" : `: ${text.slice(0, 200)}`}`;
  const isWorthRetrying = isOk || status >= 500 || [408, 425, 429].includes(status);
  if (!isWorthRetrying) throw new NonRetryableError(message);
  const afterMs = retryAfterMs(headers["retry-after"], now());
  if (afterMs !== undefined) throw new RetryAfterError(afterMs, message);
  throw isOk ? new RuleNotMetError(message) : new Error(message);
}

/** Null: the rule takes the answer. */
function ruleFault(rule: NonNullable<HttpPayload["success"]>, scope: Readonly<Record<string, unknown>>): string | null {
  const outcome = rule.holds(scope);
  if (!outcome.ok) return `, and the success rule ${rule.source} cannot be applied (${outcome.why})`;
  return outcome.holds ? null : `, which the success rule ${rule.source} does not take`;
}

/** JSON is given as such, anything else as text. */
function bodyOf({ body, headers, isCut }: HttpAnswer): unknown {
  const text = body.toString("utf8");
  if (isCut || !/\bjson\b|\+json/.test(headers["content-type"] ?? "")) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
