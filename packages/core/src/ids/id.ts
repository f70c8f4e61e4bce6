import { CarillonError } from "../errors/carillon-error.js";
import { canonicalUuid, uuidOfWords, wordsOfUuid } from "./uuid.js";

/** The kinds of things that have ids, by prefix. The values are used in messages. */
const kinds = {
  job: "a job",
  run: "a run",
  wrk: "a worker",
  node: "a node",
  op: "an operation",
  bkf: "a backfill",
  cal: "a calendar",
  win: "a maintenance window",
  whk: "a webhook endpoint",
  key: "an API key",
  aud: "an audit event",
  mail: "a caught mail",
  evt: "an event",
  req: "a request",
} as const;

export type IdPrefix = keyof typeof kinds;

declare const kind: unique symbol;

/** A canonical UUID (lower case, with dashes), as PostgreSQL prints it, branded with its kind. */
export type Id<Prefix extends IdPrefix> = string & { readonly [kind]: Prefix };

export type JobId = Id<"job">;
export type RunId = Id<"run">;
export type WorkerId = Id<"wrk">;
export type NodeId = Id<"node">;

/** The wire form: prefix, underscore, 26 characters that sort as the UUID does. */
export function formatId(prefix: IdPrefix, uuid: string): string {
  return `${prefix}_${base32OfUuid(uuid)}`;
}

/** The wire form for display; a text that is no UUID is returned unchanged. */
export function shownId(prefix: IdPrefix, id: string): string {
  const uuid = canonicalUuid(id);
  return uuid === null ? id : formatId(prefix, uuid);
}

/** Reads the wire form, or a bare UUID, in any case. */
export function parseId<Prefix extends IdPrefix>(prefix: Prefix, text: string): Id<Prefix> {
  const lower = text.length <= 64 ? text.toLowerCase() : "";
  const uuid = lower.startsWith(`${prefix}_`) ? uuidOfBase32(lower.slice(prefix.length + 1)) : canonicalUuid(lower);
  if (uuid === null) throw refusal(prefix, text);
  return uuid as Id<Prefix>;
}

function refusal(prefix: IdPrefix, text: string): CarillonError {
  const shown = JSON.stringify(text.length <= 64 ? text : `${text.slice(0, 60)}…`);
  const right = `the id of ${kinds[prefix]} is ${prefix}_ and 26 letters and digits, or a UUID.`;
  const other = Object.entries(kinds).find(([name]) => name !== prefix && text.toLowerCase().startsWith(`${name}_`));
  const wrong = other === undefined ? `${shown} is not an id` : `${shown} is the id of ${other[1]}`;
  return new CarillonError("id_invalid", `${wrong}; ${right}`);
}

/**
 * A UUID as 26 characters of Crockford's base 32: its 128 bits in groups of five, the first group with three.
 * The alphabet ascends in ASCII, so the text sorts as the UUID does. It omits letters that resemble digits.
 */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

const valueOf = new Int8Array(128).fill(-1);
for (let value = 0; value < 32; value++) valueOf[alphabet.charCodeAt(value)] = value;
// Letters that resemble digits are read as those digits, because people type ids from screens.
for (const [letter, digit] of Object.entries({ i: 1, l: 1, o: 0 })) valueOf[letter.charCodeAt(0)] = digit;

const digitCodes = Array.from(alphabet, (digit) => digit.charCodeAt(0));
/** Buffer of character codes: concatenating strings would build a rope, which costs more. */
const codes = Array.from({ length: 26 }, () => 0);

/** Two digits are ten bits: 8 + 12 × 10 = 128. */
function put2(at: number, bits: number): void {
  codes[at] = digitCodes[(bits >>> 5) & 31] ?? 0;
  codes[at + 1] = digitCodes[bits & 31] ?? 0;
}

/** `uuid` must be canonical. */
function base32OfUuid(uuid: string): string {
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

/** Ten bits; negative if one of the two characters is no digit. */
function take2(text: string, at: number): number {
  return ((valueOf[text.charCodeAt(at)] ?? -1) << 5) | (valueOf[text.charCodeAt(at + 1)] ?? -1);
}

/** The canonical UUID, or null if the text is not 26 digits (lower case) of a 128-bit number. */
function uuidOfBase32(text: string): string | null {
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

/** The names of namespaces, which appear in headers and in other names. */
export const namespaceNamePattern = "^[a-z0-9][a-z0-9._-]{0,62}$";
