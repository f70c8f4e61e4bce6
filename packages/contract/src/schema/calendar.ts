import { CALENDAR_LIMITS } from "@carillon/core";
import { Type, type Static } from "typebox";
import { NextPageToken } from "./paging.js";
import { Timestamp } from "./scalars.js";

const Dates = (description: string) =>
  Type.Array(Type.String(), {
    maxItems: CALENDAR_LIMITS.dates,
    description,
    examples: [["2026-12-24/2027-01-01", "12-31"]],
  });

const CalendarDays = Type.Object(
  {
    weekdays: Type.Optional(Type.Array(Type.String(), { maxItems: 7, examples: [["SAT", "SUN"]] })),
    dates: Type.Optional(Dates("Days or ranges of days, both ends included; without a year they are every year's")),
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
      Type.Object(
        { source: Type.Optional(Type.String({ examples: ["school.ics"] })), dates: Dates("Days of an imported file") },
        { additionalProperties: false },
      ),
    ),
  },
  {
    title: "CalendarDays",
    additionalProperties: false,
    description: "Exactly one of weekdays, dates, holidays, icalendar",
  },
);

const Rules = Type.Array(CalendarDays, {
  maxItems: CALENDAR_LIMITS.rules,
  description: "The calendar holds the days of any of them",
});

export const CalendarPut = Type.Object(
  { name: Type.Optional(Type.String({ description: "As in the address" })), rules: Rules },
  {
    title: "CalendarPut",
    additionalProperties: false,
    examples: [{ rules: [{ weekdays: ["SAT", "SUN"] }, { dates: ["12-24/12-26"] }] }],
  },
);

export const Calendar = Type.Object(
  {
    name: Type.String(),
    version: Type.Integer({ minimum: 1, description: "Grows with every change; also the ETag" }),
    rules: Rules,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: "Calendar", additionalProperties: false, description: "A named set of days" },
);

export const CalendarList = Type.Object(
  { calendars: Type.Array(Calendar), next_page_token: NextPageToken },
  { title: "CalendarList", additionalProperties: false },
);

export type CalendarPut = Static<typeof CalendarPut>;
export type Calendar = Static<typeof Calendar>;
export type CalendarList = Static<typeof CalendarList>;
