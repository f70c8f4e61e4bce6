import { CarillonError } from "../errors/carillon-error.js";
import { openPlatformZone } from "./offset-source.js";
import { fixedOffsetTable, SampledOffsetTable, type OffsetTable } from "./offset-table.js";
import { suggestZone } from "./suggest-zone.js";
import { Zone } from "./zone.js";

/** The platform knows these abbreviations, the zone database does not; each means several zones to different people. */
const ABBREVIATIONS = new Set(
  "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST".split(" "),
);
const LONGEST_NAME = 64;

const UTC_TABLE: OffsetTable = fixedOffsetTable(0);

interface KnownZone {
  readonly canonicalName: string;
  readonly table: OffsetTable;
}

/** By lower-case name and, for the tables, by canonical name: both bounded by the size of the zone database. */
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
    throw unknown(name, "is an offset, not a zone", 'write an IANA name such as "Asia/Kolkata" or "Etc/GMT-5"');
  }
  const isLong = name.length > LONGEST_NAME;
  const found = isLong ? null : openPlatformZone(name);
  if (found === null) {
    const near = isLong ? null : suggestZone(name);
    const remedy = near === null ? 'write one such as "Europe/Berlin" or "UTC"' : `did you mean "${near}"?`;
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
  const shown = JSON.stringify(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name);
  return new CarillonError("time_zone_unknown", `time zone ${shown} ${problem}; ${remedy}`);
}
