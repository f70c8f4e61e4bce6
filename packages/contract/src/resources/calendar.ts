import { CALENDAR_LIMITS, type CalendarDefinition, HOLIDAY_TYPES, isObject, parseCalendar } from "@carillon/core";
import { type Static, Type } from "typebox";
import { Findings } from "../check/findings.js";
import { checkJsonValue } from "../check/read-body.js";
import { closed, described, object, PlainName, stringEnum, Timestamp } from "../fields.js";
import { bodyErrors, getErrors, type Operation, pageAnswer, storeErrors } from "../operation.js";
import { pageOf, PageQuery } from "../paging.js";

const day = "(?!0000)\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])";
const yearlyDay = "(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])";
const datedPattern = `^\\s*${day}(?:/${day})?\\s*$`;
const datesPattern = `^\\s*(?:${day}(?:/${day})?|${yearlyDay}(?:/${yearlyDay})?)\\s*$`;
const weekdayPattern =
  "^(?:[Ss][Uu][Nn]|[Mm][Oo][Nn]|[Tt][Uu][Ee]|[Ww][Ee][Dd]|[Tt][Hh][Uu]|[Ff][Rr][Ii]|[Ss][Aa][Tt])$";

const Dates = (description: string, pattern: string, example: readonly string[]) =>
  Type.Array(Type.String({ pattern }), {
    minItems: 1,
    maxItems: CALENDAR_LIMITS.dates,
    description,
    examples: [example],
  });

const CalendarDays = object(
  "CalendarDays",
  {
    weekdays: Type.Optional(
      Type.Array(Type.String({ pattern: weekdayPattern }), {
        minItems: 1,
        maxItems: 7,
        description: "Days of the week, by the first three letters",
        examples: [["SAT", "SUN"]],
      }),
    ),
    dates: Type.Optional(
      Dates("Days or ranges of days, both ends included; without a year they apply to every year", datesPattern, [
        "2026-12-24/2027-01-01",
        "12-31",
      ]),
    ),
    holidays: Type.Optional(
      Type.Object(
        {
          country: Type.String({ pattern: "^[A-Za-z]{2}$", description: "ISO 3166, two letters", examples: ["DE"] }),
          region: Type.Optional(
            Type.String({
              pattern: "^[A-Za-z0-9]+(-[A-Za-z0-9]+)?$",
              description: "A subdivision of the country",
              examples: ["BY"],
            }),
          ),
          types: Type.Optional(
            Type.Array(stringEnum(HOLIDAY_TYPES), {
              minItems: 1,
              description: "public by default",
              examples: [["public"]],
            }),
          ),
        },
        { additionalProperties: false, description: "Public holidays" },
      ),
    ),
    icalendar: Type.Optional(
      closed({
        source: Type.Optional(Type.String({ examples: ["school.ics"] })),
        dates: Dates("The days of an imported file", datedPattern, ["2026-02-07/2026-02-22"]),
      }),
    ),
  },
  {
    description: "Exactly one of weekdays, dates, holidays, icalendar",
    minProperties: 1,
    maxProperties: 1,
    "x-carillon-rules": [{ code: "calendar_invalid", rule: "Days exist, and no range runs backwards" }],
  },
);

const Rules = Type.Array(CalendarDays, {
  minItems: 1,
  examples: [[{ weekdays: ["SAT", "SUN"] }, { dates: ["12-24/12-26"] }]],
  maxItems: CALENDAR_LIMITS.rules,
  description: "The calendar contains the days of all rules",
});

export const CalendarPut = object(
  "CalendarPut",
  { name: Type.Optional(described(PlainName("de-holidays"), "The same as in the address")), rules: Rules },
  {
    examples: [{ rules: [{ weekdays: ["SAT", "SUN"] }, { dates: ["12-24/12-26"] }] }],
    "x-carillon-rules": [{ code: "field_invalid", rule: "name is the name in the address" }],
  },
);
export type CalendarPut = Static<typeof CalendarPut>;

export const Calendar = object(
  "Calendar",
  {
    name: Type.String(),
    version: Type.Integer({ minimum: 1, description: "Increases with every change; also the ETag" }),
    rules: Rules,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { description: "A named set of days" },
);
export type Calendar = Static<typeof Calendar>;

export const CalendarList = pageOf("CalendarList", { calendars: Type.Array(Calendar) });
export type CalendarList = Static<typeof CalendarList>;

const Name = (example: string) => Type.Object({ name: PlainName(example) });
const readsCalendars = { tag: "Calendars", permission: "calendars:read", rateClass: "read", method: "GET" } as const;
const writesCalendars = { tag: "Calendars", permission: "calendars:write", rateClass: "write" } as const;
const etag = 'The calendar\'s version, as in "v7"';

export const listCalendars = {
  ...readsCalendars,
  path: "/v1/calendars",
  client: "calendars.list",
  summary: "List calendars by name",
  query: PageQuery,
  ...pageAnswer(CalendarList),
} as const satisfies Operation;

export const getCalendar = {
  ...readsCalendars,
  path: "/v1/calendars/{name}",
  client: "calendars.get",
  summary: "Get a calendar",
  params: Name("de-holidays"),
  answers: { 200: { description: "The calendar", schema: Calendar, headers: { ETag: etag } } },
  errors: getErrors,
} as const satisfies Operation;

export const putCalendar = {
  ...writesCalendars,
  method: "PUT",
  path: "/v1/calendars/{name}",
  client: "calendars.put",
  summary: "Create or replace a calendar",
  description:
    "A new version applies immediately to every job that uses the calendar: its next fire is computed again.",
  params: Name("de-holidays"),
  conditional: true,
  body: CalendarPut,
  answers: {
    200: { description: "The calendar as it is now", schema: Calendar, headers: { ETag: etag } },
    201: {
      description: "The new calendar",
      schema: Calendar,
      headers: { ETag: etag, Location: "The address of the resource" },
    },
  },
  errors: [...bodyErrors, "precondition_failed", "calendar_invalid", "calendar_holidays_unavailable", ...storeErrors],
} as const satisfies Operation;

export const deleteCalendar = {
  ...writesCalendars,
  method: "DELETE",
  path: "/v1/calendars/{name}",
  client: "calendars.delete",
  summary: "Delete a calendar",
  description: "Refused while a job uses it.",
  params: Name("de-holidays"),
  conditional: true,
  answers: { 204: { description: "Deleted" } },
  errors: [...bodyErrors, "not_found", "precondition_failed", "calendar_in_use", ...storeErrors],
} as const satisfies Operation;

/** The calendar of an address. Core checks its rules, so that commands that work offline refuse the same with the same words. */
export function readCalendarPut(name: string, body: unknown): CalendarDefinition {
  const findings = new Findings();
  if (!isObject(body)) {
    const example = '{"rules": [{"weekdays": ["SAT", "SUN"]}]}';
    findings.add("", "field_invalid", `The body must be a JSON object such as ${example}.`);
    findings.raise();
  }
  if (!checkJsonValue(body, findings)) findings.raise();
  const { name: given = name, ...rest } = isObject(body) ? body : {};
  if (given !== name)
    findings.add("/name", "field_invalid", `Must be the name in the address, ${JSON.stringify(name)}, or be left out.`);
  const { definition, problems } = parseCalendar({ ...rest, name });
  for (const { pointer, detail } of problems) findings.add(pointer, "calendar_invalid", detail);
  findings.raise();
  return definition;
}
