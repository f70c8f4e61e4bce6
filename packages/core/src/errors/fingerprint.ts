import { Hash128 } from "../ids/hash.js";

/** The parts of a handler's error that its fingerprint depends on. */
export interface ErrorFacts {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
}

const maxMessageLength = 500;
const maxFrames = 3;

/**
 * Groups errors: equal for errors that were thrown in the same place and differ only in numbers, ids, quoted words, addresses
 * and paths. Line numbers are ignored, so that a new build does not make new groups. 16 hexadecimal digits.
 */
export function fingerprintOf({ type, message, stack }: ErrorFacts): string {
  return digest([type, plainMessage(message), ...topFrames(stack ?? "")].join("\n"));
}

const parts: readonly (readonly [pattern: RegExp, word: string])[] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'`<>)]+/gi, "<url>"],
  [/"[^"\n]*"|`[^`\n]*`|(?<![\p{L}\d])'[^'\n]*'/gu, "<text>"],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, "<id>"],
  [/\b[a-z]{2,10}_[0-9a-z]{16,}\b/gi, "<id>"],
  [/(?<![\w.])(?:[a-z]:)?(?:[\\/][\w.@+~-]+){2,}/gi, "<path>"],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, "<id>"],
  [/[-+]?\d+(?:[.,:]\d+)*/g, "<n>"],
  [/\s+/g, " "],
];

/** The message with its variable parts (numbers, ids, quoted words, addresses, paths) replaced. */
export function plainMessage(message: string): string {
  return parts
    .reduce((text, [pattern, word]) => text.replace(pattern, word), message.slice(0, maxMessageLength))
    .trim();
}

const frame = /^\s*at (?:(?:async |new )*([^()\s]+) )?\(?(?:file:\/\/)?([^()\s]*?)(?::\d+)?(?::\d+)?\)?$/;

/** The innermost functions of the stack with their files, without those of Node. */
function topFrames(stack: string): string[] {
  const found: string[] = [];
  for (const line of stack.slice(0, 8_192).split("\n")) {
    const [, name = "", place = ""] = frame.exec(line) ?? [];
    if (place === "" || place.startsWith("node:") || place === "<anonymous>") continue;
    found.push(`${name}@${place.split(/[\\/]/).at(-1)}`);
    if (found.length === maxFrames) break;
  }
  return found;
}

function digest(text: string): string {
  const hash = new Hash128(0);
  for (let at = 0; at < text.length; at += 4) {
    const code = (offset: number): number => (at + offset < text.length ? text.charCodeAt(at + offset) + 1 : 0);
    hash.block(code(0), code(1), code(2), code(3));
  }
  const [first, second] = hash.words();
  return [first, second].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}
