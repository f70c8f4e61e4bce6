import { wordsOfUuid } from "./uuid.js";

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

/** The canonical UUID, or null if the text is not 26 digits (lower case) of a 128-bit number. */
export function uuidOfBase32(text: string): string | null {
  if (text.length !== 26) return null;
  let hex = "";
  for (const [from, to, digits] of [
    [0, 2, 2],
    [2, 10, 10],
    [10, 18, 10],
    [18, 26, 10],
  ] as const) {
    let value = 0;
    for (let at = from; at < to; at++) {
      const digit = valueOf[text.charCodeAt(at)] ?? -1;
      if (digit < 0) return null;
      value = value * 32 + digit;
    }
    if (value >= 16 ** digits) return null;
    hex += value.toString(16).padStart(digits, "0");
  }
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
