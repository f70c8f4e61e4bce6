import {
  type AfterSchedule,
  type AtSchedule,
  checkSchedule,
  type CronSchedule,
  type DurationMs,
  type EverySchedule,
  formatDuration,
  type Instant,
  parseDuration,
  parseInstant,
  resolveZone,
  type ScheduleBounds,
  type ScheduleSpec,
} from "@carillon/core";
import { type Findings, isErrorCode } from "../check/findings.js";
import type { OwnSpelling, Placed } from "./own-spelling.js";
import { isCompanion, type ScheduleKind as Kind, scheduleKinds as kinds } from "./schedule-kinds.js";

type Draft = OwnSpelling["schedule"];

export interface ScheduleContext {
  readonly now: Instant;
  readonly findings: Findings;
  readonly catchupWindowMs: DurationMs;
  /** An instant of any age is taken: the caller said run_once. */
  readonly anyAge: boolean;
  /** The rule that this one takes the place of. */
  readonly current?: ScheduleSpec;
}

/** The rule in its stored form, or undefined with the reasons recorded. */
export function scheduleSpec(draft: Draft, context: ScheduleContext): ScheduleSpec | undefined {
  const kind = theKind(draft, context.findings);
  if (kind === undefined) return undefined;
  checkCompanions(kind, draft, context.findings);
  const spec = specOf(kind, draft, context);
  if (spec === undefined) return undefined;
  for (const { pointer, code, detail } of checkSchedule(spec)) {
    const where = writtenAt(pointer, draft);
    if (!context.findings.hasInside(where)) {
      context.findings.add(where, isErrorCode(code) ? code : "schedule_invalid", detail);
    }
  }
  return spec;
}

function specOf(kind: Kind, draft: Draft, context: ScheduleContext): ScheduleSpec | undefined {
  switch (kind) {
    case "cron":
      return cronSpec(draft, context);
    case "every":
      return everySpec(draft, context);
    case "at":
      return atSpec(draft, context);
    case "delay":
      return delaySpec(draft, context);
    case "manual":
      return { kind: "manual" };
    case "after":
      return afterSpec(draft);
    default:
      return nowSpec(draft, context);
  }
}

/** Where the caller wrote what core complains about. */
function writtenAt(pointer: string, draft: Draft): string {
  const placed = Object.entries(draft).find(([name]) => pointer === `/${name}` || pointer.startsWith(`/${name}/`));
  return placed?.[1].pointer ?? draft.delay?.pointer ?? `/schedule${pointer}`;
}

/** None: at once, or as before where the job exists and ran or runs once. */
function theKind(draft: Draft, findings: Findings): Kind | undefined {
  const given = kinds.filter((kind) => draft[kind] !== undefined);
  const [first, second] = given;
  if (second !== undefined) {
    const pointer = draft[second]?.pointer ?? "/schedule";
    findings.add(
      pointer,
      "schedule_invalid",
      `a schedule is one of ${kinds.join(", ")}; this one has ${given.join(" and ")}`,
    );
    return undefined;
  }
  if (first !== undefined) return first;
  const [stray] = Object.entries(draft);
  if (stray === undefined) return "now";
  findings.add(stray[1].pointer, "schedule_invalid", `${stray[0]} needs a schedule: one of ${kinds.join(", ")}`);
  return undefined;
}

function checkCompanions(kind: Kind, draft: Draft, findings: Findings): void {
  for (const [name, placed] of Object.entries(draft)) {
    if (isCompanion(kind, name) || kinds.some((other) => other === name)) continue;
    findings.add(placed.pointer, "schedule_invalid", `${name} has no meaning with ${kind}`);
  }
}

function afterSpec(draft: Draft): AfterSchedule | undefined {
  if (draft.after === undefined) return undefined;
  return {
    kind: "after",
    after: draft.after.value.map(({ job, on = "success", when }) => ({
      // As in the paths of jobs, a key may come with its mark.
      job: job.replace(/^@/, ""),
      on,
      ...(when !== undefined && { when }),
    })),
    ...(draft.mode && { mode: draft.mode.value }),
  };
}

