/** What JSON.parse can give. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

function isObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field of an object; without `otherwise` it must be there. The gateway leaves out what is zero, false or empty. */
export function field(value: Json, name: string, otherwise?: Json): Json {
  const found = (isObject(value) ? value[name] : undefined) ?? otherwise;
  if (found === undefined) throw new TypeError(`an answer without ${name}: ${JSON.stringify(value)}`);
  return found;
}

export function text(value: Json): string {
  if (typeof value !== "string") throw new TypeError(`a text was expected, not ${JSON.stringify(value)}`);
  return value;
}

export function list(value: Json): readonly Json[] {
  if (!Array.isArray(value)) throw new TypeError(`a list was expected, not ${JSON.stringify(value)}`);
  return value;
}
