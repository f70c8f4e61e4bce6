/** What each field is called in messages, and the numbers and names it takes. */
export interface FieldRule {
  readonly name: "second" | "minute" | "hour" | "day-of-month" | "month" | "day-of-week";
  readonly min: number;
  readonly max: number;
  /** Three letters each; the first one stands for `min`. */
  readonly names: readonly string[];
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

export const SECOND: FieldRule = { name: "second", min: 0, max: 59, names: [] };
export const MINUTE: FieldRule = { name: "minute", min: 0, max: 59, names: [] };
export const HOUR: FieldRule = { name: "hour", min: 0, max: 23, names: [] };
export const DAY_OF_MONTH: FieldRule = { name: "day-of-month", min: 1, max: 31, names: [] };
export const MONTH: FieldRule = { name: "month", min: 1, max: 12, names: MONTHS };
/** 0 and 7 are both Sunday. */
export const DAY_OF_WEEK: FieldRule = { name: "day-of-week", min: 0, max: 7, names: WEEKDAYS };

/**
 * One element of a field's list. Weekdays run from 0 (Sunday) to 7 (Sunday again). A range with `#` or `L` stands for the
 * list that it abbreviates: `MON-TUE#1` is `MON#1,TUE#1`, `FRI#1-2` is `FRI#1,FRI#2`.
 */
export type CronPart =
  /** `*` or `?` (step 1), or a step over `*`: the whole field from its start. */
  | { readonly kind: "every"; readonly step: number }
  /** `a`. */
  | { readonly kind: "value"; readonly value: number }
  /** `a-b`, `a-b/n`, or `a/n`, which runs to the field's end. */
  | { readonly kind: "range"; readonly from: number; readonly to: number; readonly step: number }
  /** `L` or `L-n`: n days before the last day of the month. */
  | { readonly kind: "last_day"; readonly before: number }
  /** `LW` or `L-nW`: the Monday-to-Friday nearest to the day n days before the last, inside the month. */
  | { readonly kind: "last_workday"; readonly before: number }
  /** `nW`: the Monday-to-Friday nearest to day n, inside the month. */
  | { readonly kind: "nearest_workday"; readonly day: number }
  /** `d#n`: the nth weekday d of the month. */
  | { readonly kind: "nth_weekday"; readonly weekday: number; readonly nth: number }
  /** `dL` or `d#L`: the last weekday d of the month. */
  | { readonly kind: "last_weekday"; readonly weekday: number };

export interface CronField {
  readonly rule: FieldRule;
  /** As written. */
  readonly text: string;
  readonly parts: readonly CronPart[];
}

/** A parsed cron expression. Five-field expressions and macros have `0` for their second. */
export interface CronFields {
  readonly second: CronField;
  readonly minute: CronField;
  readonly hour: CronField;
  readonly dayOfMonth: CronField;
  readonly month: CronField;
  readonly dayOfWeek: CronField;
}

/** Whether a day must match either restricted day field (POSIX) or both. */
export type DayMatch = "or" | "and";

/** Only a lone `*` or `?` leaves the choice of days to the other day field; a step over `*` and `1-31` are restrictions. */
export function isUnrestricted(field: CronField): boolean {
  return field.text === "*" || field.text === "?";
}

/** True if the field has a `*` or a step over it, alone or in a list. */
function hasWildcard(field: CronField): boolean {
  return field.parts.some((part) => part.kind === "every");
}

/**
 * Fixed-time expressions name their times of day; the others follow elapsed time. The two kinds treat a jump of the wall
 * clock differently.
 */
export function isFixedTime(fields: CronFields): boolean {
  return !hasWildcard(fields.second) && !hasWildcard(fields.minute) && !hasWildcard(fields.hour);
}
