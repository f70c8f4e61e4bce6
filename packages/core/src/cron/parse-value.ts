import type { FieldRule } from "./fields.js";
import { domainOf, refusal } from "./refusal.js";

/** Reads a number or a name of the field; `part` is what a refusal quotes. */
export function parseValue(rule: FieldRule, part: string, text: string): number {
  if (/^[0-9]+$/.test(text)) {
    const value = Number(text);
    if (value >= rule.min && value <= rule.max) return value;
    throw refusal(rule.name, part, `${text.slice(0, 20)} is out of range`, `use ${domainOf(rule)}`);
  }
  const name = text.toUpperCase();
  const index = rule.names.indexOf(name);
  if (index >= 0) return rule.min + index;
  const near = rule.names.find((known) => name.length > 3 && name.startsWith(known));
  if (near !== undefined) throw refusal(rule.name, part, "names have three letters", `write ${near}`);
  throw refusal(rule.name, part, notAValue(rule, text), `use ${domainOf(rule)}`);
}

function notAValue(rule: FieldRule, text: string): string {
  if (text === "") return "a value is missing";
  return rule.names.length > 0 ? "is neither a whole number nor a name" : "is not a whole number";
}
