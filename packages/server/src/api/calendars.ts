import { type Calendar, readCalendarPut, readWindowPut, type Window } from "@carillon/contract";
import { formatCalendarRules, formatDuration, type WindowTime } from "@carillon/core";
import type { CalendarView, WindowView } from "@carillon/engine";
import { found, notFound } from "./http/errors.js";
import {
  type ApiOptions,
  type ApiResponse,
  contextOf,
  createdResponse,
  handlers,
  ok,
  okWithVersion,
  timestamp,
} from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { plainNameOrNotFound, readPlainName } from "./http/request.js";

const calendarList = listOf("calendars", toCalendarJson, readPlainName);
const windowList = listOf("maintenance_windows", toWindowJson, readPlainName);

export function calendarHandlers({ engine }: ApiOptions) {
  return handlers({
    listCalendars: ({ query, namespace }) =>
      calendarList(query, [namespace], (page) => engine.calendars.list(namespace, page)),
    async getCalendar({ params, namespace }) {
      const calendar = await engine.calendars.get(namespace, plainNameOrNotFound(params.name, "calendar"));
      return shown(found(calendar, `There is no calendar ${params.name}.`));
    },
    async putCalendar(call) {
      const definition = readCalendarPut(call.params.name, call.body);
      const { calendar, created } = await engine.calendars.put(call.namespace, definition, contextOf(call));
      return created ? createdResponse(`/v1/calendars/${definition.name}`, shown(calendar)) : shown(calendar);
    },
    async deleteCalendar(call) {
      const name = plainNameOrNotFound(call.params.name, "calendar");
      const isGone = await engine.calendars.delete(call.namespace, name, contextOf(call));
      if (!isGone) throw notFound(`There is no calendar ${name}.`);
      return { status: 204 };
    },
  });
}

function shown(calendar: CalendarView): ApiResponse {
  return okWithVersion(toCalendarJson(calendar));
}

export function windowHandlers({ engine }: ApiOptions) {
  return handlers({
    listWindows: ({ query, namespace }) =>
      windowList(query, [namespace], (page) => engine.windows.list(namespace, page)),
    async getWindow({ params, namespace }) {
      const window = await engine.windows.get(namespace, plainNameOrNotFound(params.name, "maintenance window"));
      return ok(toWindowJson(found(window, `There is no maintenance window ${params.name}.`)));
    },
    async putWindow(call) {
      const { namespace, params } = call;
      const wanted = readWindowPut(params.name, namespace, call.body);
      const { window, created } = await engine.windows.put(namespace, wanted, contextOf(call));
      const response = ok(toWindowJson(window));
      return created ? createdResponse(`/v1/maintenance-windows/${params.name}`, response) : response;
    },
    async deleteWindow(call) {
      const name = plainNameOrNotFound(call.params.name, "maintenance window");
      const isGone = await engine.windows.delete(call.namespace, name, contextOf(call));
      if (!isGone) throw notFound(`There is no maintenance window ${name}.`);
      return { status: 204 };
    },
  });
}

function toCalendarJson({ version, definition, createdAt, updatedAt }: CalendarView): Calendar {
  return {
    name: definition.name,
    version,
    rules: formatCalendarRules(definition),
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  };
}

function toWindowJson({ window, createdAt, updatedAt }: WindowView): Window {
  const { queue, labels } = window.scope;
  return {
    name: window.name,
    mode: window.mode,
    ...(queue !== undefined && { queue }),
    ...(labels !== undefined && { labels: { ...labels } }),
    ...toTimeJson(window.time),
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  };
}

function toTimeJson(time: WindowTime): Partial<Window> {
  if (time.kind === "once") return { from: timestamp(time.from), to: timestamp(time.to) };
  return { cron: time.cron, time_zone: time.timeZone, duration: formatDuration(time.durationMs) };
}
