import { Condition, type ConditionOutcome, type ConditionScope } from "@carillon/condition";
import { type AfterSchedule, CarillonError } from "@carillon/core";
import type { UpstreamEnd } from "@carillon/store";

/** What a `when` may name, of the run that ended. */
const scope: ConditionScope = {
  output: "dyn",
  status: "string",
  reason: "dyn",
  attempt: "int",
  error: "dyn",
  payload: "dyn",
};

const mostKept = 1_000;

/** Compiled conditions by their text, as many as fit; an old one is compiled again. */
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
    if (this.#compiled.size >= mostKept && oldest !== undefined) this.#compiled.delete(oldest);
    const made = compile(source);
    this.#compiled.set(source, made);
    return made;
  }
}

const compile = (source: string): Condition => new Condition(source, scope);

/** Throws what is wrong with the conditions of a schedule, with the place of each. */
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
