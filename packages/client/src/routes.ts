// Made by scripts/generate/client.mjs from the operations in packages/contract. Do not edit.
import type { Route } from "./methods.js";

export const routes = {
  jobs: {
    /** Create a job. */
    create: { id: "createJob", call: "POST /v1/jobs", body: true },
    /** List jobs, newest first. */
    list: { id: "listJobs", call: "GET /v1/jobs", query: true },
    /** Create many jobs at once. */
    createMany: { id: "createJobs", call: "POST /v1/jobs:batchCreate", body: "jobs" },
    /** Show what a job would do. */
    preview: { id: "previewJob", call: "POST /v1/jobs:preview", body: true, query: true },
    /** Get a job. */
    get: { id: "getJob", call: "GET /v1/jobs/{id}" },
    /** Create or replace a job by its key. */
    put: { id: "putJob", call: "PUT /v1/jobs/{id}", body: true },
    /** Change parts of a job. */
    update: { id: "updateJob", call: "PATCH /v1/jobs/{id}", body: true },
    /** Cancel a job. */
    delete: { id: "deleteJob", call: "DELETE /v1/jobs/{id}", query: true },
    /** Cancel a job for good. */
    cancel: { id: "cancelJob", call: "POST /v1/jobs/{id}:cancel", body: true },
    /** Pause a job. */
    pause: { id: "pauseJob", call: "POST /v1/jobs/{id}:pause", body: true },
    /** Resume a paused job. */
    resume: { id: "resumeJob", call: "POST /v1/jobs/{id}:resume", body: true },
    /** Go back to an earlier definition. */
    rollback: { id: "rollbackJob", call: "POST /v1/jobs/{id}:rollback", body: "version" },
    /** Run a job now. */
    runNow: { id: "runJobNow", call: "POST /v1/jobs/{id}:runNow", body: true, wait: true },
    /** List the runs of a job, newest first. */
    runs: { id: "listJobRuns", call: "GET /v1/jobs/{id}/runs", query: true },
    /** List the definitions that a job had, newest first. */
    versions: { id: "listJobVersions", call: "GET /v1/jobs/{id}/versions", query: true },
    /** List the occurrences that have no scheduled run, newest first. */
    occurrences: { id: "listJobOccurrences", call: "GET /v1/jobs/{id}/occurrences", query: true },
    /** Show when a job fires next. */
    upcoming: { id: "listJobUpcoming", call: "GET /v1/jobs/{id}/upcoming", query: true },
    /** Show how the last runs of a job went. */
    stats: { id: "getJobStats", call: "GET /v1/jobs/{id}/stats" },
    /** Retry the last run of a job, which failed. */
    retry: { id: "retryJob", call: "POST /v1/jobs/{id}:retry", body: true },
    /** Say whether a job fires, when, and if not, why. */
    explain: { id: "explainJob", call: "GET /v1/jobs/{id}/explain" },
    /** Show what the schedules will fire in the next hours. */
    forecast: { id: "getForecast", call: "GET /v1/forecast", query: true },
    /** Run a job for times of the past. */
    backfill: { id: "backfillJob", call: "POST /v1/jobs/{id}:backfill", body: true },
    /** List the backfills of a job, newest first. */
    backfills: { id: "listJobBackfills", call: "GET /v1/jobs/{id}/backfills", query: true },
  },
  runs: {
    /** Ask for a run. */
    create: { id: "createRun", call: "POST /v1/runs", body: true, wait: true },
    /** Ask for many runs at once. */
    createMany: { id: "createRuns", call: "POST /v1/runs:batchCreate", body: "runs" },
    /** List runs, newest first. */
    list: { id: "listRuns", call: "GET /v1/runs", query: true },
    /** Get a run. */
    get: { id: "getRun", call: "GET /v1/runs/{id}", wait: true },
    /** Read what a run logged. */
    logs: { id: "listRunLogs", call: "GET /v1/runs/{id}/logs", query: true },
    /** List the tries of a run, oldest first. */
    attempts: { id: "listRunAttempts", call: "GET /v1/runs/{id}/attempts" },
    /** Show what became of a run, step by step. */
    events: { id: "listRunEvents", call: "GET /v1/runs/{id}/events" },
    /** Cancel a run. */
    cancel: { id: "cancelRun", call: "POST /v1/runs/{id}:cancel" },
    /** Give a run another time. */
    reschedule: { id: "rescheduleRun", call: "POST /v1/runs/{id}:reschedule", body: true },
    /** Do the same to many runs. */
    bulk: { id: "bulkRuns", call: "POST /v1/runs:bulk", body: true },
    /** Say why a run does not run. */
    explain: { id: "explainRun", call: "GET /v1/runs/{id}/explain" },
    /** Make a run in the place of one that failed. */
    retry: { id: "retryRun", call: "POST /v1/runs/{id}:retry", body: true },
    /** Make another run like one that has ended. */
    replay: { id: "replayRun", call: "POST /v1/runs/{id}:replay", body: true },
  },
  operations: {
    /** List operations, newest first. */
    list: { id: "listOperations", call: "GET /v1/operations", query: true },
    /** Show how far an operation is. */
    get: { id: "getOperation", call: "GET /v1/operations/{id}" },
    /** Stop an operation. */
    abort: { id: "abortOperation", call: "POST /v1/operations/{id}:abort" },
  },
  deadLetters: {
    /** List runs that failed for good, newest first. */
    list: { id: "listDeadLetters", call: "GET /v1/dead-letters", query: true },
    /** Retry dead letters by filter. */
    redriveMany: { id: "redriveDeadLetters", call: "POST /v1/dead-letters:redrive", body: true },
    /** Discard dead letters by filter. */
    discardMany: { id: "discardDeadLetters", call: "POST /v1/dead-letters:discard", body: true },
    /** Get a run that failed, with what was done about it. */
    get: { id: "getDeadLetter", call: "GET /v1/dead-letters/{id}" },
    /** Discard a dead letter. */
    discard: { id: "discardDeadLetter", call: "POST /v1/dead-letters/{id}:discard" },
  },
  errorGroups: {
    /** List the kinds of errors, the latest first. */
    list: { id: "listErrorGroups", call: "GET /v1/error-groups", query: true },
    /** Get a kind of error. */
    get: { id: "getErrorGroup", call: "GET /v1/error-groups/{fingerprint}" },
  },
  backfills: {
    /** Show how far a backfill is. */
    get: { id: "getBackfill", call: "GET /v1/backfills/{id}" },
    /** Make no more runs of a backfill. */
    abort: { id: "abortBackfill", call: "POST /v1/backfills/{id}:abort" },
  },
  limits: {
    /** List limits. */
    list: { id: "listLimits", call: "GET /v1/limits", query: true },
    /** Get a limit. */
    get: { id: "getLimit", call: "GET /v1/limits/{id}" },
    /** Change a limit. */
    update: { id: "updateLimit", call: "PATCH /v1/limits/{id}", body: true },
    /** Let the runs behind a failed one go on. */
    resume: { id: "resumeLimit", call: "POST /v1/limits/{id}:resume" },
  },
  queues: {
    /** List queues by name. */
    list: { id: "listQueues", call: "GET /v1/queues", query: true },
    /** Get a queue. */
    get: { id: "getQueue", call: "GET /v1/queues/{name}" },
    /** Change a queue, or make it. */
    update: { id: "updateQueue", call: "PATCH /v1/queues/{name}", body: true },
    /** Hand out nothing of a queue. */
    pause: { id: "pauseQueue", call: "POST /v1/queues/{name}:pause", body: true },
    /** Hand out runs of a queue again. */
    resume: { id: "resumeQueue", call: "POST /v1/queues/{name}:resume" },
    /** End all runs of a queue that wait. */
    purge: { id: "purgeQueue", call: "POST /v1/queues/{name}:purge", body: true },
    /** What waits and works in a queue. */
    stats: { id: "getQueueStats", call: "GET /v1/queues/{name}/stats" },
  },
  breakers: {
    /** List circuit breakers that have opened, by name. */
    list: { id: "listBreakers", call: "GET /v1/breakers", query: true },
    /** Get a circuit breaker. */
    get: { id: "getBreaker", call: "GET /v1/breakers/{name}" },
    /** Close a circuit breaker. */
    reset: { id: "resetBreaker", call: "POST /v1/breakers/{name}:reset" },
  },
  namespaces: {
    /** List namespaces by name. */
    list: { id: "listNamespaces", call: "GET /v1/namespaces", query: true },
    /** Make a namespace. */
    create: { id: "createNamespace", call: "POST /v1/namespaces", body: true },
    /** Get a namespace. */
    get: { id: "getNamespace", call: "GET /v1/namespaces/{name}" },
    /** Change a namespace. */
    update: { id: "updateNamespace", call: "PATCH /v1/namespaces/{name}", body: true },
  },
  calendars: {
    /** List calendars by name. */
    list: { id: "listCalendars", call: "GET /v1/calendars", query: true },
    /** Get a calendar. */
    get: { id: "getCalendar", call: "GET /v1/calendars/{name}" },
    /** Create or replace a calendar. */
    put: { id: "putCalendar", call: "PUT /v1/calendars/{name}", body: true },
    /** Delete a calendar. */
    delete: { id: "deleteCalendar", call: "DELETE /v1/calendars/{name}" },
  },
  maintenanceWindows: {
    /** List maintenance windows by name. */
    list: { id: "listWindows", call: "GET /v1/maintenance-windows", query: true },
    /** Get a maintenance window. */
    get: { id: "getWindow", call: "GET /v1/maintenance-windows/{name}" },
    /** Create or replace a maintenance window. */
    put: { id: "putWindow", call: "PUT /v1/maintenance-windows/{name}", body: true },
    /** Delete a maintenance window. */
    delete: { id: "deleteWindow", call: "DELETE /v1/maintenance-windows/{name}" },
  },
  webhooks: {
    /** Tell an endpoint of the ends of runs. */
    create: { id: "createWebhook", call: "POST /v1/webhooks", body: true },
    /** List webhook endpoints, newest first. */
    list: { id: "listWebhooks", call: "GET /v1/webhooks", query: true },
    /** Get a webhook endpoint. */
    get: { id: "getWebhook", call: "GET /v1/webhooks/{id}" },
    /** Change a webhook endpoint. */
    update: { id: "updateWebhook", call: "PATCH /v1/webhooks/{id}", body: true },
    /** Remove a webhook endpoint. */
    delete: { id: "deleteWebhook", call: "DELETE /v1/webhooks/{id}" },
    /** Give a webhook endpoint a new secret. */
    rotateSecret: { id: "rotateWebhookSecret", call: "POST /v1/webhooks/{id}:rotateSecret", body: true },
    /** Send a message that says it is a test. */
    test: { id: "testWebhook", call: "POST /v1/webhooks/{id}:test" },
    /** What was sent to a webhook endpoint, newest first. */
    deliveries: { id: "listDeliveries", call: "GET /v1/webhooks/{id}/deliveries", query: true },
    /** Get what became of one message. */
    delivery: { id: "getDelivery", call: "GET /v1/webhooks/{id}/deliveries/{delivery}" },
    /** Send a message again. */
    redeliver: { id: "redeliver", call: "POST /v1/webhooks/{id}/deliveries/{delivery}:redeliver" },
    /** Give the namespace a new secret for callbacks. */
    rotateCallbackSecret: { id: "rotateCallbackSecret", call: "POST /v1/callback-secret:rotate", body: true },
  },
  workers: {
    /** List the workers that live, newest first. */
    list: { id: "listWorkers", call: "GET /v1/workers", query: true },
    /** Get a worker. */
    get: { id: "getWorker", call: "GET /v1/workers/{id}" },
    /** List the runs that a worker has or had, newest first. */
    runs: { id: "listWorkerRuns", call: "GET /v1/workers/{id}/runs", query: true },
    /** Give a worker nothing more. */
    cordon: { id: "cordonWorker", call: "POST /v1/workers/{id}:cordon" },
    /** Give a worker runs again. */
    uncordon: { id: "uncordonWorker", call: "POST /v1/workers/{id}:uncordon" },
    /** Tell a worker to end. */
    drain: { id: "drainWorker", call: "POST /v1/workers/{id}:drain", body: true },
  },
  tasks: {
    /** List tasks by name. */
    list: { id: "listTasks", call: "GET /v1/tasks", query: true },
    /** Get a task. */
    get: { id: "getTask", call: "GET /v1/tasks/{name}" },
  },
  /** Show the nodes of the cluster. */
  cluster: { id: "getCluster", call: "GET /v1/cluster" },
  /** Whether the node can do its work. */
  ready: { id: "getReadyz", call: "GET /readyz", alsoGood: [503] },
  /** What runs here. */
  version: { id: "getVersion", call: "GET /version" },
} as const satisfies Readonly<Record<string, Route | Readonly<Record<string, Route>>>>;
