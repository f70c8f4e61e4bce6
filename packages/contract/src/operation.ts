import type { ErrorCode } from "@carillon/core";
import type { Static, TObject, TSchema } from "typebox";

/** What a caller must be allowed to do. `public` needs no right; with `token` the address itself carries the right, for one call. */
export type Permission =
  | "public"
  | "token"
  | "jobs:read"
  | "jobs:write"
  | "runs:read"
  | "runs:write"
  | "calendars:read"
  | "calendars:write"
  | "queues:read"
  | "queues:write"
  | "cluster:read"
  | "namespaces:read"
  | "namespaces:write"
  | "limits:read"
  | "limits:write"
  | "webhooks:read"
  | "webhooks:write"
  | "workers:read"
  | "workers:write"
  | "workers:serve";

/** Classes of calls, each with a quota of its own. A `bulk` call does much at once; of `stream` each opening counts. */
export const quotaClasses = Object.freeze(["read", "write", "bulk", "stream"] as const);
export type QuotaClass = (typeof quotaClasses)[number];
/** Which budget a call counts against. Probes are never limited; workers by no quota. */
export type RateClass = QuotaClass | "worker" | "none";

export interface Answer {
  readonly description: string;
  readonly schema?: TSchema;
  /** application/json by default. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Another address of the same operation, served but not published. */
export interface Alias {
  readonly path: string;
  /** Its callers use the field names of another system, which the answer then carries too. */
  readonly legacySpelling?: true;
}

/** The address of a verb with a slash in place of its colon. */
const withSlash = (path: string): string => path.replace(/:(?=\w+$)/, "/");

/** The method and the addresses of a verb such as /v1/queues/{name}:pause. */
export function verb<const Path extends string>(path: Path) {
  return { method: "POST", path, aliases: [{ path: withSlash(path) }] } as const;
}

/** The same of a verb that is also served without the version; `more` are further aliases. */
export function unversionedVerb<const Path extends string>(path: Path, more: readonly Alias[] = []) {
  const short = path.replace("/v1", "");
  const aliases = [...[withSlash(path), short, withSlash(short)].map((alias) => ({ path: alias })), ...more];
  return { method: "POST", path, aliases } as const;
}

/** One call of the API, declared once: the router, the checks, the OpenAPI document, the docs page and the client read it. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As OpenAPI writes it: /v1/jobs/{id} */
  readonly path: string;
  readonly aliases?: readonly Alias[];
  readonly tag: string;
  /** The method of the client that makes the call: group.method. Without it the client has none. */
  readonly client?: string;
  /** The member of the body that the client's method takes in place of the whole body. */
  readonly clientBody?: string;
  readonly summary: string;
  readonly description?: string;
  readonly permission: Permission;
  readonly rateClass: RateClass;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TObject;
  /** A missing body counts as an empty object. */
  readonly bodyOptional?: true;
  /** Takes If-Match: the call is refused unless the resource has that version. */
  readonly conditional?: true;
  /** The largest body, where it is not the usual one. */
  readonly bodyBytes?: number;
  /** The answer may take long, so the call ends when its caller disconnects. */
  readonly waits?: true;
  /** The answer is an endless stream of events; Last-Event-ID says after which event to continue. */
  readonly streams?: true;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Beside those that every operation can give. */
  readonly errors: readonly ErrorCode[];
}

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : undefined;
export type ParamsOf<Op extends Operation> = StaticOf<Op["params"]>;
export type QueryOf<Op extends Operation> = StaticOf<Op["query"]>;
export type BodyOf<Op extends Operation> = StaticOf<Op["body"]>;
/** The body of any answer that is not a problem; void for one without a body. */
export type AnswerOf<Op extends Operation> = {
  [Status in keyof Op["answers"]]: Op["answers"][Status] extends { readonly schema: infer Schema extends TSchema }
    ? Static<Schema>
    : void;
}[keyof Op["answers"]];

/** Whether the call takes an Idempotency-Key: every POST, except by workers, whose fences make it needless. */
export function takesIdempotencyKey({ method, rateClass }: Operation): boolean {
  return method === "POST" && (rateClass === "write" || rateClass === "bulk");
}

