import { type Instant, JsonText } from "@carillon/core";

export function timestampOrNull(instant: Instant | null): string | null {
  return instant === null ? null : timestampParam(instant);
}

/** Absent members and empty objects are stored as null: most runs have no labels and no policy of their own. */
export function jsonOrNull(value: object | undefined): string | null {
  return value === undefined || Object.keys(value).length === 0 ? null : jsonParam(value);
}

/**
 * Rows to one array per column, by the names of the statement's parameters, as `unnest` takes them, in PostgreSQL's text form: pg would make it element by element, at
 * several times the cost, and a batch has tens of thousands of elements. Most columns of a batch repeat one value.
 */
export function namedColumns<Row, Name extends string>(
  rows: readonly Row[],
  pick: Readonly<Record<Name, (row: Row) => Element>>,
): Record<Name, string> {
  const named = {} as Record<Name, string>;
  for (const name in pick) named[name] = column(rows, pick[name]);
  return named;
}

function column<Row>(rows: readonly Row[], read: (row: Row) => Element): string {
  let last: Element | undefined;
  let lastText = "";
  const texts: string[] = [];
  for (const row of rows) {
    const value = read(row);
    if (value !== last) {
      last = value;
      lastText = element(value);
    }
    texts.push(lastText);
  }
  return `{${texts.join(",")}}`;
}

type Element = string | number | boolean | null;

/** Ids, instants, words: text that needs no quotes in an array. */
const plain = /^[\w:.+-]+$/;
const escaped = /["\\]/g;

function element(value: Element): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(value);
  if (plain.test(value) && (value.length !== 4 || value.toLowerCase() !== "null")) return value;
  return `"${value.replace(escaped, "\\$&")}"`;
}

let lastInstant: Instant = 0;
let lastText = new Date(lastInstant).toISOString();

/** JavaScript writes years after 9999 as +012345, PostgreSQL reads 12345: the sum of a late instant and a duration can be one. */
function timestampText(instant: Instant): string {
  const text = new Date(instant).toISOString();
  return text.startsWith("+") ? text.replace(/^\+0*/, "").replace("T", " ") : text;
}

/**
 * An instant as a timestamptz parameter, in whole milliseconds. A Date would be written in the host's time zone, digit by digit.
 * The last one is remembered: a herd has the same instant in thousands of rows.
 */
export function timestampParam(instant: Instant): string {
  const whole = Math.trunc(instant);
  if (whole === lastInstant) return lastText;
  lastText = timestampText(whole);
  lastInstant = whole;
  return lastText;
}

/** In JSON text: an escaped backslash, which is kept, or an escape that jsonb refuses (NUL, half of a surrogate pair). */
const refusedEscape = /\\\\|\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

/**
 * A value as a json or jsonb parameter; absent is null. Unstringified, pg would send a JS array as a PostgreSQL array.
 */
export function jsonParam(value: unknown): string {
  return storableJson(value instanceof JsonText ? value.text : JSON.stringify(value ?? null));
}

/** A character that PostgreSQL cannot store becomes U+FFFD: an odd message of a handler must not keep its run from ending. */
export function storableJson(text: string): string {
  if (!text.includes("\\u")) return text;
  return text.replace(refusedEscape, (escape) => (escape === "\\\\" ? escape : "\\ufffd"));
}

/**
 * Arrays in the binary form of PostgreSQL: pg sends a Buffer as it is. To read a uuid, an instant or a number from text costs
 * PostgreSQL several times as much, and a batch has hundreds of each. Only for Carillon's own connections: a user's client may treat
 * a Buffer differently.
 */
const uuidType = 2950;
const bigintType = 20;
const float8Type = 701;
const intType = 23;
const smallintType = 21;
const jsonType = 114;
/** Dimensions, whether there are nulls, type of the elements; then length and lower bound of the one dimension. */
const headerBytes = 20;
const emptyBytes = 12;

