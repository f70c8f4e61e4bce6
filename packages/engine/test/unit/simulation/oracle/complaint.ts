import type { FiringPolicy, Instant, ScheduleSpec } from "@carillon/core";

export type Law =
  | "lost"
  | "doubled"
  | "invented"
  | "early"
  | "range"
  | "count"
  | "reason"
  | "window"
  | "calendar"
  | "merged"
  | "epoch";

/** A law that a job broke, and where first. */
export interface Complaint {
  readonly law: Law;
  readonly jobId: string;
  readonly at: Instant;
  readonly detail: string;
}

export interface Accused {
  readonly schedules: readonly ScheduleSpec[];
  readonly firing: Partial<FiringPolicy>;
}

/** What a failing year prints: enough to live it again. Empty when there is nothing to say. */
export function report(
  seed: number,
  complaints: readonly Complaint[],
  accused: (jobId: string) => Accused | null,
): string {
  if (complaints.length === 0) return "";
  const firsts = complaints.filter(({ jobId }, index) => complaints.findIndex((one) => one.jobId === jobId) === index);
  const lines = firsts.slice(0, 5).map(({ law, jobId, at, detail }) => {
    const who = accused(jobId);
    const definition =
      who === null ? "" : `\n    job ${jobId} ${JSON.stringify(who.firing)} ${JSON.stringify(who.schedules)}`;
    return `  ${law} at ${new Date(at).toISOString()} (${at}): ${detail}${definition}`;
  });
  return [`CARILLON_PROPERTY_SEED=${seed}: ${complaints.length} complaints about ${firsts.length} jobs`, ...lines].join(
    "\n",
  );
}
