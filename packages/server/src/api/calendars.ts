import { readCalendarPut } from "@carillon/contract";
import type { CalendarView } from "@carillon/engine";
import type { CallAnswer, Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireCalendar } from "./wire/calendars.js";
import { contextOf } from "./job-changes.js";
import { notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";
import { nameOrNotFound, readName } from "./plain-name.js";

type CalendarHandlers = Pick<Handlers, "listCalendars" | "getCalendar" | "putCalendar" | "deleteCalendar">;

export function calendarHandlers({ engine }: ApiOptions): CalendarHandlers {
  return {
    async listCalendars({ query, namespace }) {
      const list = ["calendars", namespace];
      const page = await engine.listCalendars(namespace, pageRequest(query, list, readName));
      const body = { calendars: page.rows.map(wireCalendar), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async getCalendar({ params, namespace }) {
      const calendar = await engine.getCalendar(namespace, nameOrNotFound(params.name, "calendar"));
      if (calendar === null) throw notFound(`There is no calendar ${params.name}.`);
      return shown(calendar);
    },
    async putCalendar(call) {
      const definition = readCalendarPut(call.params.name, call.body);
      const { calendar, created } = await engine.putCalendar(call.namespace, definition, contextOf(call));
      const { headers, ...answer } = shown(calendar);
      if (!created) return { ...answer, ...(headers && { headers }) };
      return { ...answer, status: 201, headers: { ...headers, Location: `/v1/calendars/${definition.name}` } };
    },
    async deleteCalendar(call) {
      const name = nameOrNotFound(call.params.name, "calendar");
      const isGone = await engine.deleteCalendar(call.namespace, name, contextOf(call));
      if (!isGone) throw notFound(`There is no calendar ${name}.`);
      return { status: 204 };
    },
  };
}

function shown(calendar: CalendarView): CallAnswer {
  return { status: 200, body: wireCalendar(calendar), headers: { ETag: `"v${calendar.version}"` } };
}
