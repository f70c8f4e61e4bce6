import type { CommandEntry } from "./entry.js";

/** Who is told of the ends of runs. */
export const webhookCommands: readonly CommandEntry[] = [
  {
    path: ["webhook", "create"],
    summary: "tell an address of the ends of runs",
    changes: true,
    load: () => import("../commands/webhook-create.js"),
  },
  {
    path: ["webhook", "list"],
    summary: "list webhook endpoints, newest first",
    load: () => import("../commands/webhook-list.js"),
  },
  { path: ["webhook", "get"], summary: "show one endpoint", load: () => import("../commands/webhook-get.js") },
  {
    path: ["webhook", "update"],
    summary: "change an endpoint, enable or disable it",
    changes: true,
    load: () => import("../commands/webhook-update.js"),
  },
  {
    path: ["webhook", "rotate"],
    summary: "give an endpoint a new secret",
    changes: true,
    load: () => import("../commands/webhook-rotate.js"),
  },
  {
    path: ["webhook", "test"],
    summary: "send an endpoint a test",
    changes: true,
    load: () => import("../commands/webhook-test.js"),
  },
  {
    path: ["webhook", "deliveries"],
    summary: "list what was sent to an endpoint",
    load: () => import("../commands/webhook-deliveries.js"),
  },
  {
    path: ["webhook", "redeliver"],
    summary: "send a message again",
    changes: true,
    load: () => import("../commands/webhook-redeliver.js"),
  },
  {
    path: ["webhook", "delete"],
    summary: "remove an endpoint",
    changes: true,
    load: () => import("../commands/webhook-delete.js"),
  },
];
