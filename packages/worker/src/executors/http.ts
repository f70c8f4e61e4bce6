import { NonRetryableError, RetryAfterError } from "../runtime/errors.js";
import type { Task, TaskContext } from "../runtime/task.js";
import { objectPayload } from "./payload.js";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const longestAnswer = 64 * 1024;

/**
 * Sends one request: `{"url", "method"?, "headers"?, "body"?}`. A 2xx is success; 408, 425, 429 and 5xx are tried again,
 * Retry-After is honoured; any other status ends the run. The idempotency key and the fence travel as headers, so that
 * the other side can do a thing once and refuse a late one.
 */
export const http: Task = {
  name: "http",
  run: async (payload, context) => {
    const { url, init } = requestOf(objectPayload("http", payload), context);
    const response = await fetch(url, init);
    const body = await readCapped(response);
    if (response.ok) return { status: response.status, body };
    throw failureOf(response, body);
  },
};

function requestOf(
  payload: Readonly<Record<string, unknown>>,
  context: TaskContext,
): { url: string; init: RequestInit } {
  const { url, method = "GET", headers = {}, body } = payload;
  if (typeof url !== "string" || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new NonRetryableError('http wants {"url": "https://…"}');
  }
  if (typeof method !== "string" || !methods.includes(method.toUpperCase())) {
    throw new NonRetryableError(`http knows the methods ${methods.join(", ")}, not ${JSON.stringify(method)}`);
  }
  const sent = new Headers(headersOf(headers));
  sent.set("idempotency-key", context.idempotencyKey);
  sent.set("carillon-fence", String(context.fence));
  const init: RequestInit = { method: method.toUpperCase(), headers: sent, signal: context.signal };
  if (body === undefined || body === null) return { url, init };
  if (typeof body !== "string" && !sent.has("content-type")) sent.set("content-type", "application/json");
  return { url, init: { ...init, body: typeof body === "string" ? body : JSON.stringify(body) } };
}

function headersOf(headers: unknown): Record<string, string> {
  if (
    typeof headers !== "object" ||
    headers === null ||
    Object.values(headers).some((value) => typeof value !== "string")
  ) {
    throw new NonRetryableError("http wants headers as an object of strings");
  }
  return headers as Record<string, string>;
}

/** Reads no more than the cap, whatever the other side sends; JSON is given as such, anything else as text. */
async function readCapped(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the stream, so that the rest is never sent.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= longestAnswer) break;
  }
  const text = Buffer.concat(chunks).subarray(0, longestAnswer).toString("utf8");
  if (!response.headers.get("content-type")?.includes("json") || size > longestAnswer) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function failureOf(response: Response, body: unknown): Error {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const message = `the other side answered ${response.status}${text === "" ? "" : `: ${text.slice(0, 200)}`}`;
  const isWorthRetrying = response.status >= 500 || [408, 425, 429].includes(response.status);
  if (!isWorthRetrying) return new NonRetryableError(message);
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? new RetryAfterError(message, seconds * 1_000) : new Error(message);
}
