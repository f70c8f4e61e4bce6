import { type QuotaClass, quotaClasses } from "@carillon/contract";
import { type DurationMs, formatDuration } from "@carillon/core";
import { CallerQuota, type RateQuota } from "./caller-quota.js";
import { QuotaExceeded } from "./quota-exceeded.js";

/** What each caller may ask of this node, by class; left out or null: as much as the node can take. */
export type QuotaLimits = Readonly<Partial<Record<QuotaClass, RateQuota | null>>>;

interface QuotasOptions {
  readonly limits: QuotaLimits;
  readonly monotonic: () => DurationMs;
  readonly onRefused: (quota: QuotaClass) => void;
}

/** Where the headers of an answer go. */
interface Headers {
  header(name: string, value: string): unknown;
}

interface Counted {
  readonly calls: CallerQuota;
  readonly policy: string;
  readonly words: string;
}

/** The quotas of a node. They are in its memory alone: nothing on the way of a request asks anybody else. */
export class Quotas {
  readonly #counted = new Map<QuotaClass, Counted>();
  readonly #onRefused: QuotasOptions["onRefused"];

  constructor({ limits, monotonic, onRefused }: QuotasOptions) {
    this.#onRefused = onRefused;
    for (const name of quotaClasses) {
      const quota = limits[name] ?? null;
      if (quota === null) continue;
      const { requests, windowMs } = quota;
      this.#counted.set(name, {
        calls: new CallerQuota(quota, { monotonic }),
        policy: `"${name}";q=${requests};w=${inSeconds(windowMs)}`,
        words: `${requests} ${requests === 1 ? "request" : "requests"} in ${formatDuration(windowMs)}`,
      });
    }
  }

  /** Counts a call, and says in the headers of its answer what is left. Throws QuotaExceeded. */
  count(name: QuotaClass, callerOf: () => string, answer: Headers): void {
    const counted = this.#counted.get(name);
    if (counted === undefined) return;
    const caller = callerOf();
    const { isWithin, left, moreInMs } = counted.calls.take(caller);
    const seconds = Math.max(1, inSeconds(moreInMs));
    answer.header("RateLimit-Policy", counted.policy);
    answer.header("RateLimit", `"${name}";r=${left};t=${seconds}`);
    if (isWithin) return;
    this.#onRefused(name);
    const detail = `The quota "${name}" of ${caller} at this node is used up: ${counted.words}. Come again in ${seconds} s.`;
    throw new QuotaExceeded(detail, seconds);
  }
}

/** Whole, and never too early. */
function inSeconds(ms: DurationMs): number {
  return Math.ceil(ms / 1_000);
}
