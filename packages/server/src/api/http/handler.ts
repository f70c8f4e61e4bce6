import type { Readable } from "node:stream";
import type {
  CheckPayload,
  Operation,
  OperationId,
  operations,
  ParamsOf,
  QueryOf,
  QuotaClass,
  RefuseTarget,
  RequestContext,
} from "@carillon/contract";
import {
  type DurationMs,
  type ErrorCode,
  formatInstant,
  type Instant,
  type RunPolicy,
  type TraceContext,
} from "@carillon/core";
import type { ChangeContext, Effect, Engine, NamespaceGuard, Receipt } from "@carillon/engine";
import type { FastifyBaseLogger } from "fastify";
import type { EventFilter } from "../../events/public-event.js";
import type { AdmissionLoad, BudgetLimits, CallerOf, QuotaLimits } from "./admission.js";

/** A request that passed its checks, without the HTTP framework. */
export interface Call<Op extends Operation> {
  readonly params: ParamsOf<Op>;
  readonly query: QueryOf<Op>;
  /** Parsed JSON, otherwise unchecked: the handler validates it. */
  readonly body: unknown;
  readonly namespace: string;
  /** The authenticated caller; always null in this version, which has no authentication. */
  readonly actor: string | null;
  /** The version that If-Match requires. */
  readonly ifVersion?: number;
  readonly requestId: string;
  /** The caller's trace context; absent when the call is not traced. */
  readonly trace?: TraceContext;
  /** The caller sent an Idempotency-Key, so that a repeated call is safe. */
  readonly isKeyed?: true;
  /** Stored with what the call creates; present only with an Idempotency-Key. */
  readonly receipt?: Receipt;
  /** Aborted when the caller disconnects; only for operations that wait. */
  readonly signal?: AbortSignal;
  /** The Last-Event-ID header; only for operations that stream. */
  readonly lastEventId?: string;
  /** The caller used the address, and therefore the field names, of another system. */
  readonly legacySpelling: boolean;
}

