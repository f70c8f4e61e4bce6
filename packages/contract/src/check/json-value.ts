import { limits } from "../bounds.js";
import { type Findings, pointerTo } from "./findings.js";

/** NUL, which PostgreSQL cannot store in text, and halves of surrogate pairs, which no UTF-8 can carry. */
const unstorable = /[\0\p{Surrogate}]/u;

/** A whole number that lost digits has at least so many. */
const manyDigits = /\d{16}/;

/**
 * Whether a text that `JSON.stringify` wrote is sound at a glance: what `checkJsonValue` refuses is not in it. Where it is not, the
 * value has to be looked at.
 */
export function isPlainlySound(text: string): boolean {
  // An escaped character may be one that cannot be stored.
  if (text.includes("\\u") || manyDigits.test(text)) return false;
  return countOf("{", text) + countOf("[", text) < limits.jsonDepth;
}

/** Stops counting where it is enough. */
function countOf(mark: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(mark); at !== -1 && count < limits.jsonDepth; at = text.indexOf(mark, at + 1)) count++;
  return count;
}

/**
 * Refuses what would come back different from how it was sent: characters that cannot be stored, numbers that lost their
 * digits in parsing, and nesting that no recursive reader should be asked to follow. Says whether the rest may be looked at.
 */
export function checkJsonValue(value: unknown, findings: Findings): boolean {
  return new JsonWalk(findings).visit(value);
}

/** The way to the present value is one list that grows and shrinks: most values are sound and need no pointer. */
class JsonWalk {
  readonly #findings: Findings;
  readonly #way: (string | number)[] = [];

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  visit(value: unknown): boolean {
    if (typeof value === "string") this.#checkText(value);
    else if (typeof value === "number") this.#checkNumber(value);
    else if (typeof value === "object" && value !== null) return this.#visitMembers(value);
    return true;
  }

  #visitMembers(value: object): boolean {
    if (this.#way.length >= limits.jsonDepth) {
      this.#findings.add("", "field_invalid", `the body is nested deeper than ${limits.jsonDepth} levels`);
      return false;
    }
    if (Array.isArray(value)) return value.every((item, index) => this.#visitMember(index, item));
    return Object.entries(value).every(([name, member]) => this.#visitMember(name, member));
  }

  #visitMember(name: string | number, member: unknown): boolean {
    this.#way.push(name);
    if (typeof name === "string") this.#checkText(name);
    const mayGoOn = this.visit(member);
    this.#way.pop();
    return mayGoOn;
  }

  #checkText(text: string): void {
    if (unstorable.test(text)) this.#refuse("text must not contain NUL or unpaired surrogates");
  }

  #checkNumber(value: number): void {
    if (!Number.isFinite(value)) this.#refuse("the number is too large; send it as text");
    // From 1e21 on a number is written with an exponent: who sends one does not expect every digit back.
    else if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21) {
      this.#refuse("a whole number beyond 2^53 - 1 loses digits; send it as text");
    }
  }

  #refuse(detail: string): void {
    this.#findings.add(this.#way.reduce<string>(pointerTo, ""), "field_invalid", detail);
  }
}
