import type { Event, EventQuery, EventReset, operations } from "@carillon/contract";
import { checkOptions } from "@carillon/contract/check";
import { ApiError } from "./errors.js";
import { followOptions } from "./options.js";
import { type OpenStream, quotaWait } from "./transport.js";

/** An event, or the notice that the stream may have missed some. */
export type EventNews = { readonly event: Event } | { readonly reset: EventReset };

export interface FollowOptions {
  readonly signal?: AbortSignal;
  /** Waits before the stream is opened again after it broke off. Without it the first break ends the call with an error. */
  readonly sleep?: (ms: number) => Promise<void>;
}

export interface EventCalls {
  /** Events as they happen, until the signal aborts. A connection that breaks off is continued after its last event. */
  follow(query?: EventQuery, options?: FollowOptions): AsyncGenerator<EventNews, void, undefined>;
}

const path: (typeof operations)["streamEvents"]["path"] = "/v1/events";
const firstPauseMs = 500;
const maxPauseMs = 10_000;
const maxQuotaWaitMs = 60_000;

export function eventCalls(open: OpenStream): EventCalls {
  return {
    async *follow(query = {}, options = {}) {
      checkOptions(followOptions, options, { name: "events.follow" });
      const { signal, sleep } = options;
      let lastId: string | undefined;
      let pauseMs = firstPauseMs;
      let wasOpen = false;
      for (;;) {
        try {
          const bytes = await open({ path, query, ...(signal !== undefined && { signal }), lastId });
          wasOpen = true;
          for await (const sent of serverSentEvents(bytes)) {
            pauseMs = firstPauseMs;
            lastId = sent.id ?? lastId;
            const news = newsOf(sent);
            if (news !== null) yield news;
          }
        } catch (error) {
          if (signal?.aborted) return;
          const quotaWaitMs = quotaWaitOf(error);
          if (sleep === undefined || (!wasOpen && quotaWaitMs === null)) throw error;
          pauseMs = Math.max(pauseMs, quotaWaitMs ?? 0);
        }
        if (signal?.aborted || sleep === undefined) return;
        await sleep(pauseMs);
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
      }
    },
  };
}

/** How long to wait for the quota of streams; null: the error has another cause, or the wait would be too long. */
function quotaWaitOf(error: unknown): number | null {
  if (!(error instanceof ApiError) || error.status !== 429 || error.retryAfterMs === null) return null;
  return quotaWait(error.retryAfterMs, maxQuotaWaitMs);
}

function newsOf({ type, data }: ServerSentEvent): EventNews | null {
  if (data === "") return null;
  if (type === "reset") return { reset: JSON.parse(data) as EventReset };
  return { event: JSON.parse(data) as Event };
}

/** One block of a stream of server-sent events. */
interface ServerSentEvent {
  readonly id?: string;
  readonly type: string;
  /** Empty in a block that has only an id. */
  readonly data: string;
}

/** More than any event of a Carillon server: another program sends this. */
const maxBlockLength = 1_048_576;

/** Reads `text/event-stream` as Carillon servers write it: lines end with LF, comments are skipped. */
async function* serverSentEvents(bytes: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void, undefined> {
  const decoder = new TextDecoder();
  const reader = bytes.getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      if (text.length > maxBlockLength) throw new Error("The server does not send events.");
      for (const block of blocks) yield eventOf(block);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): ServerSentEvent {
  let id: string | undefined;
  let type = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (name === "id") id = value;
    else if (name === "event") type = value;
    else if (name === "data") data.push(value);
  }
  return { ...(id !== undefined && { id }), type, data: data.join("\n") };
}
