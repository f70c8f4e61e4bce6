import { type CallbackMoment, type CallbackPart, type DurationMs, parseDuration } from "@carillon/core";
import { isObject } from "../check/check-value.js";
import { callbackLimits } from "../schema/limits.js";
import { WebhookCreate, WebhookPatch, WebhookRotate } from "../schema/webhook.js";
import { readBody } from "./body.js";
import { checkTarget, momentsOf, type RefuseTarget, usualParts } from "./end-callback.js";

export interface WebhookSpec {
  readonly url: string;
  readonly on: readonly CallbackMoment[];
  readonly tasks: readonly string[] | null;
  readonly queues: readonly string[] | null;
  readonly include: readonly CallbackPart[];
  readonly description: string | null;
}

export function readWebhookCreate(body: unknown, refuse?: RefuseTarget): WebhookSpec {
  return readBody(WebhookCreate, body, (given, findings) => {
    const { url = "", on, tasks = null, queues = null, include = usualParts, description = null } = given;
    if (isObject(body) && !("url" in body)) findings.add("/url", "field_missing", "url is required");
    else if (url !== "") checkTarget(url, "/url", findings, refuse);
    return { url, on: momentsOf(on), tasks, queues, include, description };
  });
}

export type WebhookChange = Partial<WebhookSpec> & { readonly isEnabled?: boolean };

export function readWebhookPatch(body: unknown, refuse?: RefuseTarget): WebhookChange {
  return readBody(WebhookPatch, body, ({ url, on, tasks, queues, include, description, enabled }, findings) => {
    if (url !== undefined) checkTarget(url, "/url", findings, refuse);
    return {
      ...(url !== undefined && { url }),
      ...(on !== undefined && { on: momentsOf(on ?? undefined) }),
      ...(tasks !== undefined && { tasks }),
      ...(queues !== undefined && { queues }),
      ...(include !== undefined && { include: include ?? usualParts }),
      ...(description !== undefined && { description }),
      ...(enabled !== undefined && { isEnabled: enabled }),
    };
  });
}

const usualOverlapMs: DurationMs = 86_400_000;

export function readWebhookRotate(body: unknown): { readonly overlapMs: DurationMs } {
  return readBody(WebhookRotate, body, ({ overlap }, findings) => {
    const overlapMs =
      overlap === undefined ? usualOverlapMs : findings.attempt("/overlap", () => parseDuration(overlap));
    if (overlapMs !== undefined && overlapMs > callbackLimits.overlapMs) {
      findings.add("/overlap", "duration_invalid", "must be at most 31d");
    }
    return { overlapMs: overlapMs ?? 0 };
  });
}
