import type { ErrorGroup, Run } from "@carillon/contract";
import type { Column } from "../table.js";

export const deadLetterColumns: readonly Column<Run>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "TASK", value: ({ task }) => task },
  { title: "REASON", value: (run) => run.status_reason },
  { title: "ATTEMPT", value: (run) => `${run.attempt}/${run.max_attempts}` },
  { title: "FAILED", value: (run) => run.finished_at },
  { title: "KIND", value: ({ error }) => error?.fingerprint },
  { title: "ERROR", value: ({ error }) => (error === null ? null : `${error.type}: ${error.message}`) },
];

export const errorGroupColumns: readonly Column<ErrorGroup>[] = [
  { title: "KIND", value: ({ fingerprint }) => fingerprint },
  { title: "COUNT", value: ({ count }) => count, align: "right" },
  { title: "LAST SEEN", value: (group) => group.last_seen_at },
  { title: "TASKS", value: ({ tasks }) => tasks.join(", ") },
  { title: "ERROR", value: ({ type, message }) => `${type}: ${message}` },
];
