import type { DurationMs } from "@carillon/core";

/** An offer that is not renewed for so long is not used: its gateway may be gone, and what it is handed would wait for the rescue. */
export const offerMs: DurationMs = 1_000;

/**
 * A worker with free slots says to whoever stores runs of a lane: store so many of them as mine. They start without a claim. An offer may be wrong by the
 * time that it is used; the statement that uses it compares what must hold, and what the worker cannot take after all is queued again.
 */
export interface Offer {
  readonly lane: number;
  readonly namespaceId: number;
  /** Where the runs are told of. */
  readonly gatewayId: string;
  readonly sessionId: string;
  /** Of the limits that the gateway goes by. */
  readonly limitsRevision: number;
  /** Names this offer among all of the gateway: what comes by it is begun unread. */
  readonly token: string;
  /** None: what was offered before is taken back. */
  readonly count: number;
}
