import { CarillonError, type DurationMs, type Timers } from "@carillon/core";
import type { Json } from "./json.js";

/** The part of `fetch` that is used. */
export type Fetch = (
  url: string,
  request: { method: "POST"; body: string; signal: AbortSignal },
) => Promise<{ readonly ok: boolean; readonly status: number; text(): Promise<string> }>;

export interface EtcdRequestOptions {
  readonly fetch: Fetch;
  readonly timers: Timers;
  readonly timeoutMs: DurationMs;
}

/** What the request names is not there: of a write under a lease, the lease. */
export class EtcdNotFound extends CarillonError {}

/** One question to one endpoint of the JSON gateway. What throws no CarillonError may go better at another endpoint. */
export async function askEtcd(url: string, body: object, options: EtcdRequestOptions): Promise<Json> {
  const { fetch, timers, timeoutMs } = options;
  const late = new AbortController();
  const timer = timers.setTimeout(() => late.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body), signal: late.signal });
    const said = await answer.text();
    // A server without a leader answers 5xx as well.
    if (answer.status >= 500) throw new Error(`etcd answered ${answer.status}: ${said}`);
    if (!answer.ok) {
      const Refusal = answer.status === 404 ? EtcdNotFound : CarillonError;
      throw new Refusal("etcd_refused", `etcd refused ${url} (${answer.status}): ${said}`);
    }
    const parsed: Json = JSON.parse(said);
    return parsed;
  } finally {
    timers.clearTimeout(timer);
  }
}
