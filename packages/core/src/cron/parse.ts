import { dayMasksOf, firesEver, type DayMasks } from "./day-masks.js";
import { DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, SECOND, type CronFields, type DayMatch } from "./fields.js";
import { neverFires } from "./never-fires.js";
import { parseField } from "./parse-field.js";
import { refusal } from "./refusal.js";

const MAX_EXPRESSION_LENGTH = 256;

const MACROS = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

const SHAPE = "write five fields (minute hour day-of-month month day-of-week) or six with seconds first";

/**
 * Parses a cron expression. Throws `cron_invalid` with the field, the part and the remedy, or `cron_never_fires`
 * if no date of any year matches, which can depend on `dayMatch`.
 */
export function parseCron(expression: string, dayMatch: DayMatch = "or"): CronFields {
  return parseCronWithDays(expression, dayMatch).fields;
}

/** Also returns the masks of matching days, which the check has computed. */
export function parseCronWithDays(expression: string, dayMatch: DayMatch): { fields: CronFields; days: DayMasks } {
  const fields = parseFields(expression);
  const days = dayMasksOf(fields, dayMatch);
  if (!firesEver(fields.month, days)) throw neverFires(fields, dayMatch);
  return { fields, days };
}

function parseFields(expression: string): CronFields {
  const texts = splitFields(expression);
  const [second, minute, hour, dayOfMonth, month, dayOfWeek] = texts.length === 6 ? texts : ["0", ...texts];
  return {
    second: parseField(SECOND, second ?? ""),
    minute: parseField(MINUTE, minute ?? ""),
    hour: parseField(HOUR, hour ?? ""),
    dayOfMonth: parseField(DAY_OF_MONTH, dayOfMonth ?? ""),
    month: parseField(MONTH, month ?? ""),
    dayOfWeek: parseField(DAY_OF_WEEK, dayOfWeek ?? ""),
  };
}

function splitFields(expression: string): string[] {
  if (expression.length > MAX_EXPRESSION_LENGTH) {
    const problem = `is ${expression.length} characters long`;
    throw refusal("expression", expression, problem, `the maximum is ${MAX_EXPRESSION_LENGTH}`);
  }
  // Spaces and tabs separate fields; a line break or any other control character is an error.
  const texts = expression.split(/[ \t]+/).filter((text) => text !== "");
  const [first] = texts;
  if (first === undefined) throw refusal("expression", expression, "is empty", SHAPE);
  if (first.startsWith("@")) return splitFields(expandMacro(expression, texts));
  if (texts.length === 5 || texts.length === 6) return texts;
  const hint = texts.length === 7 ? " (there is no field for years)" : "";
  const count = `has ${texts.length} ${texts.length === 1 ? "field" : "fields"}${hint}`;
  throw refusal("expression", expression, count, SHAPE);
}

function expandMacro(expression: string, texts: readonly string[]): string {
  const expanded = MACROS.get((texts[0] ?? "").toLowerCase());
  if (expanded !== undefined && texts.length === 1) return expanded;
  const remedy = `use one of ${[...MACROS.keys()].join(" ")} alone`;
  throw refusal("expression", expression, "is not a macro", remedy);
}
