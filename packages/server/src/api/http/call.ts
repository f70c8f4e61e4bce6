import type { TraceContext } from "@carillon/core";
import type { Receipt } from "@carillon/engine";
import type { Operation, OperationId, operations, ParamsOf, QueryOf } from "@carillon/contract";
import type { TracePlace } from "./tracing.js";

/** A request that passed its checks, without the machinery that carried it. */
export interface Call<Op extends Operation> {
  readonly params: ParamsOf<Op>;
  readonly query: QueryOf<Op>;
  /** Parsed, otherwise as sent: its handler knows what a good one is. */
  readonly body: unknown;
  readonly namespace: string;
  /** Who calls; null until callers say who they are. */
  readonly actor: string | null;
  /** The version that the call is meant for, by If-Match. */
  readonly ifVersion?: number;
  readonly requestId: string;
  /** Where the caller's trace goes on; absent: it is in none. */
  readonly trace?: TraceContext;
  /** To be kept with what the call makes; only under an Idempotency-Key. */
  readonly receipt?: Receipt;
  /** Fires when the caller goes away; only for operations that wait. */
  readonly signal?: AbortSignal;
  /** The last event that the caller has received; only for operations that stream. */
  readonly lastEventId?: string;
  /** The caller came by an address of another system and knows things by other names. */
  readonly foreign: boolean;
}

export interface CallAnswer {
  readonly status: number;
  /** Sent as JSON, or as it is if it is a text or a stream of another type; absent where nothing follows the headers. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler<Op extends Operation> = (call: Call<Op>) => CallAnswer | Promise<CallAnswer>;

/** One handler for each declared operation: a missing one does not compile. */
export type Handlers = { readonly [Id in OperationId]: Handler<(typeof operations)[Id]> };

/** Where a call is in its caller's trace, for what it begins. */
export function traceOf({ trace }: { readonly trace?: TraceContext }): TracePlace {
  return trace ?? { traceparent: undefined };
}
