/** The terminal's codes for the few colours in use. */
const STYLES = { red: 31, green: 32, yellow: 33, cyan: 36, gray: 90 } as const;
type Style = keyof typeof STYLES;
type Paint = (style: Style, text: string) => string;

const LEVELS = new Map<unknown, readonly [label: string, style: Style]>([
  [10, ["trace", "gray"]],
  [20, ["debug", "gray"]],
  [30, ["info ", "green"]],
  [40, ["warn ", "yellow"]],
  [50, ["error", "red"]],
  [60, ["fatal", "red"]],
]);

/** Members that have a place of their own in the line, or that a person at a terminal does not need. */
const PLACED = new Set(["level", "time", "msg", "pid", "hostname", "component", "err"]);

/** One JSON log line as one line for a person: time, level, component, message, then key=value. */
export function prettyLine(json: string, colour: boolean): string {
  const entry = parse(json);
  if (entry === null) return json;
  const paint: Paint = (style, text) => (colour ? `\u001b[${STYLES[style]}m${text}\u001b[39m` : text);
  const [label, style] = LEVELS.get(entry["level"]) ?? ["     ", "gray"];
  const time = typeof entry["time"] === "number" ? new Date(entry["time"]).toISOString().slice(11, 23) : "";
  const parts = [paint("gray", time), paint(style, label)];
  if (typeof entry["component"] === "string") parts.push(paint("cyan", entry["component"]));
  if (typeof entry["msg"] === "string") parts.push(oneLine(entry["msg"]));
  for (const [key, value] of Object.entries(entry)) {
    if (!PLACED.has(key)) parts.push(`${paint("gray", `${key}=`)}${shown(value)}`);
  }
  return parts.join(" ") + errorLines(entry["err"], paint);
}

function parse(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const entry: unknown = JSON.parse(json);
    return typeof entry === "object" && entry !== null ? { ...entry } : null;
  } catch {
    return null;
  }
}

function shown(value: unknown): string {
  const text = typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  return oneLine(text ?? "");
}

/** Control characters would let logged data move the cursor or forge lines. */
const oneLine = (text: string): string =>
  text.replace(/\p{Cc}/gu, (character) =>
    JSON.stringify(character)
      .slice(1, -1)
      .replace(/^[^\\]$/, "?"),
  );

/** A stack is the one thing worth more lines than one. */
function errorLines(err: unknown, paint: Paint): string {
  if (typeof err !== "object" || err === null) return "";
  const stack = "stack" in err && typeof err.stack === "string" ? err.stack : JSON.stringify(err);
  return `\n${paint("gray", stack.replace(/^/gm, "    "))}`;
}
