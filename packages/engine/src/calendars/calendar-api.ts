import { CarillonError, checkWindow, type MaintenanceWindow } from "@carillon/core";
import type { Calendars } from "../schedules/calendars.js";
import type { CalendarStore, WindowStore } from "@carillon/store";
import type { CalendarCompiler } from "./compile-edition.js";
import type { NodeCalendars } from "./calendar-cache.js";
import type { Page, PageRequest } from "../requests.js";

export interface CalendarApiParts {
  readonly calendars: CalendarStore;
  readonly windows: WindowStore;
  readonly known: NodeCalendars;
  readonly compiler: CalendarCompiler;
  /** The id of a namespace; throws not_found. */
  readonly namespaceId: (name: string) => Promise<number>;
  /** A new version is stored: jobs that follow the calendar are recomputed. Awaited, so that callers see it. */
  readonly onReplaced: () => Promise<void>;
  readonly onWindowsChanged: () => void;
}

/** Calendars and maintenance windows as callers see them: names of namespaces in, views out. */
export function calendarApi(parts: CalendarApiParts): Calendars {
  return { ...calendarWords(parts), ...windowWords(parts) };
}

type CalendarWords = Pick<
  Calendars,
  "putCalendar" | "getCalendar" | "listCalendars" | "deleteCalendar" | "calendarSet"
>;

function calendarWords({ calendars, known, compiler, namespaceId, onReplaced }: CalendarApiParts): CalendarWords {
  return {
    async putCalendar(namespace, definition, { ifVersion }) {
      const within = await namespaceId(namespace);
      await compiler.compile(definition, 1);
      const condition = ifVersion === undefined ? {} : { ifVersion };
      const { calendar, outcome } = await calendars.put(within, { definition, ...condition });
      if (outcome === "replaced") await onReplaced();
      return { calendar, created: outcome === "created" };
    },
    getCalendar: async (namespace, name) => calendars.find(await namespaceId(namespace), name),
    async listCalendars(namespace, page) {
      const within = await namespaceId(namespace);
      return pageOf(
        page,
        (after, limit) => calendars.list(within, after, limit),
        ({ definition }) => definition.name,
      );
    },
    deleteCalendar: async (namespace, name, { ifVersion }) =>
      calendars.delete(await namespaceId(namespace), name, ifVersion),
    async calendarSet(namespace, names) {
      const within = await namespaceId(namespace);
      await known.refresh();
      const wanted = new Set(names);
      return new Map([...known.calendarsOf(within)].filter(([name]) => wanted.has(name)));
    },
  };
}

type WindowWords = Pick<Calendars, "putWindow" | "getWindow" | "listWindows" | "deleteWindow">;

function windowWords({ windows, namespaceId, onWindowsChanged }: CalendarApiParts): WindowWords {
  return {
    async putWindow(namespace, window) {
      const within = await namespaceId(namespace);
      const put = await windows.put(within, ofNamespace(window, namespace));
      onWindowsChanged();
      return put;
    },
    getWindow: async (namespace, name) => windows.find(await namespaceId(namespace), name),
    async listWindows(namespace, page) {
      const within = await namespaceId(namespace);
      return pageOf(
        page,
        (after, limit) => windows.list(within, after, limit),
        ({ window }) => window.name,
      );
    },
    async deleteWindow(namespace, name) {
      const isGone = await windows.delete(await namespaceId(namespace), name);
      if (isGone) onWindowsChanged();
      return isGone;
    },
  };
}

/** A window concerns the namespace that it belongs to, whatever else it says. Throws maintenance_window_invalid. */
function ofNamespace(window: MaintenanceWindow, namespace: string): MaintenanceWindow {
  const { scope } = window;
  if (scope.namespace !== undefined && scope.namespace !== namespace) {
    const detail = `a window of the namespace "${namespace}" cannot be about "${scope.namespace}": put it there`;
    throw invalid([{ pointer: "/scope/namespace", code: "maintenance_window_invalid", detail }]);
  }
  const whole = { ...window, scope: { ...scope, namespace } };
  const problems = checkWindow(whole);
  if (problems.length > 0) throw invalid(problems);
  return whole;
}

function invalid(items: ReturnType<typeof checkWindow>): CarillonError {
  const [first] = items;
  const text = first === undefined ? "the window is not valid" : `${first.pointer}: ${first.detail}`;
  return new CarillonError("maintenance_window_invalid", text, { items });
}

async function pageOf<Row>(
  { pageSize, after }: PageRequest,
  read: (after: string | null, limit: number) => Promise<Row[]>,
  nameOf: (row: Row) => string,
): Promise<Page<Row>> {
  const rows = await read(after ?? null, pageSize + 1);
  const shown = rows.slice(0, pageSize);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > pageSize && last !== undefined ? nameOf(last) : null };
}
