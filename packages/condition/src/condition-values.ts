/** The types a condition's values have. `dyn` is any JSON value; numbers inside it are doubles. */
export type ConditionType = "dyn" | "string" | "int" | "double" | "bool" | "list" | "map";

/** What a condition may name, and its type. */
export type ConditionScope = Readonly<Record<string, ConditionType>>;

/** The most data that a condition reads, by how deep its iterations nest: one per value, one per 64 characters. */
const heaviest = [1_000_000, 10_000, 500];
const charactersPerUnit = 64;
const deepestData = 64;

type TakenValues = { readonly values: Readonly<Record<string, unknown>> } | { readonly why: string };

/**
 * Copies plain data into maps and lists: a map has no prototype to reach, whatever its keys are called. Whole numbers
 * become CEL's int only where the scope says so. What the scope names and nobody gave is null.
 */
export function takeValues(
  given: Readonly<Record<string, unknown>>,
  scope: ConditionScope,
  nesting: number,
): TakenValues {
  const copier = new Copier(heaviest[nesting] ?? 0);
  const values: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(scope)) {
    const value = Object.hasOwn(given, name) ? given[name] : null;
    values[name] = type === "int" && Number.isInteger(value) ? BigInt(value as number) : copier.copy(value, 0);
  }
  return copier.why === undefined ? { values } : { why: copier.why };
}

class Copier {
  why: string | undefined;
  #left: number;
  readonly #bound: number;

  constructor(bound: number) {
    this.#bound = bound;
    this.#left = bound;
  }

  copy(value: unknown, depth: number): unknown {
    this.#left -= 1 + (typeof value === "string" ? Math.floor(value.length / charactersPerUnit) : 0);
    if (this.#left < 0) {
      this.why ??= `the data is too large for this condition: more than ${this.#bound} values (a text counts one per ${charactersPerUnit} characters)`;
    }
    if (depth > deepestData) this.why ??= `the data nests more than ${deepestData} deep`;
    if (this.why !== undefined || value === undefined) return null;
    if (Array.isArray(value))
      return value.map((item: unknown) => (this.why === undefined ? this.copy(item, depth + 1) : null));
    if (typeof value !== "object" || value === null) return value;
    const copied = new Map<string, unknown>();
    for (const [key, item] of Object.entries(value)) {
      if (this.why !== undefined) break;
      copied.set(key, this.copy(item, depth + 1));
    }
    return copied;
  }
}
