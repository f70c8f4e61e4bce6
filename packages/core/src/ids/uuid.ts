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
 * Puts a UUIDv7 together (RFC 9562): 48 bits of time, the version, 12 bits, the variant, 62 bits. Of each number only the
 * bits that fit are used: 12 of `a`, 30 of `b`, 32 of `c`.
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

/** The text under way, by its codes: put together from parts, it would be a tree of them, which costs three times as much. */
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

/** Refuses an instant that a UUIDv7 cannot hold: such a one is a mistake in the caller. */
export function checkUuidInstant(ms: Instant): void {
  if (!(Number.isInteger(ms) && ms >= 0 && ms <= lastUuidInstant)) {
    throw new RangeError(`a UUIDv7 holds whole milliseconds from 1970 to 10889, not ${ms}`);
  }
}
