import { JsonTemplate } from "@carillon/condition";
import {
  type ExecutorHost,
  type HttpAnswer,
  type HttpCall,
  NonRetryableError,
  type TaskContext,
  checkedAddresses,
  httpCall,
} from "@carillon/worker";
import { requiredSecret } from "../run-environment.js";
import { type TemplateScope, mapTexts, rendered, scopeOf } from "../templates.js";
import type { HttpAuth, HttpPayload } from "./http-payload.js";

export interface PlainRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

const maxUrlLength = 16_384;

/** The values for the templates of a request and for its success rule. */
export function httpScope(read: HttpPayload, payload: unknown, context: TaskContext): Promise<TemplateScope> {
  const templates = [read.url, read.bodyTemplate, ...read.headers.values()];
  return scopeOf(payload, context, { templates, needsUpstream: /\bupstream\b/.test(read.success?.source ?? "") });
}

function traceHeaders({ traceparent, tracestate }: TaskContext): Record<string, string> {
  return { ...(traceparent !== undefined && { traceparent }), ...(tracestate !== undefined && { tracestate }) };
}

/** The request of a run, with rendered templates and secrets. */
export async function httpRequest(
  read: HttpPayload,
  scope: TemplateScope,
  context: TaskContext,
  { secrets }: Pick<ExecutorHost, "secrets">,
): Promise<PlainRequest> {
  const headers: Record<string, string> = { "user-agent": "carillon", accept: "*/*" };
  // A job that sets its own trace sets all of it.
  if (!read.headers.has("traceparent")) Object.assign(headers, traceHeaders(context));
  for (const [name, template] of read.headers) headers[name] = rendered(template, scope);
  const body = bodyOf(read, scope, headers);
  if (read.auth !== null)
    Object.assign(headers, authHeader(read.auth, await requiredSecret(read.auth.secret, secrets)));
  headers["idempotency-key"] = context.idempotencyKey;
  headers["carillon-fence"] = String(context.fence);
  headers["carillon-run-id"] = context.runId;
  headers["carillon-attempt"] = String(context.attempt);
  for (const [name, value] of Object.entries(headers)) {
    // oxlint-disable-next-line no-control-regex -- to refuse them
    if (/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/.test(value))
      throw new NonRetryableError(`The header ${name} has characters that a header cannot contain.`);
  }
  return { url: urlOf(read, scope), method: read.method, headers, ...(body !== undefined && { body }) };
}

/** A value is escaped, so that it stays within its part of the URL. */
function urlOf({ url }: HttpPayload, scope: TemplateScope): URL {
  const escaped = mapTexts(scope, encodeURIComponent) as TemplateScope;
  const text = rendered(url, escaped);
  if (text.length > maxUrlLength || !URL.canParse(text) || hasDotValue(url.source, text))
    throw new NonRetryableError(`The URL ${JSON.stringify(text.slice(0, 200))} is not valid.`);
  return new URL(text);
}

/** A value of two dots would leave the path that the author of the job wrote. */
function hasDotValue(source: string, text: string): boolean {
  return source.includes("{") && new URL(text).pathname.split("/").length !== pathOf(text).split("/").length;
}

function pathOf(text: string): string {
  const path = /^https?:\/\/[^/?#]*([^?#]*)/i.exec(text)?.[1] ?? "";
  return path === "" ? "/" : path;
}

function bodyOf(
  { body, bodyTemplate }: HttpPayload,
  scope: TemplateScope,
  headers: Record<string, string>,
): string | undefined {
  if (bodyTemplate === null && body === undefined) return undefined;
  const isText = bodyTemplate === null ? typeof body === "string" : !(bodyTemplate instanceof JsonTemplate);
  if (!isText) headers["content-type"] ??= "application/json";
  if (bodyTemplate === null) return typeof body === "string" ? body : JSON.stringify(body);
  if (bodyTemplate instanceof JsonTemplate) return JSON.stringify(rendered(bodyTemplate, scope));
  if (!(headers["content-type"] ?? "").includes("json")) return rendered(bodyTemplate, scope);
  // A text within JSON: a quotation mark in a value must not end it.
  return rendered(bodyTemplate, mapTexts(scope, (text) => JSON.stringify(text).slice(1, -1)) as TemplateScope);
}

function authHeader(auth: HttpAuth, secret: string): Record<string, string> {
  if (auth.type === "bearer") return { authorization: `Bearer ${secret}` };
  if (auth.type === "header") return { [auth.name.toLowerCase()]: secret };
  return { authorization: `Basic ${Buffer.from(`${auth.username}:${secret}`).toString("base64")}` };
}

type Limits = Pick<HttpCall, "connectMs" | "firstByteMs" | "totalMs" | "maxBytes" | "signal">;

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** Connects to checked addresses only. Follows redirects within the origin and refuses all others. */
export async function sendGuarded(
  request: PlainRequest,
  limits: Limits,
  maxRedirects: number,
  { outbound, resolve, timers }: Pick<ExecutorHost, "outbound" | "resolve" | "timers">,
): Promise<HttpAnswer> {
  let next = request;
  for (let followed = 0; ; followed++) {
    const addresses = await checkedAddresses(next.url, outbound, resolve);
    limits.signal.throwIfAborted();
    const answer = await httpCall({ ...next, ...limits, timers, addresses });
    const { location } = answer.headers;
    if (!redirectStatuses.has(answer.status) || location === undefined || maxRedirects === 0) return answer;
    if (followed === maxRedirects) throw new NonRetryableError(`There were more than ${maxRedirects} redirects.`);
    next = redirected(next, answer.status, location);
  }
}

function redirected(request: PlainRequest, status: number, location: string): PlainRequest {
  if (!URL.canParse(location, request.url.href))
    throw new NonRetryableError("The server redirects to an address that is not valid.");
  const url = new URL(location, request.url);
  if (url.origin !== request.url.origin) {
    throw new NonRetryableError(
      `The server redirects to ${url.origin}; only redirects within ${request.url.origin} are followed.`,
    );
  }
  const isSeeOther = status === 303 || (status <= 302 && request.method === "POST");
  if (!isSeeOther || request.method === "HEAD") return { ...request, url };
  const { "content-type": _type, ...headers } = request.headers;
  return { url, method: "GET", headers };
}
