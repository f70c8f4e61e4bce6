import type { CommandEntry } from "./manifest/entry.js";
import { jobCommands } from "./manifest/jobs.js";
import { operationCommands } from "./manifest/operations.js";
import { queueCommands } from "./manifest/queues.js";
import { runCommands } from "./manifest/runs.js";
import { scheduleCommands } from "./manifest/schedules.js";
import { serverCommands } from "./manifest/servers.js";
import { toolCommands } from "./manifest/tools.js";
import { webhookCommands } from "./manifest/webhooks.js";

/** The nouns, with the line that `carillon --help` shows. */
export const nouns: Readonly<Record<string, string>> = {
  server: "run and look after a node",
  node: "look at the nodes of the cluster",
  worker: "run workers, look at them and end them",
  job: "create, change and look at jobs",
  run: "look at runs and make them again",
  task: "look at tasks and run them without a job",
  events: "follow what happens",
  "dead-letter": "look at runs that failed, retry or discard them",
  "error-group": "look at the kinds of errors",
  queue: "look at queues, pause and purge them, set their order",
  webhook: "tell others of the ends of runs",
  limit: "look at limits, set them and take them away",
  breaker: "look at circuit breakers and close them",
  namespace: "make namespaces and weigh them",
  backfill: "look at backfills and stop them",
  operation: "look at bulk operations and stop them",
  import: "take over jobs from elsewhere",
  profile: "choose between servers",
  cron: "try cron expressions, offline",
  calendar: "try calendars, offline; look at stored ones and change them",
  window: "look at maintenance windows and change them",
};

/** The groups of `carillon --help`, with their nouns and commands of one word. */
export const groups: Readonly<Record<string, readonly string[]>> = {
  "Begin:": ["dev", "init", "import"],
  "Jobs and what becomes of them:": ["job", "run", "task", "why", "top", "events"],
  "When something failed:": ["dead-letter", "error-group", "webhook"],
  "Many at a time:": ["backfill", "operation"],
  "When things run:": ["cron", "calendar", "window"],
  "How many run:": ["queue", "limit", "breaker", "namespace"],
  "Who runs them:": ["worker", "server", "node", "doctor"],
  "This command line:": ["login", "profile", "api", "openapi", "completion", "version"],
};

/** Every command, in the order of the help. A module is read only when its command is called. */
export const commands: readonly CommandEntry[] = [
  ...serverCommands,
  ...jobCommands,
  ...runCommands,
  ...webhookCommands,
  ...queueCommands,
  ...operationCommands,
  ...scheduleCommands,
  ...toolCommands,
];
