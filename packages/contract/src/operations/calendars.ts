import { Type } from "typebox";
import { Calendar, CalendarList, CalendarPut } from "../schema/calendar.js";
import { PageQuery } from "../schema/job-history.js";
import { Window, WindowList, WindowPut } from "../schema/window.js";
import { bodyErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const Name = (example: string) => Type.Object({ name: Type.String({ examples: [example] }) });

const readsCalendars = { tag: "Calendars", permission: "calendars:read", rateClass: "read", method: "GET" } as const;
const writesCalendars = { tag: "Calendars", permission: "calendars:write", rateClass: "write" } as const;
const etag = 'The calendar\'s version, as in "v7"';

export const listCalendars = {
  ...readsCalendars,
  path: "/v1/calendars",
  summary: "List calendars by name",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: CalendarList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getCalendar = {
  ...readsCalendars,
  path: "/v1/calendars/{name}",
  summary: "Get a calendar",
  params: Name("de-holidays"),
  answers: { 200: { description: "The calendar", schema: Calendar, headers: { ETag: etag } } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const putCalendar = {
  ...writesCalendars,
  method: "PUT",
  path: "/v1/calendars/{name}",
  summary: "Create or replace a calendar",
  description:
    "A new version counts at once for every job that uses the calendar: what it fires next is computed anew.",
  params: Name("de-holidays"),
  conditional: true,
  body: CalendarPut,
  answers: {
    200: { description: "The calendar as it is now", schema: Calendar, headers: { ETag: etag } },
    201: { description: "The new calendar", schema: Calendar, headers: { ETag: etag, Location: "Where it is" } },
  },
  errors: [...bodyErrors, "precondition_failed", "calendar_invalid", "calendar_holidays_unavailable", ...storeErrors],
} as const satisfies Operation;

export const deleteCalendar = {
  ...writesCalendars,
  method: "DELETE",
  path: "/v1/calendars/{name}",
  summary: "Delete a calendar",
  description: "Refused while a job uses it.",
  params: Name("de-holidays"),
  conditional: true,
  answers: { 204: { description: "It is gone" } },
  errors: [...bodyErrors, "not_found", "precondition_failed", "calendar_in_use", ...storeErrors],
} as const satisfies Operation;

export const listWindows = {
  ...readsCalendars,
  path: "/v1/maintenance-windows",
  summary: "List maintenance windows by name",
  query: PageQuery,
  answers: { 200: { description: "One page", schema: WindowList } },
  errors: [...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getWindow = {
  ...readsCalendars,
  path: "/v1/maintenance-windows/{name}",
  summary: "Get a maintenance window",
  params: Name("sunday-night"),
  answers: { 200: { description: "The window", schema: Window } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const putWindow = {
  ...writesCalendars,
  method: "PUT",
  path: "/v1/maintenance-windows/{name}",
  summary: "Create or replace a maintenance window",
  description: "Fires inside it wait for its end or are left out, from the moment that this is answered.",
  params: Name("sunday-night"),
  body: WindowPut,
  answers: {
    200: { description: "The window as it is now", schema: Window },
    201: { description: "The new window", schema: Window, headers: { Location: "Where it is" } },
  },
  errors: [
    ...bodyErrors,
    "maintenance_window_invalid",
    "cron_invalid",
    "cron_never_fires",
    "time_zone_unknown",
    "duration_invalid",
    "instant_invalid",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const deleteWindow = {
  ...writesCalendars,
  method: "DELETE",
  path: "/v1/maintenance-windows/{name}",
  summary: "Delete a maintenance window",
  description: "Fires that waited for its end go ahead.",
  params: Name("sunday-night"),
  answers: { 204: { description: "It is gone" } },
  errors: [...bodyErrors, "not_found", ...storeErrors],
} as const satisfies Operation;
