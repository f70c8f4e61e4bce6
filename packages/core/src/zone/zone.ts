import { CarillonError } from "../errors/carillon-error.js";
import type { DstPolicy } from "../schedule/spec.js";
import { slipsBetween } from "../spelling/similar-word.js";
import { type DurationMs, type Instant, NEVER } from "../time/instant.js";
import { type CivilDate, civilDateOf, SECONDS_PER_DAY } from "./civil.js";
import {
  fixedOffsetTable,
  type OffsetSpan,
  type OffsetTable,
  openPlatformZone,
  SampledOffsetTable,
} from "./zone-offsets.js";

/**
 * A wall-clock reading without its zone: the instant at which UTC shows it. 2026-03-08T02:30 is
 * `Date.UTC(2026, 2, 8, 2, 30)` in every zone.
 */
export type WallMs = number;

/** The instants at which a wall clock shows a reading. */
export type WallReading =
  | { readonly kind: "unique"; readonly instant: Instant }
  /** The clock jumped over the reading; `instant` is the first one after the jump. */
  | { readonly kind: "gap"; readonly instant: Instant }
  | { readonly kind: "overlap"; readonly first: Instant; readonly second: Instant };

/** Offsets are shorter than a day, so every instant that can show a reading lies within a day of it. */
const REACH_SECONDS = SECONDS_PER_DAY;

/** A time zone: converts instants to wall-clock readings and back. Never depends on the zone of the host. */
export class Zone {
  /** As the user wrote it. */
  readonly name: string;
  /** The name in the zone data; equal for links to the same zone. */
  readonly canonicalName: string;
  readonly #table: OffsetTable;

  constructor(name: string, canonicalName: string, table: OffsetTable) {
    this.name = name;
    this.canonicalName = canonicalName;
    this.#table = table;
  }

  /** The span of constant offset around an instant, in seconds. For evaluators; other callers use `offsetAt`. */
  spanAt(utcSeconds: number): OffsetSpan {
    return this.#table.spanAt(utcSeconds);
  }

  /** The difference of the wall-clock reading and the instant; positive east of Greenwich. */
  offsetAt(instant: Instant): DurationMs {
    return this.#table.spanAt(Math.floor(instant / 1000)).offset * 1000;
  }

  toWall(instant: Instant): WallMs {
    return instant + this.offsetAt(instant);
  }

  /** The local date as days since 1970-01-01. */
  localDay(instant: Instant): number {
    return Math.floor(this.toWall(instant) / (SECONDS_PER_DAY * 1000));
  }

  localDate(instant: Instant): CivilDate {
    return civilDateOf(this.localDay(instant));
  }

  /** When the wall clock shows a reading: once, never (a gap) or twice (an overlap). */
  read(wall: WallMs): WallReading {
    const seconds = Math.floor(wall / 1000);
    let span = this.#table.spanAt(seconds - REACH_SECONDS);
    while (seconds - span.offset >= span.end) {
      const change = span.end;
      span = this.#table.spanAt(change);
      if (seconds - span.offset < change) return { kind: "gap", instant: change * 1000 };
    }
    const first = wall - span.offset * 1000;
    if (span.shiftOut >= 0 || seconds - span.offset < span.end + span.shiftOut)
      return { kind: "unique", instant: first };
    return { kind: "overlap", first, second: first - span.shiftOut * 1000 };
  }

  /**
   * The one instant that stands for a reading: the first after a gap and the first pass of an overlap, unless the
   * policy says otherwise; NEVER for a reading in a gap under `gap: "skip"`. `both` has no single answer: it means `first`.
   */
  toInstant(wall: WallMs, policy: DstPolicy = {}): Instant {
    const reading = this.read(wall);
    if (reading.kind === "unique") return reading.instant;
    if (reading.kind === "gap") return policy.gap === "skip" ? NEVER : reading.instant;
    return policy.overlap === "second" ? reading.second : reading.first;
  }
}

/** Abbreviations that the platform accepts, but that are not in the zone database; each is ambiguous. */
const ABBREVIATIONS = new Set(
  "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST".split(" "),
);
const MAX_NAME_LENGTH = 64;

const UTC_TABLE: OffsetTable = fixedOffsetTable(0);

interface KnownZone {
  readonly canonicalName: string;
  readonly table: OffsetTable;
}

/** By lower-case name and, for the tables, by canonical name. The zone database bounds the size of both. */
const known = new Map<string, KnownZone>();
const tables = new Map([["UTC", UTC_TABLE]]);

/** Finds a zone by its IANA name, in any case; links are accepted. Throws `time_zone_unknown` for anything else. */
export function resolveZone(name: string): Zone {
  const key = name.toLowerCase();
  let entry = known.get(key);
  if (entry === undefined) {
    entry = load(name);
    known.set(key, entry);
  }
  return new Zone(name, entry.canonicalName, entry.table);
}

function load(name: string): KnownZone {
  if (/^(?:etc\/)?(?:utc|gmt)$/i.test(name)) return { canonicalName: "UTC", table: UTC_TABLE };
  if (/^[+-]?\d|^(?:utc|gmt)[+-]\d/i.test(name) && !/^gmt[+-]0$/i.test(name)) {
    throw unknown(name, "is an offset, not a zone", 'write an IANA name such as "Asia/Kolkata" or "Etc/GMT-5".');
  }
  const isLong = name.length > MAX_NAME_LENGTH;
  const found = isLong ? null : openPlatformZone(name);
  if (found === null) {
    const near = isLong ? null : suggestZone(name);
    const remedy = near === null ? 'write one such as "Europe/Berlin" or "UTC".' : `did you mean "${near}"?`;
    throw unknown(name, "is not an IANA time zone name", remedy);
  }
  const { canonicalName, offsetAt } = found;
  if (ABBREVIATIONS.has(name.toUpperCase()) || /^systemv\//i.test(name)) {
    throw unknown(name, "is an abbreviation, not an IANA time zone name", `did you mean "${canonicalName}"?`);
  }
  let table = tables.get(canonicalName);
  if (table === undefined) {
    table = new SampledOffsetTable(offsetAt);
    tables.set(canonicalName, table);
  }
  return { canonicalName, table };
}

function unknown(name: string, problem: string, remedy: string): CarillonError {
  const shown = JSON.stringify(name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name);
  return new CarillonError("time_zone_unknown", `Time zone ${shown} ${problem}; ${remedy}`);
}

/** Names that the platform accepts but does not list, because it lists an older name. */
const NEWER_NAMES = ["UTC", "Asia/Kolkata", "Asia/Ho_Chi_Minh", "Asia/Kathmandu", "Asia/Yangon", "Europe/Kyiv"];

/** The zone name that is most similar to a misspelt one, or to a city alone ("new york"); null if none is similar. */
function suggestZone(name: string): string | null {
  const wanted = fold(name);
  const allowed = Math.max(1, Math.floor(wanted.length / 4));
  let best: string | null = null;
  let bestDistance = allowed + 1;
  for (const candidate of [...NEWER_NAMES, ...Intl.supportedValuesOf("timeZone")]) {
    const city = candidate.slice(candidate.lastIndexOf("/") + 1);
    const wantedCity = wanted.slice(wanted.lastIndexOf("/") + 1);
    // A correct city in a wrong region counts as one edit.
    const distance = Math.min(
      slipsBetween(wanted, fold(candidate)),
      slipsBetween(wantedCity, fold(city)) + (wanted.includes("/") ? 1 : 0),
    );
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function fold(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
}
