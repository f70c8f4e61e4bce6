import { DAY_OF_MONTH, DAY_OF_WEEK, type CronField, type CronPart, type FieldRule } from "./fields.js";
import { parseDayPart } from "./parse-day-part.js";
import { forwardSpelling } from "./forward-spelling.js";
import { parseValue } from "./parse-value.js";
import { refusal } from "./refusal.js";

/** Understands one field: a list of parts. Throws `cron_invalid`. */
export function parseField(rule: FieldRule, text: string): CronField {
  const pieces = text.split(",");
  if (pieces.includes("")) {
    const kept = pieces.filter((piece) => piece !== "").join(",") || "*";
    throw refusal(rule.name, text, "the list has an empty element", `write ${kept}`);
  }
  return { rule, text, parts: pieces.map((piece) => parsePart(rule, piece)) };
}

function parsePart(rule: FieldRule, text: string): CronPart {
  refuseStrangeCharacters(rule, text);
  const special = parseDayPart(rule, text);
  if (special !== null) return special;
  const [base = "", stepText, more] = text.split("/");
  if (more !== undefined) throw refusal(rule.name, text, "a part has at most one step", "write a-b/n");
  const step = stepText === undefined ? 1 : parseStep(rule, text, stepText);
  if (base === "*" || (base === "?" && isDayRule(rule))) return { kind: "every", step };
  if (base.includes("*") || base.includes("?")) throw misplacedWildcard(rule, text);
  if (base.includes("-")) return parseRange(rule, text, base, step);
  const value = parseValue(rule, text, base);
  return stepText === undefined ? { kind: "value", value } : { kind: "range", from: value, to: rule.max, step };
}

function parseRange(rule: FieldRule, part: string, base: string, step: number): CronPart {
  const [first = "", last = "", more] = base.split("-");
  if (more !== undefined) throw refusal(rule.name, part, "a range has two ends", "write a-b, or a list of ranges");
  if (first === "" && last !== "") throw refusal(rule.name, part, "a number has no sign", `write ${last}`);
  if (first === "" || last === "") throw refusal(rule.name, part, "the range has an open end", "write a-b");
  const from = parseValue(rule, part, first);
  let to = parseValue(rule, part, last);
  // SUN is both ends of the week; as a digit the writer has said which one.
  if (rule === DAY_OF_WEEK && last.toUpperCase() === "SUN" && from > 0) to = 7;
  if (from > to) {
    const style = { step, byName: /[a-z]/i.test(base) };
    const remedy = `write ${forwardSpelling(rule, from, to, style)}`;
    throw refusal(rule.name, part, "the range runs backwards", remedy);
  }
  return { kind: "range", from, to, step };
}

function parseStep(rule: FieldRule, part: string, text: string): number {
  const most = rule === DAY_OF_WEEK ? 7 : rule.max - rule.min + 1;
  const remedy = `write a whole number from 1 to ${most} after the slash`;
  if (!/^[0-9]+$/.test(text)) throw refusal(rule.name, part, "the step is not a number", remedy);
  const step = Number(text);
  if (step === 0) throw refusal(rule.name, part, "a step of 0 never moves", remedy);
  if (step > most) throw refusal(rule.name, part, `the step is longer than the field`, remedy);
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
