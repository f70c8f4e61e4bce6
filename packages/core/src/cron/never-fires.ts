import { CarillonError } from "../errors/carillon-error.js";
import { isUnrestricted, type CronField, type CronFields, type DayMatch } from "./fields.js";
import { capitalised, quote } from "./refusal.js";

/** Names the fields that exclude one another. Only days and months can: every day has every time of day. */
export function neverFires(fields: CronFields, dayMatch: DayMatch): CarillonError {
  const blamed = [fields.dayOfMonth, fields.dayOfWeek, fields.month].filter((field) => !isUnrestricted(field));
  const fieldTexts = blamed.map((field: CronField) => `${field.rule.name} ${quote(field.text)}`).join(" with ");
  const which = capitalised(fieldTexts);
  const bothDays = !isUnrestricted(fields.dayOfMonth) && !isUnrestricted(fields.dayOfWeek);
  if (dayMatch === "and" && bothDays) {
    const problem = "no day in any year matches both day fields";
    return new CarillonError("cron_never_fires", `${which}: ${problem}; choose days that meet, or day_match "or".`);
  }
  const remedy = "choose days that one of the months has, such as L for its last day";
  return new CarillonError("cron_never_fires", `${which}: there is no such day in any year; ${remedy}.`);
}
