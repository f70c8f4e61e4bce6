import { CarillonError } from "../errors/carillon-error.js";

/** One condition on labels. Without values it only tests the key. */
export interface LabelCondition {
  readonly key: string;
  /** Whether the label must be present with one of the values, or must not. An absent label has none of the values. */
  readonly isIn: boolean;
  readonly among?: readonly string[];
}

const maxLength = 2_000;
const maxConditions = 32;
const keyShape = /^[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?$/;
const listShape = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const pairShape = /^([^=!\s]+)\s*(==|=|!=)\s*(.*)$/;

/** Reads a selector such as `team=billing,tier!=free,region in (eu,us),owner,!legacy`: all of its conditions must hold. */
export function parseLabelSelector(text: string): LabelCondition[] {
  if (text.length > maxLength) throw invalid(`The label selector is longer than ${maxLength} characters`);
  const parts = splitOutside(text).map((part) => part.trim());
  if (parts.length > maxConditions) throw invalid(`The label selector has more than ${maxConditions} conditions`);
  return parts.map(readCondition);
}

/** Splits at commas outside parentheses. */
function splitOutside(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "(") depth += 1;
    else if (char === ")") depth -= 1;
    else if (char === "," && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}

function readCondition(part: string): LabelCondition {
  const list = listShape.exec(part);
  if (list !== null) {
    const [, key = "", word, values = ""] = list;
    return { key: keyOf(key), isIn: word === "in", among: values.split(",").map((value) => value.trim()) };
  }
  const pair = pairShape.exec(part);
  if (pair !== null) {
    const [, key = "", sign, value = ""] = pair;
    if (/[=()]/.test(value)) throw invalid(`The condition ${shown(part)} cannot be parsed`);
    return { key: keyOf(key), isIn: sign !== "!=", among: [value] };
  }
  return part.startsWith("!") ? { key: keyOf(part.slice(1).trim()), isIn: false } : { key: keyOf(part), isIn: true };
}

function keyOf(text: string): string {
  if (keyShape.test(text)) return text;
  throw invalid(`${shown(text)} is not a label key`);
}

function shown(text: string): string {
  return JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 40)}…`);
}

function invalid(problem: string): CarillonError {
  return new CarillonError(
    "label_selector_invalid",
    `${problem}; write a=b, a!=b, a in (b,c), a notin (b,c), a or !a, separated by commas.`,
  );
}
