import type { Instant } from "../time/instant.js";

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The text in lower case if it is a UUID of any version, else null. */
export function canonicalUuid(text: string): string | null {
  const lower = text.toLowerCase();
  return shape.test(lower) ? lower : null;
}

/** The largest instant that fits the 48 bits of a UUIDv7: in the year 10889. */
const lastUuidInstant: Instant = 2 ** 48 - 1;

/** The instant inside a UUIDv7. */
export function timeOfUuid(uuid: string): Instant {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/**
 * Assembles a UUIDv7 (RFC 9562): 48 bits of time, the version, 12 bits, the variant, 62 bits. Uses the low 12 bits of `a`,
 * 30 of `b` and 32 of `c`.
 */
export function uuidV7Of(ms: Instant, a: number, b: number, c: number): string {
  const high = Math.floor(ms / 65_536);
  put4(0, high >>> 16);
  put4(4, high & 0xffff);
  put4(9, ms % 65_536);
  put4(14, (a & 0xfff) | 0x7000);
  put4(19, ((b >>> 16) & 0x3fff) | 0x8000);
  put4(24, b & 0xffff);
  put4(28, c >>> 16);
  put4(32, c & 0xffff);
  return String.fromCharCode(...codes);
}

/** Buffer of character codes: concatenating strings would build a rope, which costs three times as much. */
const codes = Array.from({ length: 36 }, () => "-".charCodeAt(0));
const digitCodes = Array.from("0123456789abcdef", (text) => text.charCodeAt(0));

function put4(at: number, value: number): void {
  codes[at] = digitCodes[value >>> 12] ?? 0;
  codes[at + 1] = digitCodes[(value >>> 8) & 15] ?? 0;
  codes[at + 2] = digitCodes[(value >>> 4) & 15] ?? 0;
  codes[at + 3] = digitCodes[value & 15] ?? 0;
}

/** The four 32-bit words of a canonical UUID. */
export function wordsOfUuid(uuid: string): readonly [number, number, number, number] {
  return [
    (digits4(uuid, 0) << 16) | digits4(uuid, 4),
    (digits4(uuid, 9) << 16) | digits4(uuid, 14),
    (digits4(uuid, 19) << 16) | digits4(uuid, 24),
    (digits4(uuid, 28) << 16) | digits4(uuid, 32),
  ];
}

/** The canonical UUID of four 32-bit words. */
export function uuidOfWords(a: number, b: number, c: number, d: number): string {
  put4(0, a >>> 16);
  put4(4, a & 0xffff);
  put4(9, b >>> 16);
  put4(14, b & 0xffff);
  put4(19, c >>> 16);
  put4(24, c & 0xffff);
  put4(28, d >>> 16);
  put4(32, d & 0xffff);
  return String.fromCharCode(...codes);
}

function digits4(uuid: string, at: number): number {
  return (digit(uuid, at) << 12) | (digit(uuid, at + 1) << 8) | (digit(uuid, at + 2) << 4) | digit(uuid, at + 3);
}

/** For 0-9 and a-f: the low four bits, and nine more for a letter, whose code has bit 6 set. */
function digit(uuid: string, at: number): number {
  const code = uuid.charCodeAt(at);
  return (code & 15) + (code >>> 6) * 9;
}

/** Throws for an instant that a UUIDv7 cannot hold, which is a bug in the caller. */
export function checkUuidInstant(ms: Instant): void {
  if (!(Number.isInteger(ms) && ms >= 0 && ms <= lastUuidInstant)) {
    throw new RangeError(`A UUIDv7 holds whole milliseconds from 1970 to 10889, not ${ms}.`);
  }
}

export type RandomBytes = (size: number) => Uint8Array;

/** A UUIDv7 of this instant with 74 random bits. Two of the same millisecond are not ordered: see makeUuidV7. */
export function uuidv7(nowMs: Instant, randomBytes: RandomBytes): string {
  checkUuidInstant(nowMs);
  const bytes = randomBytes(10);
  return uuidV7Of(nowMs, word(bytes, 0), word(bytes, 2), word(bytes, 6));
}

function word(bytes: Uint8Array, at: number): number {
  const byte = (index: number) => bytes[index] ?? 0;
  return ((byte(at) << 24) | (byte(at + 1) << 16) | (byte(at + 2) << 8) | byte(at + 3)) >>> 0;
}

/** If the clock steps back further than this, ids follow it; after a smaller step ids keep the later time. */
const maxIgnoredStepMs = 60_000;
/** Random bytes are drawn in pools: a call to the system's generator for each id would cost more than the id. */
const poolBytes = 1_024;

/**
 * Makes a generator of ascending UUIDv7, also within a millisecond and when the clock steps back a little: the 12 bits after
 * the version and the 20 after the variant are a counter, which starts each millisecond at a random number below half of its
 * range, so that 2^31 ids remain. The other 42 bits are random in every id.
 */
export function makeUuidV7(from: { readonly now: () => Instant; readonly randomBytes: RandomBytes }): () => string {
  const next = randomWords(from.randomBytes);
  let lastMs = -1;
  let counter = 0;
  return () => {
    const nowMs = from.now();
    if (nowMs > lastMs || nowMs < lastMs - maxIgnoredStepMs) {
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
