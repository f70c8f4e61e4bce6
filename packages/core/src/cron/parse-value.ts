import { DAY_OF_WEEK, type FieldRule } from "./fields.js";
import { forwardSpelling } from "./forward-spelling.js";
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

/** Reads the two ends of a range `a-b`; `part` is what a refusal quotes, `form` how it spells a range that runs backwards. */
export function parseEnds(
  rule: FieldRule,
  part: string,
  range: string,
  form: { readonly step: number; readonly suffix: string },
): { readonly from: number; readonly to: number } {
  const [first = "", last = "", more] = range.split("-");
  if (more !== undefined) throw refusal(rule.name, part, "a range has two ends", "write a-b, or a list of ranges");
  if (first === "" && last !== "")
    throw refusal(rule.name, part, "a number has no sign", `write ${last}${form.suffix}`);
  if (first === "" || last === "")
    throw refusal(rule.name, part, "the range has an open end", `write a-b${form.suffix}`);
  const from = parseValue(rule, part, first);
  let to = parseValue(rule, part, last);
  // SUN is both ends of the week; a digit says which one.
  if (rule === DAY_OF_WEEK && last.toUpperCase() === "SUN" && from > 0) to = 7;
  if (from > to) {
    const remedy = `write ${forwardSpelling(rule, from, to, { ...form, byName: /[a-z]/i.test(range) })}`;
    throw refusal(rule.name, part, "the range runs backwards", remedy);
  }
  return { from, to };
}

function notAValue(rule: FieldRule, text: string): string {
  if (text === "") return "a value is missing";
  return rule.names.length > 0 ? "is neither a whole number nor a name" : "is not a whole number";
}
