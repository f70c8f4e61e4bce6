import type { ErrorCode } from "@carillon/core";
import type { Static, TObject, TSchema } from "typebox";

/**
 * What a caller must be allowed to do. `public` needs nothing and tells nothing about anybody's jobs; with `token` the address
 * itself carries the right, for one call.
 */
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

/** Classes of calls, each with a quota of its own: `bulk` does much at once, of `stream` each opening counts. */
export const quotaClasses = Object.freeze(["read", "write", "bulk", "stream"] as const);

export type QuotaClass = (typeof quotaClasses)[number];

/** Which budget a call is counted against. Probes are never limited; workers are by no quota. */
export type RateClass = QuotaClass | "worker" | "none";

export interface Answer {
  readonly description: string;
  readonly schema?: TSchema;
  /** application/json unless said. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Another address of the same operation, served but not published. */
export interface Alias {
  readonly path: string;
  /** Its users know things by other names, which the answer then also carries. */
  readonly legacySpelling?: true;
}

/**
 * One call of the API, declared once: the router, the checks, the OpenAPI document, the docs page and the client's types
 * all read this.
 */
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
  /** A call without a body means an empty object. */
  readonly bodyOptional?: true;
  /** Takes If-Match: the call is refused unless the job has that version. */
  readonly conditional?: true;
  /** The largest body, where that is not the usual one. */
  readonly bodyBytes?: number;
  /** Its answer may take long: the call ends when its caller goes away. */
  readonly waits?: true;
  /** Its answer is a stream of events without an end; Last-Event-ID says where to go on. */
  readonly streams?: true;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Beyond those that every operation can give. */
  readonly errors: readonly ErrorCode[];
}

/** What any call can end with, whatever it asks for. */
export const commonErrors: readonly ErrorCode[] = [
  "bad_request",
  "host_refused",
  "origin_refused",
  "headers_too_large",
  "internal",
  "shutting_down",
];

/** What a call that takes an Idempotency-Key can end with besides. */
const keyErrors = [
  "idempotency_in_progress",
  "idempotency_key_reused",
  "field_invalid",
  "not_found",
] as const satisfies readonly ErrorCode[];

/** Whether the call may be repeated under an Idempotency-Key: what is asked for by POST, except by workers, who have fences. */
export function takesIdempotencyKey({ method, rateClass }: Operation): boolean {
  return method === "POST" && (rateClass === "write" || rateClass === "bulk");
}

/**
 * The quota that a call counts against; null where none may refuse it. Work that was done must be told: by workers, and by those who
 * were given an address for it, who may be anybody and must not use up what belongs to a namespace.
 */
export function quotaClassOf({ rateClass, permission }: Operation): QuotaClass | null {
  return permission === "token" || rateClass === "worker" || rateClass === "none" ? null : rateClass;
}

/** All that an operation can end with. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const common = operation.rateClass === "none" ? commonErrors : [...commonErrors, "overloaded" as const];
  const counted = quotaClassOf(operation) === null ? [] : (["rate_limited"] as const);
  return [
    ...new Set([...operation.errors, ...common, ...counted, ...(takesIdempotencyKey(operation) ? keyErrors : [])]),
  ];
}

/** What any call that needs the database can end with; not_found stands for an unknown namespace. */
export const storeErrors = [
  "not_found",
  "database_unavailable",
  "database_timeout",
  "overloaded",
] as const satisfies readonly ErrorCode[];

/** What any call but a probe can end with: parameters that it does not take are refused. */
export const queryErrors = ["unknown_field", "field_invalid"] as const satisfies readonly ErrorCode[];

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

/** What any body can be refused for. */
export const bodyErrors = [
  "json_invalid",
  ...queryErrors,
  "field_missing",
  "payload_too_large",
  "unsupported_media_type",
] as const satisfies readonly ErrorCode[];

/** What any definition of a job can be refused for. */
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
] as const satisfies readonly ErrorCode[];

/** What any change of a job can end with. */
export const changeErrors = [
  "not_found",
  "precondition_failed",
  "job_ended",
  "job_busy",
  ...storeErrors,
] as const satisfies readonly ErrorCode[];

/** Errors of most calls that get one thing, that list many, and that change one. */
export const getErrors = [...queryErrors, ...storeErrors] as const satisfies readonly ErrorCode[];
export const listErrors = [
  ...queryErrors,
  "page_token_invalid",
  ...storeErrors,
] as const satisfies readonly ErrorCode[];
export const writeErrors = [...bodyErrors, ...storeErrors] as const satisfies readonly ErrorCode[];
