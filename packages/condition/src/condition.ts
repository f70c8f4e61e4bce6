import { CarillonError } from "@carillon/core";
import { Environment, type ParseResult } from "@marcbachmann/cel-js";
import { allowedFunctions, checkCalls, type Refusal } from "./check-calls.js";
import { type ConditionScope, takeValues } from "./condition-values.js";

export interface ConditionOptions {
  readonly maxLength?: number;
}

/** What became of a condition. One that cannot be evaluated is neither true nor false, and says why. */
export type ConditionOutcome =
  | { readonly ok: true; readonly holds: boolean }
  | { readonly ok: false; readonly why: string };

const usualLength = 1_024;
const limits = { maxAstNodes: 256, maxDepth: 32, maxListElements: 128, maxMapEntries: 32, maxCallArguments: 4 };

/**
 * A condition in CEL over named values. It is checked when it is made (what it names, the types it mixes, the functions it
 * calls) and evaluated often. It reads plain data and runs no code; its work is bounded by its own size and by that of
 * the data, see the README.
 */
export class Condition {
  readonly source: string;
  readonly #scope: ConditionScope;
  readonly #evaluate: ParseResult;
  /** How deep iterations nest: what the size of the data is a power of. */
  readonly #nesting: number;

  constructor(source: string, scope: ConditionScope, options: ConditionOptions = {}) {
    const maxLength = options.maxLength ?? usualLength;
    if (source.length > maxLength) {
      throw new CarillonError(
        "condition_invalid",
        `the condition has ${source.length} characters; at most ${maxLength} are allowed`,
      );
    }
    this.source = source;
    this.#scope = scope;
    this.#evaluate = parse(source, scope);
    const calls = checkCalls(this.#evaluate.ast);
    if ("why" in calls) throw refusal(calls, scope);
    this.#nesting = calls.nesting;
    const checked = this.#evaluate.check();
    if (!checked.valid) throw refusal(refusalOf(checked.error), scope);
    if (checked.type !== "bool" && checked.type !== "dyn") {
      throw refusal({ at: 0, why: `it gives a ${checked.type}, not true or false` }, scope);
    }
  }

  /** Whether it holds for these values, each of which the scope names. */
  holds(values: Readonly<Record<string, unknown>>): ConditionOutcome {
    const taken = takeValues(values, this.#scope, this.#nesting);
    if ("why" in taken) return { ok: false, why: taken.why };
    let result: unknown;
    try {
      result = this.#evaluate(taken.values);
    } catch (error) {
      const { at, why } = refusalOf(error);
      return { ok: false, why: `${why} (character ${at + 1})` };
    }
    if (typeof result === "boolean") return { ok: true, holds: result };
    return { ok: false, why: `it gave a ${result === null ? "null" : typeof result}, not true or false` };
  }
}

function parse(source: string, scope: ConditionScope): ParseResult {
  const environment = new Environment({ limits });
  for (const [name, type] of Object.entries(scope)) environment.registerVariable(name, type);
  try {
    return environment.parse(source);
  } catch (error) {
    throw refusal(refusalOf(error), scope);
  }
}

/** The library's errors carry a summary and a range; anything else it throws is told by its message. */
function refusalOf(error: unknown): Refusal {
  if (!(error instanceof Error)) return { at: 0, why: "it cannot be evaluated" };
  const { summary, range } = error as { readonly summary?: string; readonly range?: { readonly start: number } };
  return { at: range?.start ?? 0, why: (summary ?? error.message).slice(0, 300) };
}

function refusal({ at, why }: Refusal, scope: ConditionScope): CarillonError {
  const names = Object.keys(scope).join(", ");
  return new CarillonError(
    "condition_invalid",
    `the condition is wrong at character ${at + 1}: ${why}. It is CEL over ${names}, with ${allowedFunctions}`,
  );
}
