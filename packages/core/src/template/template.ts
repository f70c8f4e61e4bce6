import { CarillonError } from "../errors/carillon-error.js";

export interface TemplateOptions {
  /** The names with which a path may start: `{payload.…}`, `{run.…}`. */
  readonly roots?: readonly string[];
  readonly maxLength?: number;
  /** The maximum length of a rendered text. */
  readonly maxRendered?: number;
}

const defaults = { roots: ["payload"], maxLength: 4_096, maxRendered: 65_536 };

/**
 * A text with placeholders: `customer:{payload.customer.id}`. `{{` and `}}` stand for the braces themselves. Parsed once,
 * rendered often; it reads own properties of plain data and runs no code.
 */
export class Template {
  readonly source: string;
  readonly #parts: readonly (string | TemplatePath)[];
  readonly #maxRendered: number;

  constructor(source: string, options: TemplateOptions = {}) {
    const { roots, maxLength, maxRendered } = { ...defaults, ...options };
    if (source.length > maxLength) {
      throw new CarillonError(
        "template_invalid",
        `The template has ${source.length} characters; at most ${maxLength} are allowed.`,
      );
    }
    this.source = source;
    this.#parts = parseParts(source, roots);
    this.#maxRendered = maxRendered;
  }

  /** The paths of its placeholders, in order. */
  get paths(): readonly string[] {
    return this.#parts.flatMap((part) => (typeof part === "string" ? [] : [part.text]));
  }

  /** The value itself, of any type, if the template is a single placeholder and nothing else; otherwise the rendered text. */
  value(scope: Readonly<Record<string, unknown>>): unknown {
    const [only, ...more] = this.#parts;
    if (typeof only !== "object" || more.length > 0) return this.render(scope);
    return valueAt(scope, only);
  }

  /** Fills in the values. Refuses a value that is missing, null, or not a string, number or boolean. */
  render(scope: Readonly<Record<string, unknown>>): string {
    let rendered = "";
    for (const part of this.#parts) rendered += typeof part === "string" ? part : textAt(scope, part);
    if (rendered.length > this.#maxRendered) {
      throw new CarillonError(
        "template_value_invalid",
        `The template renders ${rendered.length} characters; at most ${this.#maxRendered} are allowed.`,
      );
    }
    return rendered;
  }
}

function valueAt(scope: Readonly<Record<string, unknown>>, path: TemplatePath): unknown {
  let value: unknown = scope;
  for (const [index, key] of path.keys.entries()) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) {
      const at = path.keys.slice(0, index + 1).join(".");
      throw valueError("template_value_missing", path, `${at} does not exist.`);
    }
    // The check above has found an own property of this name.
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

function textAt(scope: Readonly<Record<string, unknown>>, path: TemplatePath): string {
  const value = valueAt(scope, path);
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (value === null || value === undefined) throw valueError("template_value_missing", path, `${path.text} is null.`);
  const kind = Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
  throw valueError("template_value_invalid", path, `${path.text} is ${kind}, not a string, a number or a boolean.`);
}

function valueError(code: "template_value_missing" | "template_value_invalid", path: TemplatePath, why: string) {
  return new CarillonError(code, `The placeholder {${path.text}} at character ${path.position} has no value: ${why}`);
}

/** A placeholder: `{payload.a.b}`. */
interface TemplatePath {
  readonly text: string;
  readonly keys: readonly string[];
  /** Of the opening brace, counted from 1. */
  readonly position: number;
}

const maxPlaceholders = 64;
const maxPathDepth = 16;
const keyShape = /^(?:[A-Za-z_][A-Za-z0-9_-]*|0|[1-9][0-9]*)$/;

/** Names that lead out of the data, to prototypes. */
const forbidden = new Set(["__proto__", "constructor", "prototype"]);

/** Splits a template into its literal texts and its placeholders, in one pass. */
function parseParts(source: string, roots: readonly string[]): (string | TemplatePath)[] {
  const parts: (string | TemplatePath)[] = [];
  let literal = "";
  let placeholders = 0;
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
    if (char === "}") throw syntaxError(brace, "A } closes nothing; write a brace itself as }}.");
    const end = source.indexOf("}", brace);
    if (end === -1) throw syntaxError(brace, "Nothing closes this {; write a brace itself as {{.");
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push(parsePlaceholder(source.slice(brace + 1, end), brace, roots));
    if (++placeholders > maxPlaceholders)
      throw syntaxError(brace, `The template has more than ${maxPlaceholders} placeholders.`);
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

function parsePlaceholder(text: string, brace: number, roots: readonly string[]): TemplatePath {
  const keys = text.split(".");
  const [root = ""] = keys;
  const shown = JSON.stringify(text.length <= 60 ? text : `${text.slice(0, 60)}…`);
  const right = `write a placeholder as {${roots[0] ?? "payload"}.a.b}`;
  if (!roots.includes(root)) {
    throw syntaxError(
      brace,
      `The path ${shown} does not start with ${roots.join(" or ")}; ${right}, a brace itself as {{.`,
    );
  }
  if (keys.length > maxPathDepth) throw syntaxError(brace, `The path ${shown} has more than ${maxPathDepth} names.`);
  const wrong = keys.find((name) => !keyShape.test(name));
  if (wrong !== undefined) {
    throw syntaxError(
      brace,
      `${JSON.stringify(wrong.slice(0, 60))} is not a name of letters, digits, _ and -; ${right}.`,
    );
  }
  const banned = keys.find((name) => forbidden.has(name));
  if (banned !== undefined) throw syntaxError(brace, `The name ${banned} is not allowed.`);
  return { text, keys, position: brace + 1 };
}

function syntaxError(at: number, why: string): CarillonError {
  return new CarillonError("template_invalid", `The template is not valid at character ${at + 1}: ${why}`);
}
