import { formatId, type Instant } from "@carillon/core";
import type { Neighbour } from "@carillon/store";
import type { JobView } from "../jobs/job-reader.js";
import { at, because, byWhom, durationText, type Explanation, type JobWaitCode, plain } from "./explanation.js";

export interface ScheduleFacts {
  readonly job: JobView;
  readonly now: Instant;
  /** Occurrences inside the pause. */
  readonly missed: number;
  /** A maintenance window holds the due occurrence. */
  readonly isHeld: boolean;
}

type Answer = Explanation<JobWaitCode>;

/** Whether a job fires, when, and if not, why. */
export function explainSchedule({ job, now, missed, isHeld }: ScheduleFacts): Answer {
  const { state, nextRunAt, schedule } = job;
  if (state === "cancelled") return plain("cancelled", "it is cancelled and fires no more");
  if (state === "paused") return paused(job, missed);
  if (state === "completed")
    return plain(
      "completed",
      "nothing is left to fire: all its instants have passed, all its runs were made, or there never was one",
    );
  if (schedule.kind === "manual") return plain("manual", "it runs only when asked");
  if (schedule.kind === "after") return waits(job.neighbours, schedule.mode ?? "all");
  if (nextRunAt === null) return plain("never", "its schedule has no instant to come");
  const left = nextRunAt - now;
  if (isHeld) {
    const detail = `a maintenance window holds the occurrence that is due, until ${at(nextRunAt)}, for ${durationText(left)} more`;
    return { ...plain("window", detail), until: nextRunAt, facts: { in_ms: Math.max(0, left) } };
  }
  if (left <= 0) return { ...plain("fires_now", dueText(-left)), facts: { late_ms: -left } };
  return {
    ...plain("fires", `fires in ${durationText(left)}, at ${at(nextRunAt)}`),
    until: nextRunAt,
    facts: { in_ms: left },
  };
}

/** A job that is later than this is not about to fire: the answer names the possible causes. */
const longLateMs = 10_000;

function dueText(lateMs: number): string {
  if (lateMs < longLateMs) return `it has been due for ${durationText(lateMs)} and is about to fire`;
  return `it has been due for ${durationText(lateMs)} and no node has fired it yet: they are behind, or none of them has its schedule`;
}

function paused({ pause, nextRunAt }: JobView, missed: number): Answer {
  const by = pause === null ? "" : `${byWhom(pause.actor)} since ${at(pause.at)}`;
  const until = pause?.until ?? null;
  const end = until === null ? "until it is resumed" : `until ${at(until)}`;
  const count = missed === 0 ? "" : `; ${missed} occurrences inside the pause so far`;
  const next = nextRunAt === null ? "" : `; fires next at ${at(nextRunAt)}`;
  const detail = `paused${by}, ${end}${next}${count}${because(pause?.reason ?? null)}`;
  return { ...plain("paused", detail), until, facts: { missed } };
}

function waits(neighbours: readonly Neighbour[], mode: "all" | "any"): Answer {
  const upstream = neighbours.filter((one) => one.side === "upstream");
  if (upstream.length === 0) return plain("after", "nothing that it waited for is left: it never fires");
  const open = upstream.filter((one) => one.metRunId === null);
  const ends = { success: "to succeed", failure: "to fail", finish: "to end" };
  const names = open.map((one) => `${one.key ?? formatId("job", one.jobId)} ${ends[one.on]}`);
  const dead = upstream.filter((one) => one.state === "cancelled" || one.state === "completed");
  const note =
    dead.length === 0
      ? ""
      : `; ${dead.map((one) => `${one.key ?? formatId("job", one.jobId)} is ${one.state}`).join(", ")}`;
  const met =
    mode === "all" && upstream.length > 1 ? ` (${upstream.length - open.length} of ${upstream.length} are met)` : "";
  const detail = `waits for ${names.join(mode === "any" ? " or " : " and ")}${met}${note}`;
  return { ...plain("after", detail), facts: { met: upstream.length - open.length, of: upstream.length } };
}
