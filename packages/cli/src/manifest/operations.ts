import type { CommandEntry } from "./entry.js";

/** Work that goes on by itself. */
export const operationCommands: readonly CommandEntry[] = [
  {
    path: ["backfill", "get"],
    summary: "show how far a backfill is",
    load: () => import("../commands/backfill-get.js"),
  },
  {
    path: ["backfill", "list"],
    summary: "list the backfills of a job, newest first",
    load: () => import("../commands/backfill-list.js"),
  },
  {
    path: ["backfill", "abort"],
    summary: "make no more runs of a backfill",
    changes: true,
    load: () => import("../commands/backfill-abort.js"),
  },
  {
    path: ["operation", "list"],
    summary: "list bulk operations, newest first",
    load: () => import("../commands/operation-list.js"),
  },
  {
    path: ["operation", "get"],
    summary: "show how far an operation is",
    load: () => import("../commands/operation-get.js"),
  },
  {
    path: ["operation", "abort"],
    summary: "stop an operation",
    changes: true,
    load: () => import("../commands/operation-abort.js"),
  },
];
