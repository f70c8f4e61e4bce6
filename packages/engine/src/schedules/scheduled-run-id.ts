import { type Instant, occurrenceRunId, type ScheduleSpec } from "@carillon/core";

export interface OccurrenceOfJob {
  readonly jobId: string;
  readonly schedule: ScheduleSpec;
  readonly nominal: Instant;
  readonly runsMade: number;
}

/**
 * The id of the run of an occurrence: it follows from the job and the instant. The first run of a single instant has the job's own id:
 * the caller that created a one-off run received that id, and finds the run by it even if the job was changed before it ran.
 */
export function scheduledRunId({ jobId, schedule, nominal, runsMade }: OccurrenceOfJob): string {
  return schedule.kind === "at" && runsMade === 0 ? jobId : occurrenceRunId(jobId, nominal, "schedule");
}
