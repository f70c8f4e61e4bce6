export { CarillonError, type ErrorItem } from "./errors/carillon-error.js";
export { errorCatalogue, type ErrorCode, type ErrorEntry } from "./errors/catalogue.js";
export type { CompiledSchedule, Fire, FireNote } from "./schedule/compiled.js";
export type {
  AfterSchedule,
  AtSchedule,
  CalendarRule,
  CronSchedule,
  DstPolicy,
  EverySchedule,
  ManualSchedule,
  Roll,
  ScheduleBounds,
  ScheduleSpec,
} from "./schedule/spec.js";
export type { DurationMs, Instant } from "./time/instant.js";
export type { JobSpec, RunPolicy } from "./job/spec.js";
