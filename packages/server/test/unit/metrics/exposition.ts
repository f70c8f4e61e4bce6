/** One family of a scrape: its declaration and its samples. */
export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const types = new Set(["counter", "gauge", "histogram", "summary", "untyped"]);
const suffixes: Readonly<Record<string, readonly string[]>> = {
  histogram: ["_bucket", "_sum", "_count"],
  summary: ["", "_sum", "_count"],
};

/** Parses the text format of Prometheus strictly; throws at the first invalid line. */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const families = new Map<string, Family & { samples: Sample[] }>();
  const seen = new Set<string>();
  let current: (Family & { samples: Sample[] }) | null = null;
  let help: { name: string; text: string } | null = null;
  for (const line of text.slice(0, -1).split("\n")) {
    if (line === "") continue;
    const helpLine = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (helpLine) {
      const [, name = "", said = ""] = helpLine;
      if (families.has(name)) throw new Error(`${name} is described twice`);
      if (/\\(?![\\n])/.test(said)) throw new Error(`the help of ${name} has a bad escape`);
      help = { name, text: said };
      continue;
    }
    const typeLine = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) ([a-z]+)$/.exec(line);
    if (typeLine) {
      const [, name = "", type = ""] = typeLine;
      if (!types.has(type)) throw new Error(`${name} has the type ${type}`);
      if (families.has(name)) throw new Error(`${name} is declared twice`);
      if (help?.name !== name) throw new Error(`${name} has no help before its type`);
      current = { name, type, help: help.text, samples: [] };
      families.set(name, current);
      continue;
    }
    if (line.startsWith("#")) throw new Error(`not a declaration: ${line}`);
    const sample = parseSample(line);
    if (current === null || !isOf(current, sample.name)) throw new Error(`outside its family: ${line}`);
    const series = `${sample.name} ${keyOf(sample)}`;
    if (seen.has(series)) throw new Error(`twice: ${series}`);
    seen.add(series);
    current.samples.push(sample);
  }
  for (const family of families.values()) if (family.type === "histogram") checkHistogram(family);
  return families;
}

function isOf({ name, type }: Family, sample: string): boolean {
  return (suffixes[type] ?? [""]).some((suffix) => `${name}${suffix}` === sample);
}

function parseSample(line: string): Sample {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (!match) throw new Error(`not a sample: ${line}`);
  const [, name = "", inside, number = ""] = match;
  return { name, labels: inside === undefined ? new Map() : parseLabels(inside), value: parseValue(number) };
}

function parseLabels(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  const pattern = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (!match) throw new Error(`bad labels from ${at} on: ${text}`);
    const [, name = "", value = ""] = match;
    if (labels.has(name)) throw new Error(`the label ${name} stands twice: ${text}`);
    labels.set(name, value);
  }
  return labels;
}

function parseValue(text: string): number {
  // The forms that Go parses, in any case.
  if (/^\+?inf$/i.test(text)) return Number.POSITIVE_INFINITY;
  if (/^-inf$/i.test(text)) return Number.NEGATIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw new Error(`not a number: ${text}`);
  return Number(text);
}

/** Buckets are cumulative, the last one is +Inf, and equals the count. */
function checkHistogram({ name, samples }: Family): void {
  const series = new Map<string, { le: number; value: number }[]>();
  const counts = new Map<string, number>();
  const sums = new Set<string>();
  for (const sample of samples) {
    const key = keyOf(sample, "le");
    if (sample.name === `${name}_count`) counts.set(key, sample.value);
    if (sample.name === `${name}_sum`) sums.add(key);
    if (sample.name !== `${name}_bucket`) continue;
    const buckets = series.get(key) ?? [];
    buckets.push({ le: parseValue(sample.labels.get("le") ?? ""), value: sample.value });
    series.set(key, buckets);
  }
  for (const [key, count] of counts) {
    const buckets = series.get(key) ?? [];
    for (const [index, { le, value }] of buckets.entries()) {
      const before = buckets[index - 1];
      if (before && (le <= before.le || value < before.value)) throw new Error(`${name} does not grow: ${key}`);
    }
    const last = buckets.at(-1);
    if (last?.le !== Number.POSITIVE_INFINITY || last.value !== count) throw new Error(`${name} lacks +Inf: ${key}`);
    if (!sums.has(key)) throw new Error(`${name} lacks its sum: ${key}`);
  }
}

/** The rules for names that `promtool check metrics` enforces. */
export function lintNames(families: Iterable<Family>): string[] {
  return [...families].flatMap(({ name, type }) => [
    ...((type === "counter") === name.endsWith("_total") ? [] : [`${name} is a ${type}`]),
    ...(/_(ms|millis|milliseconds|minutes|hours|days|kb|mb)(_|$)/.test(name) ? [`${name} is not in a base unit`] : []),
    ...(/_(histogram|gauge|counter|summary)(_|$)/.test(name) ? [`${name} names its type`] : []),
    ...(type !== "histogram" && type !== "summary" && /_(count|sum|bucket)$/.test(name)
      ? [`${name} looks derived`]
      : []),
    ...(/[A-Z]|__/.test(name) ? [`${name} is not snake_case`] : []),
  ]);
}

/** The identity of a series, independent of the order of its labels. */
function keyOf({ labels }: Sample, except?: string): string {
  const pairs = [...labels].filter(([label]) => label !== except).map(([label, value]) => `${label}=${value}`);
  return pairs.toSorted((a, b) => a.localeCompare(b)).join(" ");
}