export interface ApiResponse {
  readonly status: number;
  /** Sent as JSON; as it is when `contentType` is set. Absent: the response has headers only. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function ok(body: unknown): ApiResponse {
  return { status: 200, body };
}

type Versioned = Readonly<Record<string, unknown>> & { readonly version: number };

/** A resource that callers change: its ETag is the version that their If-Match requires. */
export function okWithVersion(body: Versioned): ApiResponse {
  return { ...ok(body), headers: { ETag: `"v${body.version}"` } };
}

/** The response of a call that created the resource in `shown`. */
export function createdResponse(location: string, shown: ApiResponse): ApiResponse {
  return { ...shown, status: 201, headers: { ...shown.headers, Location: location } };
}

/** RFC 3339 in UTC with milliseconds. */
export const timestamp = formatInstant;

export function timestampOrNull(instant: Instant | null): string | null {
  return instant === null ? null : timestamp(instant);
}

export type Handler<Op extends Operation> = (call: Call<Op>) => ApiResponse | Promise<ApiResponse>;

/** One handler for each declared operation: a missing one does not compile. */
export type Handlers = { readonly [Id in OperationId]: Handler<(typeof operations)[Id]> };

/** Rebuilds the response of a call from what it created: its node died before it stored the response. */
export type Replay = (effect: Effect, call: Call<Operation>) => Promise<ApiResponse>;
export type Replays = Partial<Record<OperationId, Replay>>;

/** Serves a call under ids that its key determines, without a receipt; null: the request needs one. */
export type IdentifiedHandler = (id: string, call: Call<Operation>) => Promise<ApiResponse> | null;
export type IdentifiedHandlers = Partial<Record<OperationId, IdentifiedHandler>>;

/** The response to a call whose effect an earlier call had. */
export function markReplayed(response: ApiResponse): ApiResponse {
  return { ...response, headers: { ...response.headers, "Idempotent-Replayed": "true" } };
}

/** Some of the handlers: each takes exactly the calls of the operation that it is named after. */
export function handlers<Id extends OperationId>(own: Pick<Handlers, Id>): Pick<Handlers, Id> {
  return own;
}

/** The caller's trace, as the parent of what the call creates. */
export function traceOf({ trace }: { readonly trace?: TraceContext }): TracePlace {
  return trace ?? { traceparent: undefined };
}

type ChangeCall = Pick<Call<Operation>, "actor" | "ifVersion" | "receipt" | "trace">;

/** The actor and the precondition under which a call changes something. */
export function contextOf({ actor, ifVersion, trace }: Omit<ChangeCall, "receipt">): ChangeContext {
  return { actor, ...(ifVersion !== undefined && { ifVersion }), ...(trace !== undefined && { trace }) };
}

/** The same for a call that creates one thing, which its receipt then names. */
export function contextWithReceipt(call: ChangeCall): ChangeContext {
  const { receipt } = call;
  return { ...contextOf(call), ...(receipt !== undefined && { receipt }) };
}

/** The time by the scheduler's clock, and the defaults for fields that a request leaves out. */
export function momentOf(options: ApiOptions, namespace: string): RequestContext {
  const { engine, now, catchupWindowMs, checkPayload, refuseTarget } = options;
  return {
    now: now(),
    defaultsOf: (task) => engine.tasks.defaultsOf(namespace, task),
    ...(catchupWindowMs !== undefined && { catchupWindowMs }),
    ...(checkPayload !== undefined && { checkPayload }),
    ...(refuseTarget !== undefined && { refuseTarget }),
  };
}

/** One condition of readiness. */
export interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface HealthPort {
  /** Checks the database, among others. Never throws, and has its own time limit. */
  ready(): Promise<readonly HealthCheck[]>;
}

/** The source of /metrics, and the receiver of the API's own numbers. */
export interface ApiMetrics {
  readonly contentType: string;
  render(): Promise<string>;
  httpRequest(call: HttpObservation): void;
  /** A call ended with a problem of this code. */
  httpProblem(code: ErrorCode): void;
  /** A call was refused because its caller's quota of this class is used up. */
  rateLimited(quota: QuotaClass): void;
  /** Exposes the calls in flight. */
  watchAdmission(load: AdmissionLoad): void;
}

export interface HttpObservation {
  readonly method: string;
  /** The route's pattern, never the address: that would make a time series of every id. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** The components that the API calls, without their internal members: tests put fakes in their place. */
export type ApiEngine = { readonly [Name in keyof InternalMembers]: Omit<Engine[Name], InternalMembers[Name]> };

/** Each component that the API calls, with those of its members that only other components and the SDK use. */
interface InternalMembers {
  backfills: never;
  breakers: never;
  calendars: never;
  callbackSecrets: "signing";
  cluster: never;
  deadLetters: "repeater";
  enqueuer: "enqueue" | "enqueueIn";
  explanations: never;
  forecasts: never;
  idempotencyKeys: never;
  jobs: never;
  limits: "ofRun";
  namespaces: never;
  operations: never;
  queues: never;
  runs: "reader" | "lister" | "changer" | "stop";
  tasks: never;
  waitingRuns: "tick" | "endStopped";
  webhooks: "deliveryRuns" | "refresh" | "wantsSuccess" | "target" | "noteDelivery";
  windows: never;
  workers: never;
}

/** Workers that connect over HTTP. */
export type WorkersPort = Pick<
  NamespaceGuard,
  "timeoutMs" | "register" | "poll" | "heartbeat" | "note" | "giveBack" | "close"
>;

export interface EventsPort {
  /** Opens a stream of server-sent events. Throws overloaded. */
  open(filter: EventFilter, lastEventId?: string): Readable;
}

/** A position in a trace; undefined: not traced. */
export interface TracePlace {
  readonly traceparent: string | undefined;
  /** The vendors' additions. */
  readonly tracestate?: string | undefined;
}

export interface CallSpan extends TracePlace {
  /** Whether the span is recorded: attributes of others are not computed. */
  readonly isSeen: boolean;
  run<Result>(work: () => Result): Result;
  note(attributes: Readonly<Record<string, string | number>>): void;
  fail(reason: { readonly type: string; readonly message: string; readonly stack?: string }): void;
  end(): void;
}

/** The parts of a new job or run that its trace names. */
export interface Traceable {
  readonly task: string;
  readonly policy: RunPolicy;
  readonly schedule?: { readonly kind: string };
}

/** How calls become part of traces. */
export interface TracingPort {
  beginSpan(start: { name: string; kind: "server"; parent: "active" | TracePlace }): CallSpan;
  /** The active span of an instrumentation of the process itself. */
  activeTraceParent(): string | undefined;
  /** Calls `store` with specs that carry the trace on. */
  enqueueTraced<Spec extends Traceable, Result>(
    parent: TracePlace,
    specs: readonly Spec[],
    store: (specs: readonly Spec[]) => Promise<Result>,
  ): Promise<Result>;
}

const noSpan: CallSpan = {
  traceparent: undefined,
  isSeen: false,
  run: (work) => work(),
  note: () => undefined,
  fail: () => undefined,
  end: () => undefined,
};

export const noTracing: TracingPort = {
  beginSpan: () => noSpan,
  activeTraceParent: () => undefined,
  enqueueTraced: (_parent, specs, store) => store(specs),
};

export interface ApiOptions {
  readonly engine: ApiEngine;
  readonly workers: WorkersPort;
  readonly health: HealthPort;
  readonly metrics: ApiMetrics;
  readonly events: EventsPort;
  readonly version: string;
  /** The scheduler's clock: the database's, as this node measures it. */
  readonly now: () => Instant;
  /** Older instants are refused; 24 h by default, as in the engine. */
  readonly catchupWindowMs?: DurationMs;
  /** Validates payloads of known tasks, so that a wrong one is refused at creation and not at its run. */
  readonly checkPayload?: CheckPayload;
  /** Refuses addresses of webhooks and callbacks; left out: all are accepted. */
  readonly refuseTarget?: RefuseTarget;
  readonly newRequestId: () => string;
  /** Left out: calls are not traced. */
  readonly tracing?: TracingPort;
  /** Calls in flight at a time; more are refused. */
  readonly admission?: BudgetLimits;
  /** Requests per caller and time; left out: unlimited. */
  readonly quotas?: { readonly limits: QuotaLimits; readonly monotonic: () => DurationMs };
  /** Identifies the caller for the quotas; by default the namespace. */
  readonly callerOf?: CallerOf;
  readonly logger?: FastifyBaseLogger;
  /** The namespace of calls without the header. */
  readonly namespace?: string;
  /** Serves callers without credentials, and therefore only callers on this machine, and no web pages of other sites. */
  readonly dev?: { readonly loopbackOnly: true };
}
