import type { CalendarDefinition, CalendarSet, MaintenanceWindow } from "@carillon/core";
import type { CalendarView, WindowView } from "@carillon/store";
import type { Page, PageRequest, ChangeContext } from "../requests.js";

/** Calendars and maintenance windows of a namespace, by name. Lists are in the order of the names; `after` is a name. */
export interface Calendars {
  /** Creates it, or makes a new version; an equal definition makes none. Throws precondition_failed. */
  putCalendar(
    namespace: string,
    definition: CalendarDefinition,
    context: ChangeContext,
  ): Promise<{ readonly calendar: CalendarView; readonly created: boolean }>;
  getCalendar(namespace: string, name: string): Promise<CalendarView | null>;
  listCalendars(namespace: string, page: PageRequest): Promise<Page<CalendarView>>;
  /** False when there is none. Throws calendar_in_use, naming some of the live jobs that use it. */
  deleteCalendar(namespace: string, name: string, context: ChangeContext): Promise<boolean>;
  /** Those of the named calendars that exist, ready to be asked. */
  calendarSet(namespace: string, names: readonly string[]): Promise<CalendarSet>;

  putWindow(
    namespace: string,
    window: MaintenanceWindow,
    context: ChangeContext,
  ): Promise<{ readonly window: WindowView; readonly created: boolean }>;
  getWindow(namespace: string, name: string): Promise<WindowView | null>;
  listWindows(namespace: string, page: PageRequest): Promise<Page<WindowView>>;
  /** False when there is none. */
  deleteWindow(namespace: string, name: string, context: ChangeContext): Promise<boolean>;
}
