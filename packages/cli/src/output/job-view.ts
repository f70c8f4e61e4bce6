import type { Job } from "@carillon/contract";
import { type Column, renderFields } from "../table.js";

export const jobColumns: readonly Column<Job>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "KEY", value: ({ key }) => key },
  { title: "TASK", value: ({ task }) => task },
  { title: "STATUS", value: ({ status }) => status },
  { title: "NEXT RUN", value: (job) => job.next_run_at },
  { title: "SCHEDULE", value: ({ description }) => description },
];

function pauseText({ at, until, reason }: NonNullable<Job["pause"]>): string {
  return [`since ${at}`, until === null ? "" : ` until ${until}`, reason === null ? "" : `: ${reason}`].join("");
}

/** One job for people; JSON has the rest. */
export function renderJob(job: Job): string {
  const last = job.run ?? job.last_run;
  return renderFields([
    ["id", job.id],
    ["key", job.key],
    ["task", job.task],
    ["status", job.status],
    ...(job.pause ? [["paused", pauseText(job.pause)] as const] : []),
    ["schedule", job.description],
    ["next run", job.next_run_at],
    ["queue", job.queue],
    ["payload", job.payload],
    ["created", job.created_at],
    [
      "last run",
      last === null ? null : `${last.id} ${last.status}${last.status_reason ? ` (${last.status_reason})` : ""}`,
    ],
    ...(job.run?.waiting_on ? [["waits for", job.run.waiting_on.detail] as const] : []),
    ...(job.run === undefined ? [] : [["output", job.run.output] as const, ["error", job.run.error?.message] as const]),
    ...(job.warnings ?? []).map(({ detail }) => ["warning", detail] as const),
  ]);
}
