import { CarillonError } from "../errors/carillon-error.js";
import { parseParts, type TemplatePath } from "./parse-parts.js";

export interface TemplateOptions {
  /** What a path may start with: `{payload.…}`, `{run.…}`. */
  readonly roots?: readonly string[];
  readonly maxLength?: number;
  /** The longest text that render gives. */
  readonly maxRendered?: number;
}

const usual = { roots: ["payload"], maxLength: 4_096, maxRendered: 65_536 };

/**
 * A text with places for values: `customer:{payload.customer.id}`. `{{` and `}}` stand for the braces themselves. Parsed
 * once, rendered often; it reads own properties of plain data and runs no code.
 */
export class Template {
  readonly source: string;
  readonly #parts: readonly (string | TemplatePath)[];
  readonly #maxRendered: number;

  constructor(source: string, options: TemplateOptions = {}) {
    const { roots, maxLength, maxRendered } = { ...usual, ...options };
    if (source.length > maxLength) {
      throw new CarillonError(
        "template_invalid",
        `the template has ${source.length} characters; at most ${maxLength} are allowed`,
      );
    }
    this.source = source;
    this.#parts = parseParts(source, roots);
    this.#maxRendered = maxRendered;
  }

  /** The paths whose values it needs, in order. */
  get paths(): readonly string[] {
    return this.#parts.flatMap((part) => (typeof part === "string" ? [] : [part.text]));
  }

  /** The value itself, of any type, where the template is one place and nothing else; its text everywhere else. */
  value(scope: Readonly<Record<string, unknown>>): unknown {
    const [only, ...more] = this.#parts;
    if (typeof only !== "object" || more.length > 0) return this.render(scope);
    return valueAt(scope, only);
  }

  /** Puts the values in. A value that is missing, null, or not a text, a number or a truth value is refused. */
  render(scope: Readonly<Record<string, unknown>>): string {
    let rendered = "";
    for (const part of this.#parts) rendered += typeof part === "string" ? part : textAt(scope, part);
    if (rendered.length > this.#maxRendered) {
      throw new CarillonError(
        "template_value_invalid",
        `the template gives ${rendered.length} characters; at most ${this.#maxRendered} are allowed`,
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
      throw refusal("template_value_missing", path, `there is no ${at}`);
    }
    // What has an own property of this name is an object that can be read by it.
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

function textAt(scope: Readonly<Record<string, unknown>>, path: TemplatePath): string {
  const value = valueAt(scope, path);
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (value === null || value === undefined) throw refusal("template_value_missing", path, `${path.text} is null`);
  const kind = Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
  throw refusal("template_value_invalid", path, `${path.text} is ${kind}, not a text, a number or a truth value`);
}

function refusal(code: "template_value_missing" | "template_value_invalid", path: TemplatePath, why: string) {
  return new CarillonError(code, `{${path.text}} at character ${path.position} has no value: ${why}`);
}