export function uuidArray(ids: readonly string[]): Buffer {
  const { buffer, step } = arrayOf(uuidType, ids.length, 16);
  let last: string | undefined;
  let at = headerBytes;
  for (const id of ids) {
    buffer[at + 3] = 16;
    if (id === last) buffer.copyWithin(at + 4, at - 16, at);
    else writeUuid(buffer, at + 4, id);
    last = id;
    at += step;
  }
  return buffer;
}

/** Whole numbers that a number holds exactly. */
export function bigintArray(numbers: readonly number[]): Buffer {
  const { buffer, step } = arrayOf(bigintType, numbers.length, 8);
  let at = headerBytes;
  for (const number of numbers) {
    buffer[at + 3] = 8;
    const high = Math.floor(number / 0x1_0000_0000);
    buffer.writeInt32BE(high, at + 4);
    buffer.writeUInt32BE(number - high * 0x1_0000_0000, at + 8);
    at += step;
  }
  return buffer;
}

export function float8Array(numbers: readonly number[]): Buffer {
  const { buffer, step } = arrayOf(float8Type, numbers.length, 8);
  let at = headerBytes;
  for (const number of numbers) {
    buffer[at + 3] = 8;
    buffer.writeDoubleBE(number, at + 4);
    at += step;
  }
  return buffer;
}

export function intArray(numbers: readonly number[]): Buffer {
  const { buffer, step } = arrayOf(intType, numbers.length, 4);
  let at = headerBytes;
  for (const number of numbers) {
    buffer[at + 3] = 4;
    buffer.writeInt32BE(number, at + 4);
    at += step;
  }
  return buffer;
}

export function smallintArray(numbers: readonly number[]): Buffer {
  const { buffer, step } = arrayOf(smallintType, numbers.length, 2);
  let at = headerBytes;
  for (const number of numbers) {
    buffer[at + 3] = 2;
    buffer.writeInt16BE(number, at + 4);
    at += step;
  }
  return buffer;
}

/** JSON by its texts: nothing in them has to be escaped, and nothing cast. */
export function jsonArray(texts: readonly string[]): Buffer {
  let bytes = 4 * texts.length;
  for (const text of texts) bytes += Buffer.byteLength(text);
  const buffer = emptyArray(jsonType, texts.length, bytes);
  let at = headerBytes;
  for (const text of texts) {
    const length = buffer.write(text, at + 4);
    buffer.writeInt32BE(length, at);
    at += 4 + length;
  }
  return buffer;
}

function arrayOf(type: number, length: number, width: number): { buffer: Buffer; step: number } {
  const step = 4 + width;
  return { buffer: emptyArray(type, length, length * step), step };
}

/** With room for the elements, each of which is preceded by its length. */
function emptyArray(type: number, length: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(length === 0 ? emptyBytes : headerBytes + bytes);
  buffer.writeInt32BE(type, 8);
  if (length > 0) {
    buffer[3] = 1;
    buffer.writeInt32BE(length, 12);
    buffer[19] = 1;
  }
  return buffer;
}

/** Two digits at a time, by their codes. */
const nibbles = new Uint8Array(128).fill(255);
for (let value = 0; value < 16; value++) {
  nibbles[value.toString(16).charCodeAt(0)] = value;
  nibbles[value.toString(16).toUpperCase().charCodeAt(0)] = value;
}
/** The positions of the pairs of digits in a uuid's text. */
const pairs = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

function writeUuid(buffer: Buffer, at: number, id: string): void {
  let bad = id.length === 36 ? 0 : 255;
  for (let index = 0; index < 16; index++) {
    const place = pairs[index] as number;
    const high = nibbles[id.charCodeAt(place)] ?? 255;
    const low = nibbles[id.charCodeAt(place + 1)] ?? 255;
    bad |= (high | low) & 0xf0;
    buffer[at + index] = (high << 4) | low;
  }
  if (bad !== 0) throw new TypeError(`not a uuid: ${id}`);
}

const made = new WeakMap<readonly number[], Buffer>();

/** Shards as a parameter. A node sends the same array of a thousand shards again and again: its Buffer is made once per array. */
export function shardArray(shards: readonly number[]): Buffer {
  let buffer = made.get(shards);
  if (buffer === undefined) made.set(shards, (buffer = smallintArray(shards)));
  return buffer;
}
