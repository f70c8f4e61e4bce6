import { uuidOfWords, wordsOfUuid } from "./uuid.js";

/**
 * A UUID as 26 characters of Crockford's base 32: its 128 bits in groups of five, the first group with three.
 * The alphabet ascends in ASCII, so the text sorts as the UUID does; it has no letters that look like digits.
 */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

const valueOf = new Int8Array(128).fill(-1);
for (let value = 0; value < 32; value++) valueOf[alphabet.charCodeAt(value)] = value;
// Read as the digits that they look like, because people type ids from screens.
for (const [letter, digit] of Object.entries({ i: 1, l: 1, o: 0 })) valueOf[letter.charCodeAt(0)] = digit;

const digitCodes = Array.from(alphabet, (digit) => digit.charCodeAt(0));
/** The text under way, by its codes: put together from parts, it would be a tree of them, which costs more. */
const codes = Array.from({ length: 26 }, () => 0);

/** Two digits are ten bits: 8 + 12 × 10 = 128. */
function put2(at: number, bits: number): void {
  codes[at] = digitCodes[(bits >>> 5) & 31] ?? 0;
  codes[at + 1] = digitCodes[bits & 31] ?? 0;
}

/** `uuid` must be canonical. */
export function base32OfUuid(uuid: string): string {
  const [a, b, c, d] = wordsOfUuid(uuid);
  put2(0, a >>> 24);
  put2(2, a >>> 14);
  put2(4, a >>> 4);
  put2(6, (a << 6) | (b >>> 26));
  put2(8, b >>> 16);
  put2(10, b >>> 6);
  put2(12, (b << 4) | (c >>> 28));
  put2(14, c >>> 18);
  put2(16, c >>> 8);
  put2(18, (c << 2) | (d >>> 30));
  put2(20, d >>> 20);
  put2(22, d >>> 10);
  put2(24, d);
  return String.fromCharCode(...codes);
}

/** Ten bits; below zero if one of the two is no digit. */
function take2(text: string, at: number): number {
  return ((valueOf[text.charCodeAt(at)] ?? -1) << 5) | (valueOf[text.charCodeAt(at + 1)] ?? -1);
}

/** The canonical UUID, or null if the text is not 26 digits (lower case) of a 128-bit number. */
export function uuidOfBase32(text: string): string | null {
  if (text.length !== 26) return null;
  const first = take2(text, 0);
  const [p1, p2, p3, p4] = [take2(text, 2), take2(text, 4), take2(text, 6), take2(text, 8)];
  const [p5, p6, p7, p8] = [take2(text, 10), take2(text, 12), take2(text, 14), take2(text, 16)];
  const [p9, p10, p11, p12] = [take2(text, 18), take2(text, 20), take2(text, 22), take2(text, 24)];
  if (first > 255 || (first | p1 | p2 | p3 | p4 | p5 | p6 | p7 | p8 | p9 | p10 | p11 | p12) < 0) return null;
  return uuidOfWords(
    (first << 24) | (p1 << 14) | (p2 << 4) | (p3 >>> 6),
    (p3 << 26) | (p4 << 16) | (p5 << 6) | (p6 >>> 4),
    (p6 << 28) | (p7 << 18) | (p8 << 8) | (p9 >>> 2),
    (p9 << 30) | (p10 << 20) | (p11 << 10) | p12,
  );
}
