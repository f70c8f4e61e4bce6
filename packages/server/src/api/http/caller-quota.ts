import type { DurationMs } from "@carillon/core";

/** So many requests in such a time. Who was silent for that long may send all of them at once; they come back evenly. */
export interface RateQuota {
  readonly requests: number;
  readonly windowMs: DurationMs;
}

/** How a caller stands after one more request, which was counted if it was within the quota. */
interface Standing {
  readonly isWithin: boolean;
  /** Whole requests that could follow at once. */
  readonly left: number;
  /** Until there is one more. */
  readonly moreInMs: DurationMs;
}

/** What a caller has used, as of some moment; it drains evenly from then on. */
interface Level {
  used: number;
  at: DurationMs;
}

/** Callers that are remembered at a time. More share what one has: memory stays bounded, and nobody escapes by making up names. */
const mostCallers = 10_000;
/** One request brings one caller at most, so that those who could be forgotten grow fewer. */
const looksPerRequest = 2;
const strangers = "";
/** Of a request: sums of fractions are not exact. */
const rounding = 1e-6;

interface CallerQuotaOptions {
  readonly monotonic: () => DurationMs;
  readonly mostCallers?: number;
}

/**
 * The generic cell rate algorithm, kept as a level that drains: one quota, counted for each caller by itself. A caller whose level has
 * drained is as good as new and is forgotten.
 */
export class CallerQuota {
  readonly #quota: RateQuota;
  readonly #spacingMs: DurationMs;
  readonly #monotonic: () => DurationMs;
  readonly #mostCallers: number;
  readonly #levels = new Map<string, Level>();
  #hand = this.#levels.entries();

  constructor(quota: RateQuota, options: CallerQuotaOptions) {
    this.#quota = quota;
    this.#spacingMs = quota.windowMs / quota.requests;
    this.#monotonic = options.monotonic;
    this.#mostCallers = options.mostCallers ?? mostCallers;
  }

  /** How many callers are remembered. */
  get callers(): number {
    return this.#levels.size;
  }

  take(caller: string): Standing {
    const now = this.#monotonic();
    this.#forgetSome(now);
    const level = this.#levelOf(caller, now);
    level.used = this.#usedAt(level, now);
    level.at = now;
    const isWithin = level.used + 1 <= this.#quota.requests + rounding;
    if (isWithin) level.used += 1;
    const rest = Math.max(0, this.#quota.requests - level.used);
    const left = Math.floor(rest + rounding);
    return { isWithin, left, moreInMs: toMicroseconds((left + 1 - rest) * this.#spacingMs) };
  }

  #levelOf(caller: string, now: DurationMs): Level {
    const known = this.#levels.get(caller);
    if (known !== undefined) return known;
    const name = this.#levels.size < this.#mostCallers ? caller : strangers;
    const level = this.#levels.get(name) ?? { used: 0, at: now };
    this.#levels.set(name, level);
    return level;
  }

  #usedAt({ used, at }: Level, now: DurationMs): number {
    return Math.max(0, used - (now - at) / this.#spacingMs);
  }

  /** Goes round among the callers, a few at each request. */
  #forgetSome(now: DurationMs): void {
    for (let looks = 0; looks < looksPerRequest; looks++) {
      const next = this.#hand.next();
      if (next.done === true) {
        this.#hand = this.#levels.entries();
        return;
      }
      const [caller, level] = next.value;
      if (this.#usedAt(level, now) === 0) this.#levels.delete(caller);
    }
  }
}

/** What differs from a whole number by less is one: a second more to wait would be made of it. */
function toMicroseconds(ms: DurationMs): DurationMs {
  return Math.round(ms * 1_000) / 1_000;
}
