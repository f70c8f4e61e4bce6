import type { CommandEntry } from "./entry.js";

/** Runs, what asks for them, and those that failed. */
export const runCommands: readonly CommandEntry[] = [
  { path: ["run", "get"], summary: "show one run", load: () => import("../commands/run-get.js") },
  {
    path: ["run", "explain"],
    summary: "say why a run does not run",
    load: () => import("../commands/run-explain.js"),
  },
  { path: ["run", "logs"], summary: "show what a run logged", load: () => import("../commands/run-logs.js") },
  {
    path: ["run", "watch"],
    summary: "follow a run to its end: its log, its progress",
    load: () => import("../commands/run-watch.js"),
  },
  { path: ["run", "list"], summary: "list runs, newest first", load: () => import("../commands/run-list.js") },
  {
    path: ["run", "cancel"],
    summary: "end a run, or ask its worker to stop",
    changes: true,
    load: () => import("../commands/run-cancel.js"),
  },
  {
    path: ["run", "retry"],
    summary: "make a new run in the place of one that failed",
    changes: true,
    load: () => import("../commands/run-retry.js"),
  },
  {
    path: ["run", "replay"],
    summary: "make another run like one that has ended",
    changes: true,
    load: () => import("../commands/run-replay.js"),
  },
  {
    path: ["run", "bulk"],
    summary: "cancel, retry or discard many runs",
    changes: true,
    load: () => import("../commands/run-bulk.js"),
  },
  {
    path: ["task", "list"],
    summary: "list tasks by name",
    load: () => import("../commands/task-list.js"),
  },
  { path: ["task", "get"], summary: "show one task and its defaults", load: () => import("../commands/task-get.js") },
  {
    path: ["task", "run"],
    summary: "ask for one run of a task",
    changes: true,
    load: () => import("../commands/task-run.js"),
  },
  { path: ["events", "tail"], summary: "follow what happens", load: () => import("../commands/events-tail.js") },
  {
    path: ["dead-letter", "list"],
    summary: "list runs that failed for good",
    load: () => import("../commands/dead-letter-list.js"),
  },
  {
    path: ["dead-letter", "redrive"],
    summary: "retry one, or all that a filter names",
    changes: true,
    load: () => import("../commands/dead-letter-redrive.js"),
  },
  {
    path: ["dead-letter", "discard"],
    summary: "discard one, or all that a filter names",
    changes: true,
    load: () => import("../commands/dead-letter-discard.js"),
  },
  {
    path: ["error-group", "list"],
    summary: "list the kinds of errors",
    load: () => import("../commands/error-group-list.js"),
  },
];
