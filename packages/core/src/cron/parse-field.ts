import { DAY_OF_MONTH, DAY_OF_WEEK, type CronField, type CronPart, type FieldRule } from "./fields.js";
import { parseDayParts } from "./parse-day-parts.js";
import { parseEnds, parseValue } from "./parse-value.js";
import { refusal } from "./refusal.js";

/** Parses one field: a list of parts. Throws `cron_invalid`. */
export function parseField(rule: FieldRule, text: string): CronField {
  const pieces = text.split(",");
  if (pieces.includes("")) {
    const kept = pieces.filter((piece) => piece !== "").join(",") || "*";
    throw refusal(rule.name, text, "the list has an empty element", `write ${kept}`);
  }
  return { rule, text, parts: pieces.flatMap((piece) => parsePart(rule, piece)) };
}

function parsePart(rule: FieldRule, text: string): CronPart | readonly CronPart[] {
  refuseStrangeCharacters(rule, text);
  const dayParts = parseDayParts(rule, text);
  if (dayParts !== null) return dayParts;
  const [base = "", stepText, more] = text.split("/");
  if (more !== undefined) throw refusal(rule.name, text, "a part has at most one step", "write a-b/n");
  const step = stepText === undefined ? 1 : parseStep(rule, text, stepText);
  if (base === "*" || (base === "?" && isDayRule(rule))) return { kind: "every", step };
  if (base.includes("*") || base.includes("?")) throw misplacedWildcard(rule, text);
  if (base.includes("-")) return { kind: "range", ...parseEnds(rule, text, base, { step, suffix: "" }), step };
  const value = parseValue(rule, text, base);
  return stepText === undefined ? { kind: "value", value } : { kind: "range", from: value, to: rule.max, step };
}

function parseStep(rule: FieldRule, part: string, text: string): number {
  const max = rule === DAY_OF_WEEK ? 7 : rule.max - rule.min + 1;
  const remedy = `write a whole number from 1 to ${max} after the slash`;
  if (!/^[0-9]+$/.test(text)) throw refusal(rule.name, part, "the step is not a number", remedy);
  const step = Number(text);
  if (step === 0) throw refusal(rule.name, part, "a step of 0 never moves", remedy);
  if (step > max) throw refusal(rule.name, part, `the step is longer than the field`, remedy);
  return step;
}

function isDayRule(rule: FieldRule): boolean {
  return rule === DAY_OF_MONTH || rule === DAY_OF_WEEK;
}

function misplacedWildcard(rule: FieldRule, part: string): Error {
  if (part.includes("?") && !isDayRule(rule)) {
    return refusal(rule.name, part, "? is for the two day fields", "write *");
  }
  return refusal(rule.name, part, "a wildcard stands alone or before a step", "write * or */n");
}

function refuseStrangeCharacters(rule: FieldRule, part: string): void {
  if (part.includes("+")) throw refusal(rule.name, part, "a number has no sign", `write ${part.replaceAll("+", "")}`);
  const strange = /[^0-9A-Za-z*?/#-]/u.exec(part)?.[0];
  if (strange === undefined) return;
  const code = (strange.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const problem = `the character U+${code} has no meaning here`;
  throw refusal(rule.name, part, problem, "use the digits 0-9, ASCII letters and * ? , - / # only");
}
