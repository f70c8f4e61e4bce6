import type { Event, EventQuery, EventReset } from "@carillon/contract";
import { ApiError } from "./errors.js";
import { type SentEvent, sentEvents } from "./sent-events.js";
import type { Streaming } from "./transport.js";
import { afterQuota } from "./try-again.js";

/** What the stream brings: an event, or that some may have been missed. */
export type EventNews = { readonly event: Event } | { readonly reset: EventReset };

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** Waits before the stream is opened again after it broke off. Without it the first break ends the call with an error. */
  readonly sleep?: (ms: number) => Promise<void>;
}

export interface EventCalls {
  /** Events as they come, until the signal. A connection that breaks off is made again where it ended. */
  follow(query?: EventQuery, options?: FollowOptions): AsyncGenerator<EventNews, void, undefined>;
}

const firstPauseMs = 500;
const longestPauseMs = 10_000;
const longestQuotaWaitMs = 60_000;

export function eventCalls(open: Streaming): EventCalls {
  return {
    async *follow(query = {}, { signal, sleep } = {}) {
      let lastId: string | undefined;
      let pauseMs = firstPauseMs;
      let wasOpen = false;
      for (;;) {
        try {
          const bytes = await open({ path: "/v1/events", query, ...(signal !== undefined && { signal }), lastId });
          wasOpen = true;
          for await (const sent of sentEvents(bytes)) {
            pauseMs = firstPauseMs;
            lastId = sent.id ?? lastId;
            const news = newsOf(sent);
            if (news !== null) yield news;
          }
        } catch (error) {
          if (signal?.aborted) return;
          const askedMs = quotaWaitOf(error);
          if (sleep === undefined || (!wasOpen && askedMs === null)) throw error;
          pauseMs = Math.max(pauseMs, askedMs ?? 0);
        }
        if (signal?.aborted || sleep === undefined) return;
        await sleep(pauseMs);
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      }
    },
  };
}

/** How long its quota asks to wait; null where that is not why, or is longer than anybody waits for a stream. */
function quotaWaitOf(error: unknown): number | null {
  if (!(error instanceof ApiError) || error.status !== 429 || error.retryAfterMs === null) return null;
  return afterQuota(error.retryAfterMs, longestQuotaWaitMs);
}

function newsOf({ type, data }: SentEvent): EventNews | null {
  if (data === "") return null;
  if (type === "reset") return { reset: JSON.parse(data) as EventReset };
  return { event: JSON.parse(data) as Event };
}
