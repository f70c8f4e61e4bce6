import { CarillonError } from "../errors/carillon-error.js";
import { DAY_OF_WEEK, type FieldRule } from "./fields.js";

const MAX_QUOTED = 40;

/**
 * Every refusal has the same form: the field (or "expression"), the part in quotes, the problem, and the remedy. Control
 * characters are shown as escapes, long parts are cut.
 */
export function refusal(where: string, part: string, problem: string, remedy: string): CarillonError {
  return new CarillonError("cron_invalid", `${capitalised(where)} ${quote(part)}: ${problem}; ${remedy}.`);
}

export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The values that a field takes, as a remedy names them. */
export function domainOf(rule: FieldRule): string {
  if (rule === DAY_OF_WEEK) return "0-7 (0 and 7 are Sunday) or SUN-SAT";
  const first = rule.names[0];
  const last = rule.names.at(-1);
  return `${rule.min}-${rule.max}${first === undefined ? "" : ` or ${first}-${last}`}`;
}