function cronSpec(draft: Draft, context: ScheduleContext): CronSchedule | undefined {
  if (draft.cron === undefined) return undefined;
  return {
    kind: "cron",
    cron: draft.cron.value,
    timeZone: draft.time_zone?.value ?? "UTC",
    ...(draft.day_match && { dayMatch: draft.day_match.value }),
    ...(draft.dst && { dst: draft.dst.value }),
    ...boundsOf(draft, context),
  };
}

function everySpec(draft: Draft, context: ScheduleContext): EverySchedule | undefined {
  const everyMs = duration(draft.every, context);
  const limits = boundsOf(draft, context);
  if (everyMs === undefined) return undefined;
  const zone = draft.time_zone && { timeZone: draft.time_zone.value };
  const anchor = limits.startsAt ?? anchorBefore(everyMs, context) ?? context.now;
  return { kind: "every", everyMs, anchor, ...zone, ...limits };
}

/** Saying an interval again does not shift it. */
function anchorBefore(everyMs: DurationMs, { current }: ScheduleContext): Instant | undefined {
  return current?.kind === "every" && current.everyMs === everyMs ? current.anchor : undefined;
}

function atSpec(draft: Draft, context: ScheduleContext): AtSchedule | undefined {
  const zone = draft.time_zone;
  if (zone !== undefined) context.findings.attempt(zone.pointer, () => resolveZone(zone.value));
  const at = instant(draft.at, context, draft);
  if (at === undefined) return undefined;
  const { current, now, catchupWindowMs, anyAge } = context;
  const isTheSame = current?.kind === "at" && current.at === at;
  if (!isTheSame && !anyAge && at < now - catchupWindowMs) {
    const window = formatDuration(catchupWindowMs);
    const detail = `lies more than ${window} in the past; give a later instant, none to run at once, or misfire "run_once"`;
    context.findings.add(draft.at?.pointer ?? "/schedule/at", "schedule_in_past", detail);
  }
  return { kind: "at", at };
}

/** No schedule for a job that exists and fires once changes nothing, so that the same request can be sent twice. */
function nowSpec(draft: Draft, { now, current, findings }: ScheduleContext): AtSchedule | undefined {
  if (current === undefined || draft.now !== undefined) return { kind: "at", at: now };
  if (current.kind === "at") return current;
  const detail = "the job exists and recurs: say its schedule, or use :runNow to run it at once";
  findings.add("/schedule", "schedule_invalid", detail);
  return undefined;
}

function delaySpec(draft: Draft, context: ScheduleContext): AtSchedule | undefined {
  const delayMs = duration(draft.delay, context);
  return delayMs === undefined ? undefined : { kind: "at", at: context.now + delayMs };
}

function boundsOf(draft: Draft, context: ScheduleContext): ScheduleBounds {
  const startsAt = instant(draft.starts_at, context, draft);
  const endsAt = instant(draft.ends_at, context, draft);
  const jitterMs = duration(draft.jitter, context);
  return {
    ...(startsAt !== undefined && { startsAt }),
    ...(endsAt !== undefined && { endsAt }),
    ...(draft.max_runs && { maxRuns: draft.max_runs.value }),
    ...(jitterMs !== undefined && { jitterMs }),
    ...(draft.calendars && { calendars: draft.calendars.value }),
  };
}

function duration(placed: Placed<string> | undefined, { findings }: ScheduleContext): number | undefined {
  return placed && findings.attempt(placed.pointer, () => parseDuration(placed.value));
}

function instant(placed: Placed<string> | undefined, { findings }: ScheduleContext, draft: Draft): Instant | undefined {
  return (
    placed && findings.attempt(placed.pointer, () => parseInstant(placed.value, readableZone(draft.time_zone?.value)))
  );
}

/** A zone that does not exist is a fault of its own field, reported once and there: times are then read as if in UTC. */
function readableZone(name: string | undefined): string | undefined {
  try {
    return name === undefined ? undefined : resolveZone(name).name;
  } catch {
    return "UTC";
  }
}
