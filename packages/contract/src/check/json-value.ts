import { limits } from "../schema/limits.js";
import type { Findings } from "./findings.js";
import { pointerTo } from "./pointer.js";

/** NUL, which PostgreSQL cannot store in text, and halves of surrogate pairs, which no UTF-8 can carry. */
const unstorable = /[\0\p{Surrogate}]/u;

/**
 * Refuses what would come back different from how it was sent: characters that cannot be stored, numbers that lost their
 * digits in parsing, and nesting that no recursive reader should be asked to follow. Says whether the rest may be looked at.
 */
export function checkJsonValue(value: unknown, findings: Findings, pointer = "", depth = 1): boolean {
  if (typeof value === "string") checkText(value, findings, pointer);
  else if (typeof value === "number") checkNumber(value, findings, pointer);
  else if (typeof value === "object" && value !== null) {
    if (depth > limits.jsonDepth) {
      findings.add("", "field_invalid", `the body is nested deeper than ${limits.jsonDepth} levels`);
      return false;
    }
    if (Array.isArray(value)) {
      return value.every((item, index) => checkJsonValue(item, findings, pointerTo(pointer, index), depth + 1));
    }
    return Object.entries(value).every(([name, member]) => {
      const where = pointerTo(pointer, name);
      checkText(name, findings, where);
      return checkJsonValue(member, findings, where, depth + 1);
    });
  }
  return true;
}

function checkText(text: string, findings: Findings, pointer: string): void {
  if (unstorable.test(text)) {
    findings.add(pointer, "field_invalid", "text must not contain NUL or unpaired surrogates");
  }
}

function checkNumber(value: number, findings: Findings, pointer: string): void {
  if (!Number.isFinite(value)) findings.add(pointer, "field_invalid", "the number is too large; send it as text");
  // From 1e21 on a number is written with an exponent: who sends one does not expect every digit back.
  else if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21) {
    findings.add(pointer, "field_invalid", "a whole number beyond 2^53 - 1 loses digits; send it as text");
  }
}
