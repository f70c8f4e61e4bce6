import { NonRetryableError, type ExecutorHost, type TaskContext } from "@carillon/worker";
import { JsonTemplate } from "@carillon/condition";
import { mapTexts, rendered, scopeOf, type TemplateScope } from "../payload/templates.js";
import type { HttpAuth, HttpPayload } from "./http-payload.js";

export interface PlainRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

const longestUrl = 16_384;

/** The values for the templates of a request, and for the rule that judges its answer. */
export function httpScope(read: HttpPayload, payload: unknown, context: TaskContext): Promise<TemplateScope> {
  const templates = [read.url, read.bodyTemplate, ...read.headers.values()];
  return scopeOf(payload, context, { templates, needsUpstream: /\bupstream\b/.test(read.success?.source ?? "") });
}

function traceHeaders({ traceparent, tracestate }: TaskContext): Record<string, string> {
  return { ...(traceparent !== undefined && { traceparent }), ...(tracestate !== undefined && { tracestate }) };
}

/** What is sent: the templates with their values, the secrets in their place. */
export async function httpRequest(
  read: HttpPayload,
  scope: TemplateScope,
  context: TaskContext,
  { secrets }: Pick<ExecutorHost, "secrets">,
): Promise<PlainRequest> {
  const headers: Record<string, string> = { "user-agent": "carillon", accept: "*/*" };
  // A job that names another trace says all of it.
  if (!read.headers.has("traceparent")) Object.assign(headers, traceHeaders(context));
  for (const [name, template] of read.headers) headers[name] = rendered(template, scope);
  const body = bodyOf(read, scope, headers);
  if (read.auth !== null) Object.assign(headers, authHeader(read.auth, await secretOf(read.auth, secrets)));
  headers["idempotency-key"] = context.idempotencyKey;
  headers["carillon-fence"] = String(context.fence);
  headers["carillon-run-id"] = context.runId;
  headers["carillon-attempt"] = String(context.attempt);
  for (const [name, value] of Object.entries(headers)) {
    // oxlint-disable-next-line no-control-regex -- they are what is refused
    if (/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/.test(value))
      throw new NonRetryableError(`the header ${name} has characters that no header can carry`);
  }
  return { url: urlOf(read, scope), method: read.method, headers, ...(body !== undefined && { body }) };
}

/** A value stays within its place of the address, whatever it holds. */
function urlOf({ url }: HttpPayload, scope: TemplateScope): URL {
  const escaped = mapTexts(scope, encodeURIComponent) as TemplateScope;
  const text = rendered(url, escaped);
  if (text.length > longestUrl || !URL.canParse(text) || hasDotValue(url.source, text))
    throw new NonRetryableError(`the address ${JSON.stringify(text.slice(0, 200))} cannot be used`);
  return new URL(text);
}

/** A value of two dots would lead out of the author's path. */
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
  // A text within JSON: a quotation mark in a value is not the end of it.
  return rendered(bodyTemplate, mapTexts(scope, (text) => JSON.stringify(text).slice(1, -1)) as TemplateScope);
}

async function secretOf({ secret }: HttpAuth, secrets: ExecutorHost["secrets"]): Promise<string> {
  const found = await secrets.find(secret);
  if (found === undefined) throw new NonRetryableError(`this worker has no secret ${JSON.stringify(secret)}`);
  return found;
}

function authHeader(auth: HttpAuth, secret: string): Record<string, string> {
  if (auth.type === "bearer") return { authorization: `Bearer ${secret}` };
  if (auth.type === "header") return { [auth.name.toLowerCase()]: secret };
  return { authorization: `Basic ${Buffer.from(`${auth.username}:${secret}`).toString("base64")}` };
}
