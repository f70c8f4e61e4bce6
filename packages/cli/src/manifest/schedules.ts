import type { CommandEntry } from "./entry.js";

/** Schedules and what they are made of. */
export const scheduleCommands: readonly CommandEntry[] = [
  {
    path: ["cron", "explain"],
    summary: "say in words when an expression fires",
    load: () => import("../commands/cron-explain.js"),
  },
  {
    path: ["cron", "next"],
    summary: "the next fires of an expression, or of each on stdin",
    load: () => import("../commands/cron-next.js"),
  },
  {
    path: ["cron", "validate"],
    summary: "check an expression",
    load: () => import("../commands/cron-validate.js"),
  },
  {
    path: ["calendar", "check"],
    summary: "check a calendar and show its days",
    load: () => import("../commands/calendar-check.js"),
  },
  {
    path: ["calendar", "list"],
    summary: "list stored calendars",
    load: () => import("../commands/calendar-list.js"),
  },
  {
    path: ["calendar", "get"],
    summary: "show one calendar",
    load: () => import("../commands/calendar-get.js"),
  },
  {
    path: ["calendar", "put"],
    summary: "make or replace a calendar",
    changes: true,
    load: () => import("../commands/calendar-put.js"),
  },
  {
    path: ["calendar", "delete"],
    summary: "delete a calendar",
    changes: true,
    load: () => import("../commands/calendar-delete.js"),
  },
  {
    path: ["window", "list"],
    summary: "list maintenance windows",
    load: () => import("../commands/window-list.js"),
  },
  {
    path: ["window", "get"],
    summary: "show one maintenance window",
    load: () => import("../commands/window-get.js"),
  },
  {
    path: ["window", "put"],
    summary: "make or replace a maintenance window",
    changes: true,
    load: () => import("../commands/window-put.js"),
  },
  {
    path: ["window", "delete"],
    summary: "delete a maintenance window",
    changes: true,
    load: () => import("../commands/window-delete.js"),
  },
  {
    path: ["import", "crontab"],
    summary: "make jobs of the lines of a crontab",
    changes: true,
    load: () => import("../commands/import-crontab.js"),
  },
];
