import type { CommandEntry } from "./entry.js";

/** What holds runs back, and for whom. */
export const queueCommands: readonly CommandEntry[] = [
  { path: ["queue", "list"], summary: "list queues by name", load: () => import("../commands/queue-list.js") },
  { path: ["queue", "get"], summary: "show one queue and its load", load: () => import("../commands/queue-get.js") },
  {
    path: ["queue", "set"],
    summary: "set the order of a queue",
    changes: true,
    load: () => import("../commands/queue-set.js"),
  },
  {
    path: ["queue", "pause"],
    summary: "hand out nothing of a queue",
    changes: true,
    load: () => import("../commands/queue-pause.js"),
  },
  {
    path: ["queue", "resume"],
    summary: "hand out runs of a queue again",
    changes: true,
    load: () => import("../commands/queue-resume.js"),
  },
  {
    path: ["queue", "purge"],
    summary: "end all runs of a queue that wait",
    changes: true,
    load: () => import("../commands/queue-purge.js"),
  },
  {
    path: ["limit", "list"],
    summary: "list limits that are in use or set by hand",
    load: () => import("../commands/limit-list.js"),
  },
  {
    path: ["limit", "show"],
    alias: "get",
    summary: "show who holds a limit and how many wait",
    load: () => import("../commands/limit-show.js"),
  },
  {
    path: ["limit", "set"],
    summary: "set a limit of a queue, of a namespace or by hand",
    changes: true,
    load: () => import("../commands/limit-set.js"),
  },
  {
    path: ["limit", "remove"],
    summary: "take a limit away",
    changes: true,
    load: () => import("../commands/limit-remove.js"),
  },
  {
    path: ["breaker", "list"],
    summary: "list circuit breakers that have opened",
    load: () => import("../commands/breaker-list.js"),
  },
  {
    path: ["breaker", "show"],
    alias: "get",
    summary: "show one circuit breaker",
    load: () => import("../commands/breaker-show.js"),
  },
  {
    path: ["breaker", "reset"],
    summary: "close a circuit breaker",
    changes: true,
    load: () => import("../commands/breaker-reset.js"),
  },
  {
    path: ["namespace", "list"],
    summary: "list namespaces by name",
    load: () => import("../commands/namespace-list.js"),
  },
  {
    path: ["namespace", "get"],
    summary: "show one namespace and its limits",
    load: () => import("../commands/namespace-get.js"),
  },
  {
    path: ["namespace", "create"],
    summary: "make a namespace",
    changes: true,
    load: () => import("../commands/namespace-create.js"),
  },
  {
    path: ["namespace", "update"],
    summary: "change the weight of a namespace",
    changes: true,
    load: () => import("../commands/namespace-update.js"),
  },
];
