import type { Run } from "@carillon/contract";
import { type Column, renderFields } from "../table.js";

const ms = (value: number | null): string | null => (value === null ? null : `${value} ms`);

export const runColumns: readonly Column<Run>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "TASK", value: ({ task }) => task },
  { title: "STATUS", value: ({ status }) => status },
  { title: "ATTEMPT", value: (run) => `${run.attempt}/${run.max_attempts}` },
  { title: "SCHEDULED FOR", value: ({ trigger }) => trigger.scheduled_for },
  { title: "LATE", value: (run) => ms(run.lag_ms), align: "right" },
  { title: "TOOK", value: (run) => ms(run.duration_ms), align: "right" },
];

/** One run for people; JSON has the rest. */
export function renderRun(run: Run): string {
  return renderFields([
    ["id", run.id],
    ["job", run.job_id],
    ["task", run.task],
    ["status", run.status_reason === null ? run.status : `${run.status} (${run.status_reason})`],
    ...(run.waiting_on ? [["waits for", run.waiting_on.detail] as const] : []),
    ["attempt", `${run.attempt} of ${run.max_attempts}`],
    ["scheduled for", run.trigger.scheduled_for],
    ["started", run.started_at],
    ["finished", run.finished_at],
    ["late", ms(run.lag_ms)],
    ["took", ms(run.duration_ms)],
    ["payload", run.payload],
    ["output", run.output],
    ["error", run.error === null ? null : `${run.error.type}: ${run.error.message}`],
  ]);
}
