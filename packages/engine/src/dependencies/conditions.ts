import { Condition, type ConditionOutcome, type ConditionScope } from "@carillon/condition";
import { type AfterSchedule, CarillonError } from "@carillon/core";
import type { UpstreamEnd } from "@carillon/store";

/** The names that a `when` may use, of the run that ended. */
const scope: ConditionScope = {
  output: "dyn",
  status: "string",
  reason: "dyn",
  attempt: "int",
  error: "dyn",
  payload: "dyn",
};

const maxCompiled = 1_000;

/** Compiled conditions by their text; the oldest is dropped when the cache is full. */
export class Conditions {
  readonly #compiled = new Map<string, Condition>();

  holds(source: string, end: UpstreamEnd): ConditionOutcome {
    const { output, status, reason, attempt, error, payload } = end;
    return this.#of(source).holds({ output, status, reason, attempt, error, payload });
  }

  #of(source: string): Condition {
    const known = this.#compiled.get(source);
    if (known !== undefined) return known;
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size >= maxCompiled && oldest !== undefined) this.#compiled.delete(oldest);
    const made = compile(source);
    this.#compiled.set(source, made);
    return made;
  }
}

const compile = (source: string): Condition => new Condition(source, scope);

/** Throws condition_invalid for a condition of a schedule that cannot be compiled, with its pointer. */
export function checkConditions({ after }: AfterSchedule): void {
  for (const [index, { when }] of after.entries()) {
    if (when === undefined) continue;
    try {
      compile(when);
    } catch (error) {
      if (!(error instanceof CarillonError)) throw error;
      const { code, message } = error;
      throw new CarillonError(code, message, {
        items: [{ pointer: `/schedule/after/${index}/when`, code, detail: message }],
      });
    }
  }
}
