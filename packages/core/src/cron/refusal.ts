import { CarillonError } from "../errors/carillon-error.js";
import { DAY_OF_WEEK, type FieldRule } from "./fields.js";

const LONGEST_QUOTE = 40;

/**
 * Every refusal has one shape: the field (or "expression"), the part in quotes, what is wrong, and what would be right.
 * Control characters are shown by their escapes, long parts are cut.
 */
export function refusal(where: string, part: string, problem: string, remedy: string): CarillonError {
  return new CarillonError("cron_invalid", `${where} ${quote(part)}: ${problem}; ${remedy}`);
}

export function quote(text: string): string {
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
}

/** What a field takes, in the words of a remedy. */
export function domainOf(rule: FieldRule): string {
  if (rule === DAY_OF_WEEK) return "0-7 (0 and 7 are Sunday) or SUN-SAT";
  const first = rule.names[0];
  const last = rule.names.at(-1);
  return `${rule.min}-${rule.max}${first === undefined ? "" : ` or ${first}-${last}`}`;
}
