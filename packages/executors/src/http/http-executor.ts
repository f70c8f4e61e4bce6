import { type CallbackAnswer, type DurationMs, type Instant, isObject, present } from "@carillon/core";
import {
  type AddressRules,
  closedAddress,
  type Executor,
  type ExecutorHost,
  type HttpAnswer,
  NonRetryableError,
  type PayloadFault,
  RetryAfterError,
  faultsOf,
} from "@carillon/worker";
import { type HttpPayload, readHttpPayload } from "./http-payload.js";
import { httpRequest, httpScope, sendGuarded } from "./http-request.js";

const callbackHeader = "carillon-callback-url";
/** The server has started work and will call back. */
const accepted = 202;

/** The success rule of the job is false for a 2xx. */
class RuleNotMetError extends Error {
  override readonly name = "RuleNotMetError";
}

/**
 * Sends one request. A 2xx is success unless the job has a success rule; 408, 425, 429 and 5xx are retried and Retry-After is
 * honoured; any other status ends the run. Headers carry the idempotency key and the fence, so that the server can do its
 * work once and refuse an older attempt.
 */
export function httpExecutor(host: ExecutorHost): Executor {
  return {
    name: "http",
    check: (payload) => [...faultsOf(readHttpPayload, payload), ...addressFaults(payload, host.outbound)],
    run: async (payload, context) => {
      const read = readHttpPayload(payload);
      const callback = read.callbackMs === null ? null : await context.callback();
      if (callback !== null && callback.answer !== null) return outputOfCallback(callback.answer);
      const scope = await httpScope(read, payload, context);
      const request = await httpRequest(read, scope, context, host);
      if (callback !== null) request.headers[callbackHeader] = callbackUrl(callback.token, host);
      const { connectMs, firstByteMs, totalMs, answerBytes: maxBytes, redirects } = read;
      const limits = {
        signal: context.signal,
        maxBytes,
        ...present({ connectMs, firstByteMs, totalMs }),
      };
      const answer = await sendGuarded(request, limits, redirects, host);
      if (callback !== null && read.callbackMs !== null && answer.status === accepted)
        throw callback.wait(read.callbackMs);
      return outputOfAnswer(read, answer, scope.upstream, host);
    },
  };
}

/** A host is never a template, so a closed one is refused before the job runs; other names are resolved when it connects. */
function addressFaults(payload: unknown, outbound: AddressRules): readonly PayloadFault[] {
  const url = isObject(payload) ? payload["url"] : undefined;
  const plain = typeof url === "string" ? url.replace(/[{}]/g, "x") : "";
  if (!/^https?:/i.test(plain) || !URL.canParse(plain)) return [];
  const message = closedAddress(new URL(plain), outbound);
  return message === null ? [] : [{ pointer: "/url", message, code: "address_refused" }];
}

function callbackUrl(token: string, { callbackBase }: ExecutorHost): string {
  const base = callbackBase?.() ?? null;
  if (base === null)
    throw new NonRetryableError("This worker does not know the address for callbacks: set CARILLON_PUBLIC_URL.");
  return `${base.replace(/\/+$/, "")}/v1/callbacks/${token}`;
}

/** The result of a callback that arrived before this attempt began. */
function outputOfCallback(answer: CallbackAnswer): unknown {
  if (answer.status === "succeeded") return answer.output;
  const { message, retryable } = answer.error;
  if (!retryable) throw new NonRetryableError(message);
  throw answer.retryAfterMs === undefined ? new Error(message) : new RetryAfterError(answer.retryAfterMs, message);
}

function outputOfAnswer(read: HttpPayload, answer: HttpAnswer, upstream: unknown, { now }: ExecutorHost): unknown {
  const { status, headers, isCut } = answer;
  const body = bodyOf(answer);
  const isOk = status >= 200 && status < 300;
  const failure =
    read.success === null ? (isOk ? null : "") : ruleFailure(read.success, { status, headers, body, upstream });
  if (failure === null) return { status, body, ...(isCut && { truncated: true }) };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const message = `The server answered ${status}${failure}${text === "" ? "" : `: ${text.slice(0, 200)}`}`;
  const isRetryable = isOk || status >= 500 || [408, 425, 429].includes(status);
  if (!isRetryable) throw new NonRetryableError(message);
  const afterMs = retryAfterMs(headers["retry-after"], now());
  if (afterMs !== undefined) throw new RetryAfterError(afterMs, message);
  throw isOk ? new RuleNotMetError(message) : new Error(message);
}

/** Null: the rule is true. */
function ruleFailure(
  rule: NonNullable<HttpPayload["success"]>,
  scope: Readonly<Record<string, unknown>>,
): string | null {
  const outcome = rule.holds(scope);
  if (!outcome.ok) return `, and the success rule ${rule.source} cannot be evaluated (${outcome.why})`;
  return outcome.holds ? null : `, for which the success rule ${rule.source} is false`;
}

/** The value if it is JSON, else the text. */
function bodyOf({ body, headers, isCut }: HttpAnswer): unknown {
  const text = body.toString("utf8");
  if (isCut || !/\bjson\b|\+json/.test(headers["content-type"] ?? "")) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The wait that Retry-After asks for, in seconds or as a date; undefined if it cannot be read. */
function retryAfterMs(value: string | undefined, now: Instant): DurationMs | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  // Only HTTP dates: "Sun, 06 Nov 1994 08:49:37 GMT" and its two older forms.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  const at = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
