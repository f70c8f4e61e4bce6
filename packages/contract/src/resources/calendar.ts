import { CALENDAR_LIMITS, type CalendarDefinition, isObject, parseCalendar } from "@carillon/core";
import { type Static, Type } from "typebox";
import { Findings } from "../check/findings.js";
import { checkJsonValue } from "../check/read-body.js";
import { closed, object, Text, Timestamp } from "../fields.js";
import { bodyErrors, getErrors, type Operation, pageAnswer, storeErrors } from "../operation.js";
import { pageOf, PageQuery } from "../paging.js";

const Dates = (description: string) =>
  Type.Array(Type.String(), {
    maxItems: CALENDAR_LIMITS.dates,
    description,
    examples: [["2026-12-24/2027-01-01", "12-31"]],
  });

const CalendarDays = object(
  "CalendarDays",
  {
    weekdays: Type.Optional(Type.Array(Type.String(), { maxItems: 7, examples: [["SAT", "SUN"]] })),
    dates: Type.Optional(Dates("Days or ranges of days, both ends included; without a year they apply to every year")),
    holidays: Type.Optional(
      Type.Object(
        {
          country: Type.String({ description: "ISO 3166, two letters", examples: ["DE"] }),
          region: Type.Optional(Type.String({ examples: ["BY"] })),
          types: Type.Optional(Type.Array(Type.String(), { description: "public by default", examples: [["public"]] })),
        },
        { additionalProperties: false, description: "Public holidays" },
      ),
    ),
    icalendar: Type.Optional(
      closed({
        source: Type.Optional(Type.String({ examples: ["school.ics"] })),
        dates: Dates("The days of an imported file"),
      }),
    ),
  },
  { description: "Exactly one of weekdays, dates, holidays, icalendar" },
);

const Rules = Type.Array(CalendarDays, {
  maxItems: CALENDAR_LIMITS.rules,
  description: "The calendar contains the days of all rules",
});

export const CalendarPut = object(
  "CalendarPut",
  { name: Type.Optional(Text("The same as in the address")), rules: Rules },
  { examples: [{ rules: [{ weekdays: ["SAT", "SUN"] }, { dates: ["12-24/12-26"] }] }] },
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

const Name = (example: string) => Type.Object({ name: Type.String({ examples: [example] }) });
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
