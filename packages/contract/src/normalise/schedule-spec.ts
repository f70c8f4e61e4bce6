import {
  type AtSchedule,
  checkSchedule,
  type CronSchedule,
  type DurationMs,
  type EverySchedule,
  type Instant,
  parseDuration,
  parseInstant,
  resolveZone,
  type ScheduleBounds,
  type ScheduleSpec,
} from "@carillon/core";
import { type Findings, isErrorCode } from "../check/findings.js";
import type { OwnSpelling, Placed } from "./own-spelling.js";

type Draft = OwnSpelling["schedule"];
type Field = keyof Draft;

export interface ScheduleContext {
  readonly now: Instant;
  readonly findings: Findings;
  readonly catchupWindowMs: DurationMs;
}

const kinds = ["cron", "every", "at", "delay", "manual", "now"] as const;
type Kind = (typeof kinds)[number];

const bounds: readonly Field[] = ["jitter", "starts_at", "ends_at", "max_runs"];

/** What may stand beside each kind. Anything else would have no effect, so it is refused. */
const companions: Readonly<Record<Kind, readonly Field[]>> = {
  cron: ["time_zone", "day_match", "dst", ...bounds],
  every: ["time_zone", ...bounds],
  at: ["time_zone"],
  delay: [],
  manual: [],
  now: [],
};

/** The rule in its stored form, or undefined with the reasons recorded. */
export function scheduleSpec(draft: Draft, context: ScheduleContext): ScheduleSpec | undefined {
  const kind = theKind(draft, context.findings);
  if (kind === undefined) return undefined;
  checkCompanions(kind, draft, context.findings);
  const spec = specOf(kind, draft, context);
  if (spec === undefined) return undefined;
  for (const { pointer, code, detail } of checkSchedule(spec)) {
    context.findings.add(writtenAt(pointer, draft), isErrorCode(code) ? code : "schedule_invalid", detail);
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
    default:
      return { kind: "at", at: context.now };
  }
}

/** Where the caller wrote what core complains about. */
function writtenAt(pointer: string, draft: Draft): string {
  const placed = Object.entries(draft).find(([name]) => pointer === `/${name}` || pointer.startsWith(`/${name}/`));
  return placed?.[1].pointer ?? draft.delay?.pointer ?? `/schedule${pointer}`;
}

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
    if (name === kind || companions[kind].some((companion) => companion === name)) continue;
    if (kinds.some((other) => other === name)) continue;
    findings.add(placed.pointer, "schedule_invalid", `${name} has no meaning with ${kind}`);
  }
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
  return { kind: "every", everyMs, anchor: limits.startsAt ?? context.now, ...zone, ...limits };
}

function atSpec(draft: Draft, context: ScheduleContext): AtSchedule | undefined {
  const zone = draft.time_zone;
  if (zone !== undefined) context.findings.attempt(zone.pointer, () => resolveZone(zone.value));
  const at = instant(draft.at, context, draft);
  if (at === undefined) return undefined;
  if (at < context.now - context.catchupWindowMs) {
    const window = context.catchupWindowMs / 3_600_000;
    const detail = `lies more than ${window} h in the past; give a later instant, or none to run at once`;
    context.findings.add(draft.at?.pointer ?? "", "schedule_in_past", detail);
  }
  return { kind: "at", at };
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
