import type { CommandEntry } from "./entry.js";

/** Jobs. */
export const jobCommands: readonly CommandEntry[] = [
  { path: ["job", "create"], summary: "create a job", changes: true, load: () => import("../commands/job-create.js") },
  { path: ["job", "get"], summary: "show one job", load: () => import("../commands/job-get.js") },
  { path: ["job", "list"], summary: "list jobs, newest first", load: () => import("../commands/job-list.js") },
  {
    path: ["job", "apply"],
    summary: "make jobs as files say, show what changes",
    changes: true,
    load: () => import("../commands/job-apply.js"),
  },
  {
    path: ["job", "export"],
    summary: "print definitions, for job apply",
    load: () => import("../commands/job-export.js"),
  },
  { path: ["job", "next"], summary: "show when a job fires next", load: () => import("../commands/job-next.js") },
  {
    path: ["job", "history"],
    summary: "list the runs of a job, its versions, what it missed",
    load: () => import("../commands/job-history.js"),
  },
  {
    path: ["job", "explain"],
    summary: "say whether a job fires, when, and if not, why",
    load: () => import("../commands/job-explain.js"),
  },
  {
    path: ["job", "forecast"],
    summary: "show what the schedules will fire in the next hours",
    load: () => import("../commands/job-forecast.js"),
  },
  {
    path: ["job", "update"],
    summary: "change parts of a job",
    changes: true,
    load: () => import("../commands/job-update.js"),
  },
  {
    path: ["job", "rollback"],
    summary: "go back to an earlier definition",
    changes: true,
    load: () => import("../commands/job-rollback.js"),
  },
  {
    path: ["job", "pause"],
    summary: "stop a job's fires for now",
    changes: true,
    load: () => import("../commands/job-pause.js"),
  },
  {
    path: ["job", "resume"],
    summary: "let a paused job fire again",
    changes: true,
    load: () => import("../commands/job-resume.js"),
  },
  { path: ["job", "run"], summary: "run a job now", changes: true, load: () => import("../commands/job-run.js") },
  {
    path: ["job", "backfill"],
    summary: "run a job for times of the past",
    changes: true,
    load: () => import("../commands/job-backfill.js"),
  },
  {
    path: ["job", "cancel"],
    summary: "end a job for good",
    changes: true,
    load: () => import("../commands/job-cancel.js"),
  },
  {
    path: ["job", "delete"],
    summary: "the same as cancel",
    changes: true,
    load: () => import("../commands/job-delete.js"),
  },
];
