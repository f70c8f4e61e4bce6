import type { ScheduleRequest } from "../schema/schedule.js";

export const scheduleKinds = ["cron", "every", "at", "delay", "manual", "now", "after"] as const;
export type ScheduleKind = (typeof scheduleKinds)[number];

type Field = keyof ScheduleRequest;

const bounds: readonly Field[] = ["jitter", "starts_at", "ends_at", "max_runs", "calendars"];

/** What may stand beside each kind. Anything else would have no effect, so it is refused. */
const companions: Readonly<Record<ScheduleKind, readonly Field[]>> = {
  cron: ["time_zone", "day_match", "dst", ...bounds],
  every: ["time_zone", ...bounds],
  at: ["time_zone"],
  delay: [],
  manual: [],
  now: [],
  after: ["mode"],
};

export function isCompanion(kind: ScheduleKind, field: string): boolean {
  return field === kind || companions[kind].some((companion) => companion === field);
}
