import type { AwaitedEnd } from "../plan/follower.js";
import type { FollowerLife } from "../targets/follower-life.js";
import type { RunRow } from "./evidence.js";

/** Whether an end must start the job that follows, may start it, or must not. */
export type Standing = "required" | "optional" | "barred";

/** An end has its instant a moment before it is to be seen, and a call takes effect at some moment before its answer. */
export const slackMs = 2_000;

interface Pause {
  readonly sentAt: number;
  readonly settledAt: number | null;
  readonly resume: FollowerLife["changes"][number] | undefined;
}

/** `ends`: all that may count for the job. */
export function standingOf(end: RunRow, life: FollowerLife, ends: readonly RunRow[]): Standing {
  const at = end.finishedAt ?? 0;
  const awaited = awaitedAt(at, life);
  if (!awaited.some((on) => fits(end, on))) return "barred";
  if (!awaited.every((on) => fits(end, on))) return "optional";
  if (life.acknowledgedAt === null || at <= life.acknowledgedAt) return "optional";
  for (const pause of pausesOf(life)) {
    const standing = standingIn(pause, end, ends);
    if (standing !== "required") return standing;
  }
  return "required";
}

/** A run that never ran has no end. */
export function hasEnded({ status }: RunRow): boolean {
  return status !== "live" && status !== "skipped";
}

function fits({ status }: RunRow, on: AwaitedEnd): boolean {
  return on === "finish" || status === "succeeded";
}

/** What may have been in force at the instant. */
function awaitedAt(at: number, { follower, changes }: FollowerLife): AwaitedEnd[] {
  let awaited = [follower.on];
  for (const { change, sentAt, settledAt } of changes) {
    if (change.kind !== "turn" || at < sentAt - slackMs) continue;
    const isSettled = settledAt !== null && at > settledAt + slackMs;
    awaited = isSettled ? [change.on] : [...awaited, change.on];
  }
  return awaited;
}

function pausesOf({ changes }: FollowerLife): Pause[] {
  return changes.flatMap(({ change, sentAt, settledAt }, index) => {
    if (change.kind !== "pause") return [];
    const resume = changes.slice(index + 1).find((later) => later.change.kind === "resume");
    return [{ sentAt, settledAt, resume }];
  });
}

function standingIn({ sentAt, settledAt, resume }: Pause, end: RunRow, ends: readonly RunRow[]): Standing {
  const at = end.finishedAt ?? 0;
  const over = resume === undefined ? Number.POSITIVE_INFINITY : (resume.settledAt ?? Number.POSITIVE_INFINITY);
  if (at < sentAt - slackMs || at > over + slackMs) return "required";
  if (settledAt === null || (resume !== undefined && resume.settledAt === null)) return "optional";
  const missed = resume?.change.kind === "resume" ? resume.change.missed : null;
  if (missed === "all") return "required";
  const isInside = at > settledAt + slackMs && at < (resume?.sentAt ?? Number.POSITIVE_INFINITY) - slackMs;
  if (!isInside) return "optional";
  if (missed !== "latest") return "barred";
  const later = ends.flatMap(({ job, id, finishedAt }) =>
    job === end.job && id !== end.id && finishedAt !== null && finishedAt >= at - slackMs ? [finishedAt] : [],
  );
  if (later.some((one) => one > at + slackMs && one < (resume?.sentAt ?? 0) - slackMs)) return "barred";
  return later.some((one) => one < over + slackMs) ? "optional" : "required";
}
