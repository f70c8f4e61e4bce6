import { type Calendar, type CalendarDefinition, compileCalendar } from "@carillon/core";
import { calendarNames, type NamedCalendars } from "../../../../src/schedules/schedule-calendars.js";
import { dayMs, yearStart } from "./year.js";

const firstDay = yearStart / dayMs;
const ranges = (...days: readonly (readonly [number, number])[]) =>
  days.map(([from, to]) => ({ from: firstDay + from, to: firstDay + to }));

/** The calendars of the simulated year; they stay as they are. */
export const calendarDefinitions: readonly CalendarDefinition[] = [
  { name: "weekends", rules: [{ kind: "weekdays", weekdays: [0, 6] }] },
  {
    name: "holidays",
    rules: [
      { kind: "dates", ranges: ranges([0, 0], [31, 31], [59, 61], [90, 96], [180, 194], [358, 364]), yearly: [] },
    ],
  },
  {
    name: "office",
    rules: [
      { kind: "weekdays", weekdays: [1, 2, 3, 4] },
      { kind: "dates", ranges: ranges([120, 126], [250, 250]), yearly: [] },
    ],
  },
];

const compiled = new Map<string, Calendar>(calendarDefinitions.map((one) => [one.name, compileCalendar(one)]));

/** As a node knows them. */
export const namedCalendars: NamedCalendars = {
  calendarsOf: () => compiled,
  editionsOf: (_namespaceId, schedule) => calendarNames(schedule).map((_, index) => ({ id: index + 1, version: 1 })),
  ensure: async () => undefined,
  refresh: async () => undefined,
};
