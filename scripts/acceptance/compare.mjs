// Compares the answers of several ways. Parts that differ in every run (ids, instants, durations, names of the way) become placeholders.

const id = /\b(job|run|wrk|bkf|ses|att)_[0-9a-z]{20,}\b/g;
const uuid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const instant = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g;

/**
 * @param {unknown} value
 * @param {string} way its name is part of keys, labels and paths
 */
export function comparable(value, way) {
  if (Array.isArray(value)) return value.map((one) => comparable(one, way));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([name, one]) => [
      name,
      name.endsWith("_ms") && typeof one === "number" ? "<ms>" : comparable(one, way),
    ]);
    return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  if (typeof value !== "string") return value;
  return value
    .replaceAll(id, "<$1>")
    .replaceAll(uuid, "<uuid>")
    .replaceAll(instant, "<time>")
    .replaceAll(new RegExp(`\\b${way}-`, "g"), "<way>-");
}

/**
 * The path of the first difference with both values, or null.
 * @param {unknown} one
 * @param {unknown} other
 * @returns {string | null}
 */
export function difference(one, other, path = "") {
  if (Object.is(one, other)) return null;
  const isTree = (value) => typeof value === "object" && value !== null;
  if (!isTree(one) || !isTree(other) || Array.isArray(one) !== Array.isArray(other))
    return `${path || "/"}: ${JSON.stringify(one)} and ${JSON.stringify(other)}`;
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const found = difference(one[name], other[name], `${path}/${name}`);
    if (found !== null) return found;
  }
  return null;
}

/**
 * The path of the first expected part that a value lacks, or null. The value may have further members.
 * @param {unknown} value
 * @param {unknown} expected
 * @returns {string | null}
 */
export function missing(value, expected, path = "") {
  if (typeof expected !== "object" || expected === null)
    return Object.is(value, expected)
      ? null
      : `${path || "/"}: ${JSON.stringify(value)}, not ${JSON.stringify(expected)}`;
  if (typeof value !== "object" || value === null) return `${path || "/"}: ${JSON.stringify(value)}`;
  for (const [name, one] of Object.entries(expected)) {
    const found = missing(value[name], one, `${path}/${name}`);
    if (found !== null) return found;
  }
  return null;
}

/**
 * A row for each action, a column for each way; findings follow their row.
 * @param {readonly string[]} ways
 * @param {readonly { title: string, cells: readonly (string | null)[], seconds: number }[]} rows
 */
export function tableOf(ways, rows) {
  const width = Math.max(...rows.map(({ title }) => title.length), "action".length);
  const line = (title, cells, end) => `${title.padEnd(width)}  ${cells.map((cell) => cell.padEnd(6)).join("")}${end}`;
  const lines = rows.flatMap(({ title, cells, seconds }) => [
    line(
      title,
      cells.map((cell) => (cell === null ? "ok" : "NOT")),
      `${seconds.toFixed(1).padStart(5)} s`,
    ),
    ...cells.flatMap((cell, index) => (cell === null ? [] : [`    ${ways[index]}: ${cell}`])),
  ]);
  return [line("action", ways, ""), ...lines].join("\n");
}
