import { ApiError } from "./errors.js";

/** What was spent on a call so far. */
interface Spent {
  readonly tries: number;
  readonly waitedMs: number;
}

interface RepeatableCall {
  readonly method: string;
  readonly idempotencyKey?: string;
}

const mostTries = 3;
const longestWaitMs = 10_000;
/** Who is told to come at once would knock without end. */
const shortestWaitMs = 1_000;

/** How long to wait before a call that was refused is sent again; null: it is not sent again. */
export function waitBeforeNext(
  error: unknown,
  { call, spent, patienceMs }: { readonly call: RepeatableCall; readonly spent: Spent; readonly patienceMs: number },
): number | null {
  if (!(error instanceof ApiError) || error.retryAfterMs === null) return null;
  if (error.status === 429) return afterQuota(error.retryAfterMs, patienceMs - spent.waitedMs);
  // It may have been done all the same: only what does nothing twice is sent again.
  const isRepeatable = call.method === "GET" || call.idempotencyKey !== undefined;
  if (error.status !== 503 || !isRepeatable || spent.tries >= mostTries) return null;
  return Math.min(error.retryAfterMs, longestWaitMs);
}

/** A call that its quota refuses has done nothing, whatever it was. Before the time that was named it would be refused again. */
export function afterQuota(askedMs: number, patienceMs: number): number | null {
  const waitMs = Math.max(askedMs, shortestWaitMs);
  return waitMs <= patienceMs ? waitMs : null;
}
