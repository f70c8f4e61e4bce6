import type { CommandEntry } from "./entry.js";

/** The command line itself: where it goes, what it sees. */
export const toolCommands: readonly CommandEntry[] = [
  {
    path: ["why"],
    summary: "why a job or a run does not run, or all that waits",
    load: () => import("../commands/why.js"),
  },
  {
    path: ["top"],
    summary: "a live view: queues, rates, workers, runs",
    load: () => import("../commands/top.js"),
  },
  {
    path: ["login"],
    summary: "store the address and key of a server",
    changes: true,
    load: () => import("../commands/login.js"),
  },
  {
    path: ["profile", "list"],
    summary: "list the servers that were logged in to",
    load: () => import("../commands/profile-list.js"),
  },
  {
    path: ["profile", "use"],
    summary: "choose where commands go",
    changes: true,
    load: () => import("../commands/profile-use.js"),
  },
  {
    path: ["profile", "remove"],
    summary: "forget a server and its key",
    changes: true,
    load: () => import("../commands/profile-remove.js"),
  },
  {
    path: ["api"],
    summary: "send one request as it is",
    changes: true,
    load: () => import("../commands/api.js"),
  },
  {
    path: ["openapi"],
    summary: "print the OpenAPI document",
    load: () => import("../commands/openapi.js"),
  },
  {
    path: ["doctor"],
    summary: "check this machine and its database",
    load: () => import("../commands/doctor.js"),
  },
  {
    path: ["completion"],
    summary: "a script that completes commands in your shell",
    load: () => import("../commands/completion.js"),
  },
  { path: ["version"], summary: "show versions", load: () => import("../commands/version.js") },
];
