import {
  checkedAddresses,
  type ExecutorHost,
  type HttpAnswer,
  type HttpCall,
  httpCall,
  NonRetryableError,
} from "@carillon/worker";
import type { PlainRequest } from "./http-request.js";

type Limits = Pick<HttpCall, "connectMs" | "firstByteMs" | "totalMs" | "mostBytes" | "signal">;

const redirect = new Set([301, 302, 303, 307, 308]);

/** Sends to checked addresses only. A redirect is followed on the same origin and refused to anywhere else. */
export async function sendGuarded(
  request: PlainRequest,
  limits: Limits,
  redirects: number,
  { outbound, resolve, timers }: Pick<ExecutorHost, "outbound" | "resolve" | "timers">,
): Promise<HttpAnswer> {
  let next = request;
  for (let followed = 0; ; followed++) {
    const addresses = await checkedAddresses(next.url, outbound, resolve);
    limits.signal.throwIfAborted();
    const answer = await httpCall({ ...next, ...limits, timers, addresses });
    const { location } = answer.headers;
    if (!redirect.has(answer.status) || location === undefined || redirects === 0) return answer;
    if (followed === redirects) throw new NonRetryableError(`there were more than ${redirects} redirects`);
    next = redirected(next, answer.status, location);
  }
}

function redirected(request: PlainRequest, status: number, location: string): PlainRequest {
  if (!URL.canParse(location, request.url.href)) throw new NonRetryableError("the other side redirects to no address");
  const url = new URL(location, request.url);
  if (url.origin !== request.url.origin) {
    throw new NonRetryableError(
      `the other side redirects to ${url.origin}; only redirects within ${request.url.origin} are followed`,
    );
  }
  const isSeeOther = status === 303 || (status <= 302 && request.method === "POST");
  if (!isSeeOther || request.method === "HEAD") return { ...request, url };
  const { "content-type": _type, ...headers } = request.headers;
  return { url, method: "GET", headers };
}
