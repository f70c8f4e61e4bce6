import type { Calendar, Window } from "@carillon/contract";
import { formatCalendarRules, formatDuration, type WindowTime } from "@carillon/core";
import type { CalendarView, WindowView } from "@carillon/engine";
import { timestamp } from "../timestamp.js";

export function wireCalendar({ version, definition, createdAt, updatedAt }: CalendarView): Calendar {
  return {
    name: definition.name,
    version,
    rules: formatCalendarRules(definition),
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  };
}

export function wireWindow({ window, createdAt, updatedAt }: WindowView): Window {
  const { queue, labels } = window.scope;
  return {
    name: window.name,
    mode: window.mode,
    ...(queue !== undefined && { queue }),
    ...(labels !== undefined && { labels: { ...labels } }),
    ...wireTime(window.time),
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  };
}

function wireTime(time: WindowTime): Partial<Window> {
  if (time.kind === "once") return { from: timestamp(time.from), to: timestamp(time.to) };
  return { cron: time.cron, time_zone: time.timeZone, duration: formatDuration(time.durationMs) };
}
