import { CarillonError } from "../errors/carillon-error.js";
import { slipsBetween } from "../spelling/similar-word.js";
import { type OffsetTable, SampledOffsetTable, fixedOffsetTable, openPlatformZone } from "./zone-offsets.js";
import { Zone } from "./zone.js";

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
