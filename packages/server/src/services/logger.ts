import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import type { Config } from "../config/options.js";

export interface LogTarget {
  readonly stream: NodeJS.WritableStream;
  readonly isTerminal: boolean;
  readonly colour: boolean;
}

/** JSON lines; on a terminal (or by configuration) readable lines. Written synchronously: a crash loses none. */
export function createLogger(config: Pick<Config, "logLevel" | "logFormat">, target: LogTarget): Logger {
  const pretty = config.logFormat === "pretty" || (config.logFormat === "auto" && target.isTerminal);
  const options = {
    level: config.logLevel,
    base: null,
    redact: { paths: redactedPaths, censor: "***" },
    hooks: { streamWrite: maskSecrets },
  };
  return pino(options, pretty ? prettyStream(target) : target.stream);
}

function prettyStream(target: LogTarget): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      const lines = String(chunk).trimEnd().split("\n");
      target.stream.write(`${lines.map((line) => prettyLine(line, target.colour)).join("\n")}\n`, () => done());
    },
  });
}

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

/** Members with a fixed place in the line, or without use at a terminal. */
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

/** Only a stack takes more than one line. */
function errorLines(err: unknown, paint: Paint): string {
  if (typeof err !== "object" || err === null) return "";
  const stack = "stack" in err && typeof err.stack === "string" ? err.stack : JSON.stringify(err);
  return `\n${paint("gray", stack.replace(/^/gm, "    "))}`;
}

/** The patterns of secrets anywhere in a line, and their replacements. */
const masks: readonly (readonly [RegExp, string])[] = [
  // The password between user and host of a URL.
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s"'/@:?#]*):[^\s"'/@]+@/gi, "$1:***@"],
  [/([?&](?:password|sslpassword|token|secret|api_key)=)[^&\s"'\\]+/gi, "$1***"],
  [/\b(bearer|basic) +[a-z0-9._~+/=-]{6,}/gi, "$1 ***"],
  [/\bwhsec_[a-z0-9+/=_-]+/gi, "whsec_***"],
  // The address of a callback authorises its answer.
  [/(\/callbacks\/)[^\s"'/?#\\]+/g, "$1***"],
];

/** A log line without its secrets. */
function maskSecrets(line: string): string {
  return masks.reduce((text, [pattern, mask]) => text.replace(pattern, mask), line);
}

const secretMembers = ["password", "secret", "token", "authorization", "cookie", "apiKey"];

/** Members of an entry, or of its members, that are never shown. */
const redactedPaths = secretMembers.flatMap((name) => [name, `*.${name}`]);
