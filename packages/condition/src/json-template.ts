import { CarillonError, Template, type TemplateOptions } from "@carillon/core";

type Part = Template | readonly Part[] | ReadonlyMap<string, Part> | number | boolean | null;

const maxDepth = 32;
const maxParts = 2_000;

/**
 * A JSON value whose texts are templates, for example a request body: `{"id": "{payload.id}", "text": "Hello {payload.name}"}`.
 * A text that is one placeholder becomes the value itself, of any type; any other becomes a text. Names of members are no
 * templates.
 */
export class JsonTemplate {
  readonly #root: Part;
  readonly #paths: string[] = [];

  constructor(source: unknown, options: TemplateOptions = {}) {
    let parts = 0;
    const parse = (value: unknown, depth: number): Part => {
      if (++parts > maxParts || depth > maxDepth) {
        throw new CarillonError(
          "template_invalid",
          `The template has more than ${maxParts} values or nests more than ${maxDepth} deep.`,
        );
      }
      if (typeof value === "string") return this.#template(value, options);
      if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
      if (Array.isArray(value)) return value.map((item: unknown) => parse(item, depth + 1));
      if (typeof value !== "object") throw new CarillonError("template_invalid", `A ${typeof value} is not JSON.`);
      return new Map(Object.entries(value).map(([name, item]) => [name, parse(item, depth + 1)]));
    };
    this.#root = parse(source, 0);
  }

  /** The paths of the values that it needs, in order. */
  get paths(): readonly string[] {
    return this.#paths;
  }

  #template(source: string, options: TemplateOptions): Template {
    const template = new Template(source, options);
    this.#paths.push(...template.paths);
    return template;
  }

  /** Throws template_invalid if a value is missing. */
  render(scope: Readonly<Record<string, unknown>>): unknown {
    return renderPart(this.#root, scope);
  }
}

function renderPart(part: Part, scope: Readonly<Record<string, unknown>>): unknown {
  if (part instanceof Template) return part.value(scope);
  if (Array.isArray(part)) return part.map((item: Part) => renderPart(item, scope));
  if (!(part instanceof Map)) return part;
  // Defined, not assigned: a member called __proto__ is a member like any other.
  const rendered = {};
  for (const [name, item] of part as ReadonlyMap<string, Part>) {
    Object.defineProperty(rendered, name, {
      value: renderPart(item, scope),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return rendered;
}
