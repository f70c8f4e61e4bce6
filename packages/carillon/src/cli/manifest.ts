import type { CommandModule } from "./command.js";

export interface CommandEntry {
  /** Noun and verb, or one word. */
  readonly path: readonly [string] | readonly [noun: string, verb: string];
  readonly summary: string;
  /** It changes something, and says how to undo that. */
  readonly changes?: true;
  readonly load: () => Promise<{ readonly command: CommandModule }>;
}

/** The nouns, with the line that `carillon --help` shows. */
export const nouns: Readonly<Record<string, string>> = {
  server: "run and look after a node",
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
};

/** Every command, in the order of the help. A module is read only when its command is called. */
export const commands: readonly CommandEntry[] = [
  {
    path: ["init"],
    summary: "a project that runs: tasks, a job, a package.json",
    changes: true,
    load: () => import("./commands/init.js"),
  },
  {
    path: ["dev"],
    summary: "everything in one process: database, scheduler, API and a worker",
    load: () => import("./commands/dev.js"),
  },
  {
    path: ["server", "start"],
    summary: "run a node",
    load: () => import("./commands/server-start.js"),
  },
  {
    path: ["server", "migrate"],
    summary: "bring the database's schema up to date",
    changes: true,
    load: () => import("./commands/server-migrate.js"),
  },
  {
    path: ["server", "config"],
    summary: "show every setting and where it comes from",
    load: () => import("./commands/server-config.js"),
  },
  {
    path: ["worker", "start"],
    summary: "run the tasks of a module for a server",
    load: () => import("./commands/worker-start.js"),
  },
  { path: ["worker", "list"], summary: "list workers, newest first", load: () => import("./commands/worker-list.js") },
  {
    path: ["worker", "cordon"],
    summary: "give a worker nothing more",
    changes: true,
    load: () => import("./commands/worker-cordon.js"),
  },
  {
    path: ["worker", "uncordon"],
    summary: "give a worker runs again",
    changes: true,
    load: () => import("./commands/worker-uncordon.js"),
  },
  {
    path: ["worker", "drain"],
    summary: "tell a worker to end",
    changes: true,
    load: () => import("./commands/worker-drain.js"),
  },
  { path: ["job", "create"], summary: "create a job", changes: true, load: () => import("./commands/job-create.js") },
  { path: ["job", "get"], summary: "show one job", load: () => import("./commands/job-get.js") },
  { path: ["job", "list"], summary: "list jobs, newest first", load: () => import("./commands/job-list.js") },
  {
    path: ["job", "apply"],
    summary: "make jobs as files say, show what changes",
    changes: true,
    load: () => import("./commands/job-apply.js"),
  },
  {
    path: ["job", "export"],
    summary: "print definitions, for job apply",
    load: () => import("./commands/job-export.js"),
  },
  { path: ["job", "next"], summary: "show when a job fires next", load: () => import("./commands/job-next.js") },
  {
    path: ["job", "history"],
    summary: "list the runs of a job, its versions, what it missed",
    load: () => import("./commands/job-history.js"),
  },
  {
    path: ["job", "explain"],
    summary: "say whether a job fires, when, and if not, why",
    load: () => import("./commands/job-explain.js"),
  },
  {
    path: ["job", "forecast"],
    summary: "show what the schedules will fire in the next hours",
    load: () => import("./commands/job-forecast.js"),
  },
  {
    path: ["job", "update"],
    summary: "change parts of a job",
    changes: true,
    load: () => import("./commands/job-update.js"),
  },
  {
    path: ["job", "rollback"],
    summary: "go back to an earlier definition",
    changes: true,
    load: () => import("./commands/job-rollback.js"),
  },
  {
    path: ["job", "pause"],
    summary: "stop a job's fires for now",
    changes: true,
    load: () => import("./commands/job-pause.js"),
  },
  {
    path: ["job", "resume"],
    summary: "let a paused job fire again",
    changes: true,
    load: () => import("./commands/job-resume.js"),
  },
  { path: ["job", "run"], summary: "run a job now", changes: true, load: () => import("./commands/job-run.js") },
  {
    path: ["job", "backfill"],
    summary: "run a job for times of the past",
    changes: true,
    load: () => import("./commands/job-backfill.js"),
  },
  {
    path: ["job", "cancel"],
    summary: "end a job for good",
    changes: true,
    load: () => import("./commands/job-cancel.js"),
  },
  {
    path: ["job", "delete"],
    summary: "the same as cancel",
    changes: true,
    load: () => import("./commands/job-delete.js"),
  },
  { path: ["run", "get"], summary: "show one run", load: () => import("./commands/run-get.js") },
  {
    path: ["run", "explain"],
    summary: "say why a run does not run",
    load: () => import("./commands/run-explain.js"),
  },
  { path: ["run", "logs"], summary: "show what a run logged", load: () => import("./commands/run-logs.js") },
  {
    path: ["run", "watch"],
    summary: "follow a run to its end: its log, its progress",
    load: () => import("./commands/run-watch.js"),
  },
  { path: ["run", "list"], summary: "list runs, newest first", load: () => import("./commands/run-list.js") },
  {
    path: ["run", "cancel"],
    summary: "end a run, or ask its worker to stop",
    changes: true,
    load: () => import("./commands/run-cancel.js"),
  },
  {
    path: ["run", "retry"],
    summary: "make a new run in the place of one that failed",
    changes: true,
    load: () => import("./commands/run-retry.js"),
  },
  {
    path: ["run", "replay"],
    summary: "make another run like one that has ended",
    changes: true,
    load: () => import("./commands/run-replay.js"),
  },
  {
    path: ["run", "bulk"],
    summary: "cancel, retry or discard many runs",
    changes: true,
    load: () => import("./commands/run-bulk.js"),
  },
  {
    path: ["task", "list"],
    summary: "list tasks by name",
    load: () => import("./commands/task-list.js"),
  },
  {
    path: ["task", "run"],
    summary: "ask for one run of a task",
    changes: true,
    load: () => import("./commands/task-run.js"),
  },
  { path: ["events", "tail"], summary: "follow what happens", load: () => import("./commands/events-tail.js") },
  {
    path: ["dead-letter", "list"],
    summary: "list runs that failed for good",
    load: () => import("./commands/dead-letter-list.js"),
  },
  {
    path: ["dead-letter", "redrive"],
    summary: "retry one, or all that a filter names",
    changes: true,
    load: () => import("./commands/dead-letter-redrive.js"),
  },
  {
    path: ["dead-letter", "discard"],
    summary: "discard one, or all that a filter names",
    changes: true,
    load: () => import("./commands/dead-letter-discard.js"),
  },
  {
    path: ["error-group", "list"],
    summary: "list the kinds of errors",
    load: () => import("./commands/error-group-list.js"),
  },
  {
    path: ["webhook", "create"],
    summary: "tell an address of the ends of runs",
    changes: true,
    load: () => import("./commands/webhook-create.js"),
  },
  {
    path: ["webhook", "list"],
    summary: "list webhook endpoints, newest first",
    load: () => import("./commands/webhook-list.js"),
  },
  {
    path: ["webhook", "update"],
    summary: "change an endpoint, enable or disable it",
    changes: true,
    load: () => import("./commands/webhook-update.js"),
  },
  {
    path: ["webhook", "rotate"],
    summary: "give an endpoint a new secret",
    changes: true,
    load: () => import("./commands/webhook-rotate.js"),
  },
  {
    path: ["webhook", "test"],
    summary: "send an endpoint a test",
    changes: true,
    load: () => import("./commands/webhook-test.js"),
  },
  {
    path: ["webhook", "deliveries"],
    summary: "list what was sent to an endpoint",
    load: () => import("./commands/webhook-deliveries.js"),
  },
  {
    path: ["webhook", "redeliver"],
    summary: "send a message again",
    changes: true,
    load: () => import("./commands/webhook-redeliver.js"),
  },
  {
    path: ["webhook", "delete"],
    summary: "remove an endpoint",
    changes: true,
    load: () => import("./commands/webhook-delete.js"),
  },
  { path: ["queue", "list"], summary: "list queues by name", load: () => import("./commands/queue-list.js") },
  { path: ["queue", "get"], summary: "show one queue and its load", load: () => import("./commands/queue-get.js") },
  {
    path: ["queue", "set"],
    summary: "set the order of a queue",
    changes: true,
    load: () => import("./commands/queue-set.js"),
  },
  {
    path: ["queue", "pause"],
    summary: "hand out nothing of a queue",
    changes: true,
    load: () => import("./commands/queue-pause.js"),
  },
  {
    path: ["queue", "resume"],
    summary: "hand out runs of a queue again",
    changes: true,
    load: () => import("./commands/queue-resume.js"),
  },
  {
    path: ["queue", "purge"],
    summary: "end all runs of a queue that wait",
    changes: true,
    load: () => import("./commands/queue-purge.js"),
  },
  {
    path: ["limit", "list"],
    summary: "list limits that are in use or set by hand",
    load: () => import("./commands/limit-list.js"),
  },
  {
    path: ["limit", "show"],
    summary: "show who holds a limit and how many wait",
    load: () => import("./commands/limit-show.js"),
  },
  {
    path: ["limit", "set"],
    summary: "set a limit of a queue, of a namespace or by hand",
    changes: true,
    load: () => import("./commands/limit-set.js"),
  },
  {
    path: ["limit", "remove"],
    summary: "take a limit away",
    changes: true,
    load: () => import("./commands/limit-remove.js"),
  },
  {
    path: ["breaker", "list"],
    summary: "list circuit breakers that have opened",
    load: () => import("./commands/breaker-list.js"),
  },
  {
    path: ["breaker", "show"],
    summary: "show one circuit breaker",
    load: () => import("./commands/breaker-show.js"),
  },
  {
    path: ["breaker", "reset"],
    summary: "close a circuit breaker",
    changes: true,
    load: () => import("./commands/breaker-reset.js"),
  },
  {
    path: ["namespace", "list"],
    summary: "list namespaces by name",
    load: () => import("./commands/namespace-list.js"),
  },
  {
    path: ["namespace", "create"],
    summary: "make a namespace",
    changes: true,
    load: () => import("./commands/namespace-create.js"),
  },
  {
    path: ["namespace", "update"],
    summary: "change the weight of a namespace",
    changes: true,
    load: () => import("./commands/namespace-update.js"),
  },
  {
    path: ["backfill", "get"],
    summary: "show how far a backfill is",
    load: () => import("./commands/backfill-get.js"),
  },
  {
    path: ["backfill", "list"],
    summary: "list the backfills of a job, newest first",
    load: () => import("./commands/backfill-list.js"),
  },
  {
    path: ["backfill", "abort"],
    summary: "make no more runs of a backfill",
    changes: true,
    load: () => import("./commands/backfill-abort.js"),
  },
  {
    path: ["operation", "list"],
    summary: "list bulk operations, newest first",
    load: () => import("./commands/operation-list.js"),
  },
  {
    path: ["operation", "get"],
    summary: "show how far an operation is",
    load: () => import("./commands/operation-get.js"),
  },
  {
    path: ["operation", "abort"],
    summary: "stop an operation",
    changes: true,
    load: () => import("./commands/operation-abort.js"),
  },
  {
    path: ["cron", "explain"],
    summary: "say in words when an expression fires",
    load: () => import("./commands/cron-explain.js"),
  },
  {
    path: ["cron", "next"],
    summary: "the next fires of an expression, or of each on stdin",
    load: () => import("./commands/cron-next.js"),
  },
  {
    path: ["cron", "validate"],
    summary: "check an expression",
    load: () => import("./commands/cron-validate.js"),
  },
  {
    path: ["calendar", "check"],
    summary: "check a calendar and show its days",
    load: () => import("./commands/calendar-check.js"),
  },
  {
    path: ["calendar", "list"],
    summary: "list stored calendars",
    load: () => import("./commands/calendar-list.js"),
  },
  {
    path: ["calendar", "get"],
    summary: "show one calendar",
    load: () => import("./commands/calendar-get.js"),
  },
  {
    path: ["calendar", "put"],
    summary: "make or replace a calendar",
    changes: true,
    load: () => import("./commands/calendar-put.js"),
  },
  {
    path: ["calendar", "delete"],
    summary: "delete a calendar",
    changes: true,
    load: () => import("./commands/calendar-delete.js"),
  },
  {
    path: ["import", "crontab"],
    summary: "make jobs of the lines of a crontab",
    changes: true,
    load: () => import("./commands/import-crontab.js"),
  },
  {
    path: ["top"],
    summary: "a live view: queues, rates, workers, runs",
    load: () => import("./commands/top.js"),
  },
  {
    path: ["login"],
    summary: "store the address and key of a server",
    changes: true,
    load: () => import("./commands/login.js"),
  },
  {
    path: ["profile", "list"],
    summary: "list the servers that were logged in to",
    load: () => import("./commands/profile-list.js"),
  },
  {
    path: ["profile", "use"],
    summary: "choose where commands go",
    changes: true,
    load: () => import("./commands/profile-use.js"),
  },
  {
    path: ["profile", "remove"],
    summary: "forget a server and its key",
    changes: true,
    load: () => import("./commands/profile-remove.js"),
  },
  {
    path: ["api"],
    summary: "send one request as it is",
    changes: true,
    load: () => import("./commands/api.js"),
  },
  {
    path: ["openapi"],
    summary: "print the OpenAPI document",
    load: () => import("./commands/openapi.js"),
  },
  {
    path: ["doctor"],
    summary: "check this machine and its database",
    load: () => import("./commands/doctor.js"),
  },
  {
    path: ["completion"],
    summary: "a script that completes commands in your shell",
    load: () => import("./commands/completion.js"),
  },
  { path: ["version"], summary: "show versions", load: () => import("./commands/version.js") },
];
