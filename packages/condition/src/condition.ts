import { CarillonError } from "@carillon/core";
import { type ASTNode, Environment, type ParseResult } from "@marcbachmann/cel-js";

/** The types of the values of a condition. `dyn` is any JSON value; numbers inside it are doubles. */
export type ConditionType = "dyn" | "string" | "int" | "double" | "bool" | "list" | "map";

/** The names that a condition may use, with their types. */
export type ConditionScope = Readonly<Record<string, ConditionType>>;

export interface ConditionOptions {
  readonly maxLength?: number;
}

/** A condition that cannot be evaluated is neither true nor false. */
export type ConditionOutcome =
  | { readonly ok: true; readonly holds: boolean }
  | { readonly ok: false; readonly why: string };

const defaultMaxLength = 1_024;
const limits = { maxAstNodes: 256, maxDepth: 32, maxListElements: 128, maxMapEntries: 32, maxCallArguments: 4 };

/**
 * A condition in CEL over named values. Its constructor checks names, types and functions; it is evaluated often. It reads plain
 * data and runs no code. Its own size and the size of the data bound its work, see the README.
 */
export class Condition {
  readonly source: string;
  readonly #scope: ConditionScope;
  readonly #evaluate: ParseResult;
  /** How deep iterations nest: the exponent of the size of the data in the work of one evaluation. */
  readonly #nesting: number;

  constructor(source: string, scope: ConditionScope, options: ConditionOptions = {}) {
    const maxLength = options.maxLength ?? defaultMaxLength;
    if (source.length > maxLength) {
      throw new CarillonError(
        "condition_invalid",
        `The condition has ${source.length} characters; at most ${maxLength} are allowed.`,
      );
    }
    this.source = source;
    this.#scope = scope;
    this.#evaluate = parse(source, scope);
    const calls = checkCalls(this.#evaluate.ast);
    if ("why" in calls) throw invalid(calls, scope);
    this.#nesting = calls.nesting;
    const checked = this.#evaluate.check();
    if (!checked.valid) throw invalid(mistakeOf(checked.error), scope);
    if (checked.type !== "bool" && checked.type !== "dyn") {
      throw invalid({ at: 0, why: `its result is of type ${checked.type}, not true or false` }, scope);
    }
  }

  /** Evaluates the condition; a name of the scope without a value is null. Never throws. */
  holds(values: Readonly<Record<string, unknown>>): ConditionOutcome {
    const copied = copyValues(values, this.#scope, this.#nesting);
    if ("why" in copied) return { ok: false, why: copied.why };
    let result: unknown;
    try {
      result = this.#evaluate(copied.values);
    } catch (error) {
      const { at, why } = mistakeOf(error);
      return { ok: false, why: `${why} (character ${at + 1})` };
    }
    if (typeof result === "boolean") return { ok: true, holds: result };
    const type = result === null ? "null" : `of type ${typeof result}`;
    return { ok: false, why: `its result is ${type}, not true or false` };
  }
}

function parse(source: string, scope: ConditionScope): ParseResult {
  const environment = new Environment({ limits });
  for (const [name, type] of Object.entries(scope)) environment.registerVariable(name, type);
  try {
    return environment.parse(source);
  } catch (error) {
    throw invalid(mistakeOf(error), scope);
  }
}

interface Mistake {
  /** Counted from 0. */
  readonly at: number;
  readonly why: string;
}

/** Errors of the library have a summary and a range; others only a message. */
function mistakeOf(error: unknown): Mistake {
  if (!(error instanceof Error)) return { at: 0, why: "it cannot be evaluated" };
  const { summary, range } = error as { readonly summary?: string; readonly range?: { readonly start: number } };
  return { at: range?.start ?? 0, why: (summary ?? error.message).slice(0, 300) };
}

const iterations = new Set(["all", "exists", "exists_one", "map", "filter"]);

/**
 * The functions that a condition may call. The others have a cost that the size of the data does not bound (`matches` runs a
 * backtracking regular expression, `split` makes data grow) or leave JSON (bytes).
 */
const texts = ["startsWith", "endsWith", "contains", "lowerAscii", "upperAscii", "trim", "indexOf", "substring"];
const conversions = ["int", "double", "string", "bool", "dyn", "type", "timestamp", "duration"];
const times = ["getFullYear", "getMonth", "getDate", "getDayOfWeek", "getHours", "getMinutes", "getSeconds"];
const allowed = new Set(["has", "size", ...iterations, ...texts, ...conversions, ...times]);
const allowedFunctions = `the functions has, size, ${[...iterations, ...texts].join(", ")}, ${conversions.join(", ")}`;

function invalid({ at, why }: Mistake, scope: ConditionScope): CarillonError {
  const names = Object.keys(scope).join(", ");
  return new CarillonError(
    "condition_invalid",
    `The condition is wrong at character ${at + 1}: ${why}. It is CEL over ${names}, with ${allowedFunctions}.`,
  );
}

const maxNesting = 2;

/** Refuses functions that are not allowed, and returns how deep iterations nest (`in` inside an iteration is an iteration too). */
function checkCalls(root: ASTNode): Mistake | { readonly nesting: number } {
  let nesting = 0;
  const pending: { readonly node: ASTNode; readonly depth: number }[] = [{ node: root, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, depth } = next;
    let inner = depth;
    if (node.op === "call" || node.op === "rcall") {
      const [name] = node.args;
      if (!allowed.has(name)) return { at: node.pos, why: `the function ${name.slice(0, 60)} is not allowed` };
      if (iterations.has(name)) inner = depth + 1;
    }
    if (node.op === "in" && depth > 0) inner = depth + 1;
    nesting = Math.max(nesting, inner);
    if (nesting > maxNesting) return { at: node.pos, why: `iterations nest more than ${maxNesting} deep` };
    for (const child of childrenOf(node.args)) pending.push({ node: child, depth: inner });
  }
  return { nesting };
}

function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}

/** How much data a condition may read, by how deep its iterations nest: one for each value, one more for each 64 characters. */
const maxUnits = [1_000_000, 10_000, 500];
const charactersPerUnit = 64;
const maxDataDepth = 64;

/**
 * Copies plain data into maps and lists: a map has no prototype that a key could reach. Whole numbers become CEL's int only where
 * the scope has that type.
 */
function copyValues(
  given: Readonly<Record<string, unknown>>,
  scope: ConditionScope,
  nesting: number,
): { readonly values: Readonly<Record<string, unknown>> } | { readonly why: string } {
  const copier = new Copier(maxUnits[nesting] ?? 0);
  const values: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(scope)) {
    const value = Object.hasOwn(given, name) ? given[name] : null;
    values[name] = type === "int" && Number.isInteger(value) ? BigInt(value as number) : copier.copy(value, 0);
  }
  return copier.why === undefined ? { values } : { why: copier.why };
}

class Copier {
  /** Why the data is refused. */
  why: string | undefined;
  readonly #maxUnits: number;
  #unitsLeft: number;

  constructor(units: number) {
    this.#maxUnits = units;
    this.#unitsLeft = units;
  }

  copy(value: unknown, depth: number): unknown {
    this.#unitsLeft -= 1 + (typeof value === "string" ? Math.floor(value.length / charactersPerUnit) : 0);
    if (this.#unitsLeft < 0) {
      this.why ??= `the data is too large for this condition: more than ${this.#maxUnits} values (a text counts one per ${charactersPerUnit} characters)`;
    }
    if (depth > maxDataDepth) this.why ??= `the data nests more than ${maxDataDepth} deep`;
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
