export { CarillonError, type ErrorItem } from "./errors/carillon-error.js";
export { type ErrorFacts, fingerprintOf, plainMessage } from "./errors/fingerprint.js";
export {
  errorAnchor,
  errorAreas,
  errorCatalogue,
  type ErrorCode,
  type ErrorEntry,
  isErrorCode,
} from "./errors/catalogue.js";
export type { CompiledSchedule, Fire, FireNote, MergedFire, RemovedFire, RemovedRange } from "./schedule/compiled.js";
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
export { type DurationMs, FIRST_INSTANT, type Instant, LAST_INSTANT, NEVER } from "./time/instant.js";
export { searchKeyOf, shownLabels, storedLabels } from "./label/searched-labels.js";
export { type LabelCondition, parseLabelSelector } from "./label/selector.js";
export type { JobSpec, StoredSpec } from "./job/spec.js";
export {
  type Abilities,
  type Asked,
  askedOf,
  breakerNameIn,
  hasLabels,
  hasVersion,
  meets,
  requirementsOf,
  requirementText,
} from "./job/requirements.js";
export {
  type Callback,
  type CallbackMoment,
  callbackMoments,
  type CallbackPart,
  callbackParts,
  isCallbackTrigger,
  systemPrefix,
  webhookQueue,
  webhookTask,
} from "./job/run-policy.js";
export {
  type BreakerPolicy,
  checkRunPolicy,
  deadlineOf,
  type Guarantee,
  guarantees,
  parentOf,
  retryOf,
  type RunPolicy,
  timeoutOf,
  withTrace,
} from "./job/run-policy.js";
export {
  checkLimits,
  type ConcurrencyLimit,
  isLimited,
  type KeyedLimit,
  keyedLimits,
  type LimitKind,
  limitKinds,
  type LimitScope,
  limitScopes,
  maxRatePeriodMs,
  maxLimit,
  type OrderFailure,
  orderFailures,
  type RateLimit,
  type RunLimits,
  type RunOrdering,
  defaultBurstOf,
} from "./job/run-limits.js";
export {
  defaultFiringPolicy,
  type FiringPolicy,
  firingPolicy,
  misfirePolicies,
  type MisfirePolicy,
  overlapPolicies,
  type OverlapPolicy,
  ownFiring,
  refuseLongPast,
} from "./job/firing-policy.js";
export { type LedgerReason, ledgerReasons } from "./job/firing-policy.js";
export { latenessOf, type Sla, type SlaTerms, slaTermsOf } from "./job/run-policy.js";
export { type JobPause, type MissedChoice, missedChoices } from "./job/firing-policy.js";
export {
  formatId,
  type Id,
  type IdPrefix,
  type JobId,
  namespaceNamePattern,
  type NodeId,
  parseId,
  type RunId,
  shownId,
  type WorkerId,
} from "./ids/id.js";
export { occurrenceRunId, scheduledRunId } from "./ids/occurrence-run-id.js";
export { idOfGeneratedKey, idOfItem } from "./ids/generated-key.js";
export { canonicalUuid, makeUuidV7, type RandomBytes, timeOfUuid, uuidv7, uuidV7Of } from "./ids/uuid.js";
export { backoffBounds, type FailedAttempt, type NextAttempt, nextAttempt } from "./retry/next-attempt.js";
export {
  type Backoff,
  defaultRetryPolicy,
  maxRetryWaitMs,
  type RetryJitter,
  retryPolicy,
  type RetryPolicy,
} from "./retry/retry-policy.js";
export { formatTraceParent, parseTraceParent, type TraceContext, type TraceParent } from "./trace/traceparent.js";
export {
  type JobEvent,
  type JobState,
  jobStates,
  type JobTransition,
  jobTransitions,
  transitionJob,
} from "./job/state.js";
export {
  type JobInList,
  type JobStatus,
  jobStatuses,
  jobStatusNames,
  parseJobStatusFilter,
  statusOfJob,
} from "./job/state.js";
export { type Dedupe, type DedupeAction, dedupeActions, type EnqueueSpec, readsPayload } from "./run/enqueue-spec.js";
export { JsonText } from "./run/enqueue-spec.js";
export {
  type FinalRunStatus,
  initialRunStatuses,
  isFinal,
  type LiveRunStatus,
  parseStatusFilter,
  type RunEvent,
  type RunStatus,
  runStatuses,
  runStatusGroups,
  runStatusNames,
  type RunStatusReason,
  runStatusReasons,
  type RunTransition,
  runTransitions,
  transitionRun,
} from "./run/status.js";
export { TimingWheel, type TimingWheelOptions } from "./wheel/timing-wheel.js";
export { answerCronLine } from "./cron/answer-line.js";
export { type ClockNote, CompiledCron, compileCron, type CronOptions } from "./cron/compile.js";
export { type CronField, type CronFields, type CronPart, type DayMatch, isFixedTime } from "./cron/fields.js";
export { parseCron } from "./cron/parse.js";
export { type CivilDate, civilDateOf, daysInMonth, epochDayOf, weekdayOf } from "./zone/civil.js";
export { resolveZone, type WallMs, type WallReading, Zone } from "./zone/zone.js";
export { formatInstant, parseInstant, parseRfc3339 } from "./time/instant-text.js";
export { type Calendar, type CalendarContext, type CalendarSet, compileCalendar } from "./calendar/calendar.js";
export { type CivilDay, formatCivilDay, parseCivilDay, type Weekday } from "./zone/civil.js";
export type { CalendarDefinition, DayRange, DayRule, MonthDay, YearlyRange } from "./calendar/definition.js";
export { unknownHolidays } from "./calendar/unknown-holidays.js";
export {
  type Holiday,
  HOLIDAY_TYPES,
  type HolidayPlace,
  type HolidayProblem,
  type HolidaySource,
  type HolidayType,
} from "./calendar/definition.js";
export { type CalendarCheck, type CalendarCheckOptions, checkCalendar } from "./calendar/check-calendar.js";
export {
  type ActiveWindow,
  checkWindow,
  type MaintenanceWindow,
  MaintenanceWindows,
  type WindowScope,
  type WindowSubject,
  type WindowTime,
} from "./calendar/maintenance-window.js";
export { type CalendarRuleJson, formatCalendarRules } from "./calendar/calendar-json.js";
export { CALENDAR_LIMITS, parseCalendar, type ParsedCalendar, readCalendar } from "./calendar/calendar-json.js";
export { requireCalendars } from "./calendar/open-days.js";
export { checkSchedule, minEveryMs, requireSchedule } from "./schedule/check-schedule.js";
export { compileRule, compileSchedule, type ScheduleContext } from "./schedule/compile-schedule.js";
export type { Clock, Soon, Timers } from "./time/clock.js";
export { formatDuration, maxDurationMs, parseDuration } from "./time/duration.js";
export { isObject, present } from "./json/objects.js";
export { ManualClock } from "./time/manual-clock.js";
export { type Pending, pending } from "./time/pending.js";
export { systemClock, systemRandom, systemRandomBytes, systemSoon, systemTimers } from "./time/clock.js";
export { describeCron } from "./describe/describe-cron.js";
export { describeFireNote, describeSchedule } from "./describe/describe-schedule.js";
export {
  type PreviewedFire,
  type PreviewOptions,
  previewSchedule,
  type SchedulePreview,
} from "./schedule/preview-schedule.js";
export { type ScheduleWarning, scheduleWarnings } from "./schedule/schedule-warnings.js";
export { smallestCronInterval } from "./schedule/smallest-interval.js";
export {
  boundOf,
  type OrderKind,
  orderKinds,
  priorities,
  type QueueOrder,
  type RankedRun,
  rankOf,
} from "./rank/rank.js";
export { Template, type TemplateOptions } from "./template/template.js";
export {
  type EventData,
  type EventField,
  type EventFieldName,
  eventGroups,
  eventList,
  type EventType,
  eventTypes,
  isRunEnd,
  priorityClasses,
  type PriorityClass,
  type ListedEvent,
  runEndEvents,
  type RunEndEvent,
  unknownEventText,
} from "./event/events.js";
export { nearestWords, similarWord, slipsBetween } from "./spelling/similar-word.js";
export { type CallbackAnswer, callbackOutcome, callbackSessionId, callbackTimeoutOutcome } from "./run/assignment.js";
export { deadlineError, isFirstClaim, named, timeoutOutcome } from "./run/assignment.js";
export type { Assignment, Completion, Outcome, RunError, StopOrder } from "./run/assignment.js";
export {
  type LogLevel,
  logLevels,
  type LogLine,
  type NoteAnswer,
  type NoteContent,
  noteLimits,
  type RunNote,
} from "./run/handler-state.js";
