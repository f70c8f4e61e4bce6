import * as fc from "fast-check";
import type { SchemaNode } from "./from-document.js";

interface FormatExamples {
  readonly right: (schema: SchemaNode) => fc.Arbitrary<string>;
  /** Texts that the format refuses. */
  readonly wrong: readonly string[];
}

const pad = (value: number, length = 2): string => String(value).padStart(length, "0");

/** Near times and far ones: a time that must lie in the future is right in most cases. */
const instant = fc
  .record({
    year: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 2_031, max: 2_099 }) }, fc.constant(2_026)),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 28 }),
    hour: fc.integer({ min: 0, max: 23 }),
    offset: fc.constantFrom("Z", "+01:00", "-09:30"),
  })
  .map(({ year, month, day, hour, offset }) => `${year}-${pad(month)}-${pad(day)}T${pad(hour)}:00:00${offset}`);

const units = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

/** The milliseconds of a bound in the document, which has one unit. */
function boundMs(text: string | undefined, byDefault: number): number {
  const [, count, unit] = /^(\d+)(w|d|h|m|s|ms)$/.exec(text ?? "") ?? [];
  return count === undefined ? byDefault : Number(count) * units[unit as keyof typeof units];
}

const boundsOf = (schema: SchemaNode) => ({
  min: boundMs(schema["x-minimum-duration"], 0),
  max: boundMs(schema["x-maximum-duration"], 36_525 * units.d),
});

const durations = { "500ms": 500, "10s": 10_000, "1m30s": 90_000, PT5M: 300_000, "2h": 7_200_000, P7D: 604_800_000 };

function duration(schema: SchemaNode): fc.Arbitrary<string> {
  const { min, max } = boundsOf(schema);
  const fitting = Object.entries(durations).flatMap(([text, ms]) => (ms >= min && ms <= max ? [text] : []));
  return fc.constantFrom(...fitting, `${min}ms`, `${max}ms`);
}

/** A text of each format of the document, right and wrong. */
const formats: Readonly<Record<string, FormatExamples>> = {
  "date-time": {
    right: () => instant,
    wrong: ["tomorrow", "2031-02-30T00:00:00Z", "2031-01-01", "2031-01-01T00:00:00", "1767225600"],
  },
  "local-date-time": { right: () => instant, wrong: ["tomorrow", "2031-02-30T00:00:00Z", "2031-13-01T00:00:00Z"] },
  "carillon-duration": { right: duration, wrong: ["", "soon", "10", "-5m", "1y", "5m1h", "36526d"] },
  cron: {
    right: () => fc.constantFrom("*/15 * * * *", "0 9 * * MON-FRI", "@daily", "30 2 1,15 * *", "0 0 12 * * *"),
    wrong: ["* * * *", "61 * * * *", "often", "0 0 30 2 *", "@sometimes"],
  },
  "time-zone": {
    right: () => fc.constantFrom("UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata"),
    wrong: ["Mars/Olympus", "+02:00", "CEST"],
  },
  cel: {
    right: () => fc.constantFrom("output.rows > 0", "status == 'succeeded'", "attempt < 3"),
    wrong: ["output.", "1 +"],
  },
  template: {
    right: () => fc.constantFrom("customer:7", "all", "a-{{b}}"),
    wrong: ["{", "a}", "{env.HOME}", "{payload.constructor}"],
  },
  "label-selector": {
    right: () => fc.constantFrom("team=a", "team in (a,b),!x", "a!=b,region notin (eu)"),
    wrong: ["=", "team=(", "a in b", ",", "-=1"],
  },
  statuses: {
    right: () => fc.constantFrom("queued", "failed,CANCELLED", "pending"),
    wrong: ["dancing", ",", "queued,,failed"],
  },
  "event-types": { right: () => fc.constantFrom("run.failed", "job,run.created"), wrong: ["nothing", ","] },
  "page-token": { right: () => fc.constantFrom("MQ", "eyJhIjoxfQ"), wrong: [] },
  uri: {
    right: () => fc.constantFrom("https://example.com/hooks", "http://example.org:8080/a?b=c"),
    wrong: ["ftp://a.b", "x"],
  },
};

/** Formats that a pattern says in full. */
const patternFormats = new Set(["carillon-id", "job-name"]);

const samples = new Map<string, readonly string[]>();

/** Texts of a pattern. fast-check knows no assertions, so the texts are checked afterwards. */
function samplesOf(pattern: string): readonly string[] {
  const known = samples.get(pattern);
  if (known !== undefined) return known;
  const exact = new RegExp(pattern, "u");
  const simple = new RegExp(pattern.replaceAll(/\(\?[=!][^()]*\)/g, ""), "u");
  const drawn = fc.sample(fc.stringMatching(simple, { size: "small" }), { numRuns: 40, seed: 1 });
  const fitting = drawn.filter((text) => exact.test(text) && !/[\0\p{Surrogate}]/u.test(text));
  samples.set(pattern, fitting);
  return fitting;
}

const plain = fc.oneof(
  fc.constantFrom("a", "echo", "Ünïcode \u{1f514}", "two words"),
  fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 }),
);

/** Texts that a schema allows. */
export function rightText(schema: SchemaNode): fc.Arbitrary<string> {
  const { format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY, examples = [] } = schema;
  const known = format === undefined || patternFormats.has(format) ? undefined : formats[format];
  if (format !== undefined && known === undefined && !patternFormats.has(format))
    throw new Error(`The format ${format} has no texts here.`);
  const fits = (text: string): boolean => text.length >= minLength && Array.from(text).length <= maxLength;
  if (known !== undefined) return known.right(schema).filter(fits);
  const words = [
    ...examples.filter((one) => typeof one === "string"),
    ...(pattern === undefined ? [] : samplesOf(pattern)),
  ];
  return words.length === 0 ? plain.filter(fits) : fc.constantFrom(...words.filter(fits));
}

const unusual = ["", " ", "\u0001", "a b", "ä", "-", "..", "@", "x".repeat(300), "carillon:x", "\u{1f514}"];

/** Texts that a schema refuses, each with the kind of its fault. */
export function wrongTexts(schema: SchemaNode): { readonly kind: string; readonly text: string }[] {
  const { format, pattern, minLength = 0, maxLength } = schema;
  const exact = pattern === undefined ? null : new RegExp(pattern, "u");
  const isShaped = (text: string): boolean => exact === null || exact.test(text);
  const { min, max } = boundsOf(schema);
  const ranged = format === "carillon-duration" ? [...(min > 0 ? [`${min - 1}ms`] : []), `${max + 1}ms`] : [];
  return [
    ...unusual.filter((text) => !isShaped(text)).map((text) => ({ kind: "pattern", text })),
    ...(formats[format ?? ""]?.wrong ?? []).map((text) => ({ kind: "format", text })),
    ...ranged.map((text) => ({ kind: "range", text })),
    ...(minLength > 0 ? [{ kind: "range", text: "" }] : []),
    ...(maxLength === undefined ? [] : [{ kind: "range", text: "a".repeat(maxLength + 1) }]),
  ];
}
