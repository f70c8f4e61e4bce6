import type { CommandEntry } from "./entry.js";

/** Projects, nodes and workers. */
export const serverCommands: readonly CommandEntry[] = [
  {
    path: ["init"],
    summary: "a project that runs: tasks, a job, a package.json",
    changes: true,
    load: () => import("../commands/init.js"),
  },
  {
    path: ["dev"],
    summary: "everything in one process: database, scheduler, API and a worker",
    load: () => import("../commands/dev.js"),
  },
  {
    path: ["server", "start"],
    summary: "run a node",
    load: () => import("../commands/server-start.js"),
  },
  {
    path: ["server", "migrate"],
    summary: "bring the database's schema up to date",
    changes: true,
    load: () => import("../commands/server-migrate.js"),
  },
  {
    path: ["server", "config"],
    summary: "show every setting and where it comes from",
    load: () => import("../commands/server-config.js"),
  },
  { path: ["node", "list"], summary: "list nodes, the oldest first", load: () => import("../commands/node-list.js") },
  {
    path: ["worker", "start"],
    summary: "run the tasks of a module for a server",
    load: () => import("../commands/worker-start.js"),
  },
  { path: ["worker", "list"], summary: "list workers, newest first", load: () => import("../commands/worker-list.js") },
  {
    path: ["worker", "get"],
    summary: "show one worker and the runs that it has",
    load: () => import("../commands/worker-get.js"),
  },
  {
    path: ["worker", "cordon"],
    summary: "give a worker nothing more",
    changes: true,
    load: () => import("../commands/worker-cordon.js"),
  },
  {
    path: ["worker", "uncordon"],
    summary: "give a worker runs again",
    changes: true,
    load: () => import("../commands/worker-uncordon.js"),
  },
  {
    path: ["worker", "drain"],
    summary: "tell a worker to end",
    changes: true,
    load: () => import("../commands/worker-drain.js"),
  },
];
