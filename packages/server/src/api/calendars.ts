import { type Calendar, type Window, readCalendarPut, readWindowPut } from "@carillon/contract";
import { type WindowTime, formatCalendarRules, formatDuration } from "@carillon/core";
import type { CalendarView, WindowView } from "@carillon/engine";
import { notFound } from "./http/errors.js";
import { type ApiOptions, type ApiResponse, contextOf, handlers } from "./http/handler.js";
import { nextPageToken, pageRequest } from "./http/paging.js";
import { plainNameOrNotFound, readPlainName } from "./references.js";
import { timestamp } from "./timestamp.js";

export function calendarHandlers({ engine }: ApiOptions) {
  return handlers({
    async listCalendars({ query, namespace }) {
      const list = ["calendars", namespace];
      const page = await engine.calendars.list(namespace, pageRequest(query, list, readPlainName));
      const body = { calendars: page.rows.map(toCalendarJson), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async getCalendar({ params, namespace }) {
      const calendar = await engine.calendars.get(namespace, plainNameOrNotFound(params.name, "calendar"));
      if (calendar === null) throw notFound(`There is no calendar ${params.name}.`);
      return shown(calendar);
    },
    async putCalendar(call) {
      const definition = readCalendarPut(call.params.name, call.body);
      const { calendar, created } = await engine.calendars.put(call.namespace, definition, contextOf(call));
      const response = shown(calendar);
      if (!created) return response;
      return {
        ...response,
        status: 201,
        headers: { ...response.headers, Location: `/v1/calendars/${definition.name}` },
      };
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
  return { status: 200, body: toCalendarJson(calendar), headers: { ETag: `"v${calendar.version}"` } };
}

export function windowHandlers({ engine }: ApiOptions) {
  return handlers({
    async listWindows({ query, namespace }) {
      const list = ["windows", namespace];
      const page = await engine.windows.list(namespace, pageRequest(query, list, readPlainName));
      const body = { maintenance_windows: page.rows.map(toWindowJson), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async getWindow({ params, namespace }) {
      const window = await engine.windows.get(namespace, plainNameOrNotFound(params.name, "maintenance window"));
      if (window === null) throw notFound(`There is no maintenance window ${params.name}.`);
      return { status: 200, body: toWindowJson(window) };
    },
    async putWindow(call) {
      const { namespace, params } = call;
      const wanted = readWindowPut(params.name, namespace, call.body);
      const { window, created } = await engine.windows.put(namespace, wanted, contextOf(call));
      const body = toWindowJson(window);
      if (!created) return { status: 200, body };
      return { status: 201, body, headers: { Location: `/v1/maintenance-windows/${params.name}` } };
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