/** Whether the call may change something, so that its outcome can be unknown. A preview is a POST that changes nothing. */
export function isWrite({ method, rateClass }: Operation): boolean {
  return method !== "GET" && rateClass !== "read";
}

/**
 * The quota that a call counts against; null: none may refuse it. Results must always get through: those of workers, and those of
 * callbacks, whose senders may be outside the namespace and must not use up its quota.
 */
export function quotaClassOf({ rateClass, permission }: Operation): QuotaClass | null {
  return permission === "token" || rateClass === "worker" || rateClass === "none" ? null : rateClass;
}

type Codes = readonly ErrorCode[];

/** Errors of every call. */
export const commonErrors: Codes = [
  "bad_request",
  "host_refused",
  "origin_refused",
  "headers_too_large",
  "internal",
  "shutting_down",
];
/** Further errors of a call that takes an Idempotency-Key. */
const keyErrors: Codes = [
  "idempotency_in_progress",
  "idempotency_key_reused",
  "idempotency_key_stale",
  "field_invalid",
  "not_found",
];

/** Every error that an operation can end with. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const common = operation.rateClass === "none" ? commonErrors : [...commonErrors, "overloaded" as const];
  const counted = quotaClassOf(operation) === null ? [] : (["rate_limited"] as const);
  const keyed = takesIdempotencyKey(operation) ? keyErrors : [];
  const open =
    isWrite(operation) && operation.errors.includes("database_unavailable") ? (["outcome_unknown"] as const) : [];
  return [...new Set([...operation.errors, ...common, ...counted, ...keyed, ...open])];
}

/** Of a call that needs the database; not_found stands for an unknown namespace, too. */
export const storeErrors = [
  "not_found",
  "database_unavailable",
  "database_timeout",
  "overloaded",
] as const satisfies Codes;
/** Of a call that refuses unknown parameters: every one but the probes. */
export const queryErrors = ["unknown_field", "field_invalid"] as const satisfies Codes;
/** Of a call with a body. */
export const bodyErrors = [
  "json_invalid",
  ...queryErrors,
  "field_missing",
  "payload_too_large",
  "unsupported_media_type",
] as const satisfies Codes;
/** Of most calls that get one resource, that list many, and that change one. */
export const getErrors = [...queryErrors, ...storeErrors] as const satisfies Codes;
export const listErrors = [...queryErrors, "page_token_invalid", ...storeErrors] as const satisfies Codes;
export const writeErrors = [...bodyErrors, ...storeErrors] as const satisfies Codes;
/** Of a call with the filters of jobs or runs. */
export const filterErrors = [
  "status_unknown",
  "label_selector_invalid",
  "path_not_searchable",
  "instant_invalid",
] as const satisfies Codes;
/** The answer of a call that has only this one, and its errors: by default those of a call that gets one resource. */
export function singleAnswer<Schema extends TSchema>(schema: Schema, description: string, errors: Codes = getErrors) {
  return { answers: { 200: { description, schema } }, errors } as const;
}
/** The same of a call that lists many, page by page. */
export function pageAnswer<Schema extends TSchema>(schema: Schema) {
  return { answers: { 200: { description: "One page", schema } }, errors: listErrors } as const;
}
/** Of a call with the definition of a job. */
export const definitionErrors = [
  ...bodyErrors,
  "not_supported_yet",
  "payload_invalid",
  "address_refused",
  "cron_invalid",
  "cron_never_fires",
  "time_zone_unknown",
  "schedule_invalid",
  "schedule_in_past",
  "duration_invalid",
  "instant_invalid",
  "retry_invalid",
  "limit_invalid",
  "template_invalid",
  "template_value_missing",
  "template_value_invalid",
  "calendar_unknown",
  "condition_invalid",
  "upstream_unknown",
  "dependency_cycle",
] as const satisfies Codes;
/** Of a call that changes a job. */
export const changeErrors = [
  "not_found",
  "precondition_failed",
  "job_ended",
  "job_busy",
  ...storeErrors,
] as const satisfies Codes;
