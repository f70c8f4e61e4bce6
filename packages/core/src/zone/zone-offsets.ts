/**
 * A span of time with one offset, in seconds: `start` inclusive, `end` exclusive. `shiftIn` is what the wall clock
 * jumped by at `start`, `shiftOut` what it jumps by at `end`: positive is a gap, negative an overlap, 0 no change (the span
 * was only cut there because the table is filled block by block).
 */
export interface OffsetSpan {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  readonly shiftIn: number;
  readonly shiftOut: number;
}

/** The offsets of one zone over time, looked up without allocation. */
export interface OffsetTable {
  spanAt(utcSeconds: number): OffsetSpan;
}

/** A zone that never changes its clock. */
export function fixedOffsetTable(offset: number): OffsetTable {
  const always: OffsetSpan = { start: -Infinity, end: Infinity, offset, shiftIn: 0, shiftOut: 0 };
  return { spanAt: () => always };
}

const HOUR_SECONDS = 3600;
/** About three months: a first lookup loads little, and few spans are cut at a border. */
const BLOCK_SECONDS = 96 * 86_400;
/** Blocks are stored in pages, so that a lookup in a far year does not allocate a long list. */
const PAGE_BITS = 6;
const PAGE_MASK = 2 ** PAGE_BITS - 1;
/** 1800-01-01. The zone database knows no change before 1844. */
const FIRST_BLOCK_START = -5_364_662_400;
/** Shorter than any period of other time in the zone data (a week: Recife in 2000, Gaza in 2040). */
const SAMPLE_SECONDS = 6 * 86_400;
/** Larger than any jump (a day), so that a block knows the changes beside it whose gap or overlap reaches into it. */
const MARGIN_SECONDS = 2 * 86_400;

/**
 * Finds the clock changes of a zone by sampling and bisection, block by block on first use, and caches them. The domain
 * bounds the memory: about 31,000 blocks of two or three spans.
 */
export class SampledOffsetTable implements OffsetTable {
  readonly #source: OffsetSource;
  readonly #pages: (readonly OffsetSpan[])[][] = [];
  #before: OffsetSpan | undefined;

  constructor(source: OffsetSource) {
    this.#source = source;
  }

  spanAt(utcSeconds: number): OffsetSpan {
    const index = Math.floor((utcSeconds - FIRST_BLOCK_START) / BLOCK_SECONDS);
    if (index < 0) return (this.#before ??= this.#loadBefore());
    const block = this.#pages[index >> PAGE_BITS]?.[index & PAGE_MASK] ?? this.#load(index);
    for (const span of block) if (utcSeconds < span.end) return span;
    throw new RangeError(`No offset is known at ${utcSeconds}.`);
  }

  #loadBefore(): OffsetSpan {
    const offset = this.#source(FIRST_BLOCK_START - 1);
    return { start: -Infinity, end: FIRST_BLOCK_START, offset, shiftIn: 0, shiftOut: 0 };
  }

  #load(index: number): readonly OffsetSpan[] {
    const start = FIRST_BLOCK_START + index * BLOCK_SECONDS;
    const end = start + BLOCK_SECONDS;
    const changes = findChanges(this.#source, start - MARGIN_SECONDS, end + MARGIN_SECONDS);
    const spans = spansBetween(changes, this.#source(start - MARGIN_SECONDS)).filter(
      (span) => span.end > start && span.start < end,
    );
    const block = spans.map((span) => clip(span, start, end));
    while (this.#pages.length <= index >> PAGE_BITS) this.#pages.push([]);
    const page = this.#pages[index >> PAGE_BITS];
    if (page !== undefined) page[index & PAGE_MASK] = block;
    return block;
  }
}

interface OffsetChange {
  readonly at: number;
  readonly offset: number;
}

function findChanges(source: OffsetSource, from: number, to: number): OffsetChange[] {
  const changes: OffsetChange[] = [];
  let known = source(from);
  for (let left = from; left < to; left += SAMPLE_SECONDS) {
    const right = Math.min(left + SAMPLE_SECONDS, to);
    const offset = source(right);
    if (offset === known) continue;
    const at = bisect(source, left, right, known);
    known = source(at);
    changes.push({ at, offset: known });
    // Two changes between two samples: sample again from the first.
    if (known !== offset) left = at - SAMPLE_SECONDS;
  }
  return changes;
}

/** The first second in (left, right] at which the offset is no longer `known`. Most changes lie on a whole hour. */
function bisect(source: OffsetSource, left: number, right: number, known: number): number {
  let low = left;
  let high = right;
  for (const grid of [HOUR_SECONDS, 1]) {
    while (high - low >= 2 * grid) {
      const middle = low + Math.floor((high - low) / (2 * grid)) * grid;
      if (source(middle) === known) low = middle;
      else high = middle;
    }
    if (source(high - 1) === known) return high;
  }
  return high;
}

function spansBetween(changes: readonly OffsetChange[], firstOffset: number): OffsetSpan[] {
  const spans: OffsetSpan[] = [];
  let start = -Infinity;
  let offset = firstOffset;
  let shiftIn = 0;
  for (const change of changes) {
    const shift = change.offset - offset;
    spans.push({ start, end: change.at, offset, shiftIn, shiftOut: shift });
    start = change.at;
    offset = change.offset;
    shiftIn = shift;
  }
  spans.push({ start, end: Infinity, offset, shiftIn, shiftOut: 0 });
  return spans;
}

/** Cuts a span at the borders of the block; a change within the margin stays visible. */
function clip(span: OffsetSpan, blockStart: number, blockEnd: number): OffsetSpan {
  return {
    ...span,
    start: span.start === -Infinity ? blockStart - MARGIN_SECONDS : span.start,
    end: span.end === Infinity ? blockEnd : span.end,
  };
}

/** The offset of a zone at an instant, both in seconds; positive east of Greenwich. */
export type OffsetSource = (utcSeconds: number) => number;

/** A zone of the platform. */
interface PlatformZone {
  readonly canonicalName: string;
  /** One call costs about a microsecond, so it only serves to fill an OffsetTable. */
  readonly offsetAt: OffsetSource;
}

/** Finds a zone in the data of the platform by any name that it accepts; null for other names. */
export function openPlatformZone(name: string): PlatformZone | null {
  const format = formatFor(name);
  if (format === null) return null;
  return {
    canonicalName: format.resolvedOptions().timeZone,
    offsetAt: (utcSeconds) => parseLongOffset(format.format(utcSeconds * 1000)),
  };
}

function formatFor(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, hour: "numeric", timeZoneName: "longOffset" });
  } catch {
    return null;
  }
}

/** Reads the end of "7 PM GMT", "7 PM GMT-05:00" or "1 PM GMT-04:56:02", as local mean time had it. */
function parseLongOffset(text: string): number {
  const at = text.lastIndexOf("GMT") + 3;
  if (at === text.length) return 0;
  const sign = text.charCodeAt(at) === 0x2b ? 1 : -1;
  const seconds = at + 7 < text.length ? twoDigits(text, at + 7) : 0;
  return sign * (twoDigits(text, at + 1) * 3600 + twoDigits(text, at + 4) * 60 + seconds);
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30;
}
