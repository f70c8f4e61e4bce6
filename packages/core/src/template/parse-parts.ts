import { CarillonError } from "../errors/carillon-error.js";

/** The place of a value: `{payload.a.b}`. */
export interface TemplatePath {
  readonly text: string;
  readonly keys: readonly string[];
  /** Of the opening brace, counted from 1. */
  readonly position: number;
}

const mostPlaces = 64;
const deepestPath = 16;
const key = /^(?:[A-Za-z_][A-Za-z0-9_-]*|0|[1-9][0-9]*)$/;

/** Names that lead out of the data; no data that is worth a template has them. */
const forbidden = new Set(["__proto__", "constructor", "prototype"]);

/** Splits a template into its literal texts and its places, in one pass. */
export function parseParts(source: string, roots: readonly string[]): (string | TemplatePath)[] {
  const parts: (string | TemplatePath)[] = [];
  let literal = "";
  let places = 0;
  let at = 0;
  while (at < source.length) {
    const brace = nextBrace(source, at);
    literal += source.slice(at, brace);
    if (brace === source.length) break;
    const char = source.charAt(brace);
    if (source.charAt(brace + 1) === char) {
      literal += char;
      at = brace + 2;
      continue;
    }
    if (char === "}") throw refusal(brace, "there is a } that closes nothing; a brace itself is written }}");
    const end = source.indexOf("}", brace);
    if (end === -1) throw refusal(brace, "there is a { that nothing closes; a brace itself is written {{");
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push(parsePath(source.slice(brace + 1, end), brace, roots));
    if (++places > mostPlaces) throw refusal(brace, `there are more than ${mostPlaces} places for values`);
    at = end + 1;
  }
  if (literal !== "") parts.push(literal);
  return parts;
}

function nextBrace(source: string, from: number): number {
  let at = from;
  while (at < source.length && source[at] !== "{" && source[at] !== "}") at++;
  return at;
}

function parsePath(text: string, brace: number, roots: readonly string[]): TemplatePath {
  const keys = text.split(".");
  const [root = ""] = keys;
  const shown = JSON.stringify(text.length <= 60 ? text : `${text.slice(0, 60)}…`);
  const right = `a place is written {${roots[0] ?? "payload"}.a.b}`;
  if (!roots.includes(root)) {
    throw refusal(brace, `${shown} does not start with ${roots.join(" or ")}; ${right}, a brace itself {{`);
  }
  if (keys.length > deepestPath) throw refusal(brace, `${shown} has more than ${deepestPath} names`);
  const wrong = keys.find((name) => !key.test(name));
  if (wrong !== undefined) {
    throw refusal(brace, `${JSON.stringify(wrong.slice(0, 60))} is not a name of letters, digits, _ and -; ${right}`);
  }
  const banned = keys.find((name) => forbidden.has(name));
  if (banned !== undefined) throw refusal(brace, `the name ${banned} is not allowed`);
  return { text, keys, position: brace + 1 };
}

function refusal(at: number, why: string): CarillonError {
  return new CarillonError("template_invalid", `the template is wrong at character ${at + 1}: ${why}`);
}
