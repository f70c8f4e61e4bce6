import { type CalendarDefinition, parseCalendar } from "@carillon/core";
import { isObject } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { checkJsonValue } from "../check/json-value.js";

/** The calendar of an address. What may stand in it is core's to say: the same words are said offline. */
export function readCalendarPut(name: string, body: unknown): CalendarDefinition {
  const findings = new Findings();
  if (!isObject(body)) {
    findings.add(
      "",
      "field_invalid",
      'the body must be a JSON object such as {"rules": [{"weekdays": ["SAT", "SUN"]}]}',
    );
    findings.raise();
  }
  if (!checkJsonValue(body, findings)) findings.raise();
  const { name: given = name, ...rest } = isObject(body) ? body : {};
  if (given !== name) findings.add("/name", "field_invalid", `the address says ${JSON.stringify(name)}; leave it out`);
  const { definition, problems } = parseCalendar({ ...rest, name });
  for (const { pointer, detail } of problems) findings.add(pointer, "calendar_invalid", detail);
  findings.raise();
  return definition;
}
