import type { CheckPayload, QuotaClass, RefuseTarget } from "@carillon/contract";
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { DurationMs, ErrorCode, Instant } from "@carillon/core";
import type {
  Backfills,
  Breakers,
  Callbacks,
  Calendars,
  Catalogue,
  Limits,
  Operations,
  Queues,
  Receipts,
  EngineApi,
  Enqueueing,
  Explanations,
  Failures,
  Forecasts,
  JobChanges,
  Namespaces,
  RunChanges,
  RunLogs,
  Webhooks,
  WorkerDoor,
  Workers,
} from "@carillon/engine";
import type { FastifyBaseLogger } from "fastify";
import type { BudgetLimits, IntakeLoad } from "./admission.js";
import type { QuotaLimits } from "./quota.js";
import type { TracingPort } from "./tracing.js";
import type { EventFilter } from "../../events/event-filter.js";

/** One thing that must hold for the node to do its work. */
export interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface HealthPort {
  /** Looks at the database, among others. Never throws, and is itself bounded in time: a probe waits for it. */
  ready(): Promise<readonly HealthCheck[]>;
}

/** What /metrics shows, and where the API reports its own calls. */
export interface ApiMetrics {
  readonly contentType: string;
  render(): Promise<string>;
  httpRequest(call: HttpObservation): void;
  /** A call ended with a problem of this code. */
  httpProblem(code: ErrorCode): void;
  /** A call was refused because its caller's quota of this class is used up. */
  rateLimited(quota: QuotaClass): void;
  /** Shows what is under way. */
  watchIntake(load: IntakeLoad): void;
}

export interface HttpObservation {
  readonly method: string;
  /** The route's pattern, never the address itself: that would make a time series of every id. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

export type ApiEngine = EngineApi &
  RunLogs &
  Receipts &
  RunChanges &
  Operations &
  Enqueueing &
  JobChanges &
  Calendars &
  Backfills &
  Queues &
  Namespaces &
  Breakers &
  Limits &
  Failures &
  Callbacks &
  Catalogue &
  Webhooks &
  Workers &
  Explanations &
  Forecasts;

/** Workers of other processes. */
export type WorkersPort = Pick<WorkerDoor, "silenceMs" | "register" | "poll" | "hear" | "note" | "giveBack" | "close">;

/** Where events are followed. */
export interface EventsPort {
  /** A stream of server-sent events. Throws overloaded. */
  open(filter: EventFilter, lastEventId?: string): Readable;
}

/** Whose quota a request counts against, in words that a refusal can repeat. */
export type CallerOf = (request: { readonly headers: IncomingHttpHeaders }) => string;

export interface ApiOptions {
  readonly engine: ApiEngine;
  readonly workers: WorkersPort;
  readonly health: HealthPort;
  readonly metrics: ApiMetrics;
  readonly events: EventsPort;
  readonly version: string;
  /** The scheduler's clock: the database's, as this node measures it. */
  readonly now: () => Instant;
  /** An instant that lies further back than this is refused; 24 h by default, as in the engine. */
  readonly catchupWindowMs?: DurationMs;
  /** Knows payloads of some tasks: what is wrong is said when a job is created, not when it runs. */
  readonly checkPayload?: CheckPayload;
  /** Knows addresses that no webhook and no callback may have; left out: none is refused before it is posted to. */
  readonly refuseTarget?: RefuseTarget;
  readonly newRequestId: () => string;
  /** Left out: calls are in no trace. */
  readonly tracing?: TracingPort;
  /** What may be under way at a time; more is refused. */
  readonly intake?: BudgetLimits;
  /** What each caller may ask for over time; left out: as much as the node can take. */
  readonly quotas?: { readonly limits: QuotaLimits; readonly monotonic: () => DurationMs };
  /** Who calls, for the quotas; by default the namespace. */
  readonly callerOf?: CallerOf;
  readonly logger?: FastifyBaseLogger;
  /** Whose jobs callers see who name no namespace. */
  readonly namespace?: string;
  /** Serves callers without credentials, so only such that come from this machine and from no foreign web page. */
  readonly dev?: { readonly loopbackOnly: true };
}
