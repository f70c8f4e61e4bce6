import type { Instant } from "../time/instant.js";
import { checkUuidInstant, uuidV7Of } from "./uuid.js";

export type RandomBytes = (size: number) => Uint8Array;

/** A UUIDv7 of this instant with 74 random bits. Two of the same millisecond are in no order: see makeUuidV7. */
export function uuidv7(nowMs: Instant, randomBytes: RandomBytes): string {
  checkUuidInstant(nowMs);
  const bytes = randomBytes(10);
  return uuidV7Of(nowMs, word(bytes, 0), word(bytes, 2), word(bytes, 6));
}

function word(bytes: Uint8Array, at: number): number {
  const byte = (index: number) => bytes[index] ?? 0;
  return ((byte(at) << 24) | (byte(at + 1) << 16) | (byte(at + 2) << 8) | byte(at + 3)) >>> 0;
}

/** A clock that steps back further than this is believed; a smaller step leaves the ids at the later time. */
const believedStepMs = 60_000;
/** Random bytes come in pools: one call to the system's generator for each id would cost more than the id. */
const poolBytes = 1_024;

/**
 * Makes a generator of UUIDv7 that only ascend, within a millisecond too, and when the clock steps back a little: the 12 bits
 * behind the version and the 20 behind the variant are a counter, which starts each millisecond at a random number below
 * half of its range, so that two thousand million ids are left. The other 42 bits are random in every id.
 */
export function makeUuidV7(from: { readonly now: () => Instant; readonly randomBytes: RandomBytes }): () => string {
  const next = randomWords(from.randomBytes);
  let lastMs = -1;
  let counter = 0;
  return () => {
    const nowMs = from.now();
    if (nowMs > lastMs || nowMs < lastMs - believedStepMs) {
      checkUuidInstant(nowMs);
      lastMs = nowMs;
      counter = next() >>> 1;
    } else {
      counter++;
    }
    const b = ((counter & 0xf_ffff) << 10) | (next() >>> 22);
    return uuidV7Of(lastMs, counter >>> 20, b, next());
  };
}

function randomWords(randomBytes: RandomBytes): () => number {
  let pool: Uint8Array = new Uint8Array();
  let at = 0;
  return () => {
    if (at + 4 > pool.length) {
      pool = randomBytes(poolBytes);
      at = 0;
    }
    at += 4;
    return word(pool, at - 4);
  };
}
