import { type DurationMs, FIRST_INSTANT, type Instant, LAST_INSTANT, NEVER } from "../time/instant.js";
import { type CalendarLayer, mergedAt, mergedFires, removedFires, removedRange } from "./calendar-effects.js";
import type { CompiledSchedule, Fire, MergedFire, RemovedFire, RemovedRange } from "./compiled.js";
import type { FireSequence } from "./fire-sequence.js";

/** A sequence of fires with its jitter. */
export class Schedule implements CompiledSchedule {
  readonly #fires: FireSequence;
  readonly #jitter: (nominal: Instant) => DurationMs;
  readonly #calendars: CalendarLayer | null;

  constructor(fires: FireSequence, jitter: (nominal: Instant) => DurationMs, calendars: CalendarLayer | null) {
    this.#fires = fires;
    this.#jitter = jitter;
    this.#calendars = calendars;
  }

  nextNominal(after: Instant): Instant {
    return this.#fires.nextNominal(Math.floor(after));
  }

  previousNominal(before: Instant): Instant {
    return this.#fires.previousNominal(Math.ceil(before));
  }

  countBetween(after: Instant, before: Instant): number {
    const from = Math.max(Math.floor(after), FIRST_INSTANT - 1);
    return this.#fires.countBetween(from, Math.min(Math.ceil(before), LAST_INSTANT + 1));
  }

  jitterAt(nominal: Instant): DurationMs {
    return this.#jitter(nominal);
  }

  next(after: Instant): Fire | null {
    return this.#fireAt(this.nextNominal(after));
  }

  previous(before: Instant): Fire | null {
    return this.#fireAt(this.previousNominal(before));
  }

  between(from: Instant, to: Instant, limit: number): Fire[] {
    const fires: Fire[] = [];
    let fire = this.next(from);
    while (fire !== null && fire.nominal <= to && fires.length < limit) {
      fires.push(fire);
      fire = this.next(fire.nominal);
    }
    return fires;
  }

  removedBetween(from: Instant, to: Instant, limit: number): RemovedFire[] {
    return this.#calendars === null ? [] : removedFires(this.#calendars, Math.floor(from), to, limit);
  }

  removedRange(from: Instant, to: Instant): RemovedRange | null {
    return this.#calendars === null ? null : removedRange(this.#calendars, Math.floor(from), Math.floor(to));
  }

  mergedAt(nominal: Instant): MergedFire[] {
    return this.#isRolled ? mergedAt(this.#fires, nominal) : [];
  }

  mergedBetween(from: Instant, to: Instant, limit: number): MergedFire[] {
    if (this.#calendars === null || !this.#isRolled) return [];
    return mergedFires(this.#fires, this.#calendars, { from: Math.ceil(from), to: Math.floor(to), limit });
  }

  get #isRolled(): boolean {
    return this.#calendars !== null && this.#calendars.roll !== "skip";
  }

  #fireAt(nominal: Instant): Fire | null {
    if (nominal === NEVER) return null;
    const byMs = this.#jitter(nominal);
    const notes = this.#fires.notesAt(nominal);
    if (byMs === 0) return { nominal, fireAt: nominal, notes };
    return { nominal, fireAt: nominal + byMs, notes: [...notes, { kind: "jittered", byMs }] };
  }
}

/** The finaliser of MurmurHash3, which mixes 32 bits; two of them give the 53 bits of a delay. */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) hash = mix(hash ^ text.charCodeAt(index)) + index;
  return mix(hash ^ text.length);
}

/**
 * The delay that jitter adds to each nominal instant of a job: uniform over 0 … jitterMs - 1, and a hash, so that every node
 * computes the same. The job id is hashed only once.
 */
export function compileJitter(jobId: string, jitterMs: DurationMs): (nominal: Instant) => DurationMs {
  if (jitterMs <= 0) return () => 0;
  const low = hashText(jobId, 0x9e3779b9);
  const high = hashText(jobId, 0x7f4a7c15);
  return (nominal) => {
    const lower = nominal | 0;
    const upper = Math.floor(nominal / 0x1_0000_0000) | 0;
    const one = mix(mix(low ^ lower) + upper);
    const two = mix(mix(high ^ upper) + lower);
    return ((two >>> 11) * 0x1_0000_0000 + one) % jitterMs;
  };
}
