import type { CronFields, CronPart } from "../cron/fields.js";
import { type FieldShape, lastOf, shapeOf } from "./field-shape.js";
import { listOf, ordinal, twoDigits } from "./phrases.js";

/** More times of day than this read better as a rule than as a list. */
const MAX_LISTED_TIMES = 8;

interface TimeFields {
  readonly second: FieldShape;
  readonly minute: FieldShape;
  readonly hour: FieldShape;
}

/** The times of day: "At 09:30", "Every 15 minutes from 09:00 through 17:59", "At second 30 of every minute". */
export function describeTimes(fields: CronFields): string {
  const shapes = { second: shapeOf(fields.second), minute: shapeOf(fields.minute), hour: shapeOf(fields.hour) };
  return listedTimes(shapes) ?? hourlyTimes(shapes) ?? timesByRule(shapes);
}

/** Whether the text names times of day, so that "every day" must be added. */
export function namesTimesOfDay(fields: CronFields): boolean {
  return shapeOf(fields.hour).kind !== "all";
}

function listedTimes({ second, minute, hour }: TimeFields): string | null {
  if (second.kind !== "values" || minute.kind !== "values" || hour.kind !== "values") return null;
  if (second.values.length * minute.values.length * hour.values.length > MAX_LISTED_TIMES) return null;
  const times = hour.values.flatMap((h) =>
    minute.values.flatMap((m) => second.values.map((s) => clock(h, m, isZero(second) ? null : s))),
  );
  return `At ${listOf(times)}`;
}

/** One minute in evenly spaced hours: "Every 2 hours from 08:30 through 18:30". */
function hourlyTimes({ second, minute, hour }: TimeFields): string | null {
  if (second.kind !== "values" || minute.kind !== "values" || (hour.kind !== "range" && hour.kind !== "step"))
    return null;
  const [s = 0, ...seconds] = second.values;
  const [m = 0, ...minutes] = minute.values;
  if (seconds.length > 0 || minutes.length > 0) return null;
  const { from, to, step } =
    hour.kind === "range" ? hour : { from: 0, to: lastOf({ from: 0, to: 23, step: hour.step }), step: hour.step };
  const pace = step === 1 ? "Every hour" : `Every ${step} hours`;
  const at = (h: number) => clock(h, m, isZero(second) ? null : s);
  return `${pace} from ${at(from)} through ${at(to)}`;
}

function timesByRule({ second, minute, hour }: TimeFields): string {
  if (isZero(second)) return `${lead(minute, "minute")}${hoursAfter(hour, isPace(minute))}`;
  const start = lead(second, "second");
  if (minute.kind === "all") {
    const ofEveryMinute = isPace(second) ? "" : " of every minute";
    return `${start}${ofEveryMinute}${hoursAfter(hour, true)}`;
  }
  return `${start} of ${nouns(minute, "minute")}${hoursAfter(hour, false)}`;
}

function lead(shape: FieldShape, unit: "second" | "minute"): string {
  if (shape.kind === "all") return `Every ${unit}`;
  if (shape.kind === "step" && isPace(shape)) return `Every ${shape.step} ${unit}s`;
  return `At ${nouns(shape, unit)}`;
}

/** Whether the step divides the hour, so that "every 15 minutes" is exact. */
function isPace(shape: FieldShape): boolean {
  return shape.kind === "all" || (shape.kind === "step" && 60 % shape.step === 0);
}

function hoursAfter(shape: FieldShape, afterPace: boolean): string {
  if (shape.kind === "all") return afterPace ? "" : " of every hour";
  if (afterPace && shape.kind === "range" && shape.step === 1) {
    return ` from ${clock(shape.from, 0, null)} through ${clock(shape.to, 59, null)}`;
  }
  const [only] = shape.kind === "values" && shape.values.length === 1 ? shape.values : [];
  if (afterPace && only !== undefined) return ` from ${clock(only, 0, null)} through ${clock(only, 59, null)}`;
  return ` of ${nouns(shape, "hour")}`;
}

/** "minute 5", "minutes 0, 15 and 30 through 45", "every 7th minute", "every 2nd hour from 8 through 18". */
function nouns(shape: FieldShape, unit: "second" | "minute" | "hour"): string {
  switch (shape.kind) {
    case "all":
      return `every ${unit}`;
    case "step":
      return `every ${ordinal(shape.step)} ${unit}`;
    case "values":
      return `${unit}${shape.values.length === 1 ? "" : "s"} ${listOf(shape.values.map(String))}`;
    case "range":
      return shape.step === 1
        ? `${unit}s ${shape.from} through ${shape.to}`
        : `every ${ordinal(shape.step)} ${unit} from ${shape.from} through ${shape.to}`;
    default:
      return mixedNouns(shape.parts, unit);
  }
}

function mixedNouns(parts: readonly CronPart[], unit: string): string {
  const numbers = parts.flatMap((part) => {
    if (part.kind === "value") return [String(part.value)];
    return part.kind === "range" && part.step === 1 ? [`${part.from} through ${part.to}`] : [];
  });
  const steps = parts.flatMap((part) => {
    if (part.kind === "every") return [`every ${ordinal(part.step)} ${unit}`];
    if (part.kind !== "range" || part.step === 1) return [];
    return [`every ${ordinal(part.step)} ${unit} from ${part.from} through ${lastOf(part)}`];
  });
  const plural = numbers.length > 1 || numbers.some((text) => text.includes(" "));
  const plain = numbers.length === 0 ? [] : [`${unit}${plural ? "s" : ""} ${listOf(numbers)}`];
  return listOf([...plain, ...steps]);
}

function isZero(shape: FieldShape): boolean {
  return shape.kind === "values" && shape.values.length === 1 && shape.values[0] === 0;
}

function clock(hour: number, minute: number, second: number | null): string {
  const time = `${twoDigits(hour)}:${twoDigits(minute)}`;
  return second === null ? time : `${time}:${twoDigits(second)}`;
}
