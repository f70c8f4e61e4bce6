// Made by scripts/generate/client.mjs from the operations in packages/contract. Do not edit.
import type { Route } from "../methods.js";

export const routes = {
  jobs: {
    /** Create a job. */
    create: { id: "createJob", call: "POST /v1/jobs", body: true },
    /** List jobs, newest first. */
    list: { id: "listJobs", call: "GET /v1/jobs", query: true },
    /** Create many jobs at once. */
    createMany: { id: "createJobs", call: "POST /v1/jobs:batchCreate", body: "jobs" },
    /** Preview a job. */
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
    /** Roll back to an earlier definition. */
    rollback: { id: "rollbackJob", call: "POST /v1/jobs/{id}:rollback", body: "version" },
    /** Run a job now. */
    runNow: { id: "runJobNow", call: "POST /v1/jobs/{id}:runNow", body: true, wait: true },
    /** List the runs of a job, newest first. */
    runs: { id: "listJobRuns", call: "GET /v1/jobs/{id}/runs", query: true },
    /** List the versions of a job, newest first. */
    versions: { id: "listJobVersions", call: "GET /v1/jobs/{id}/versions", query: true },
    /** List the occurrences without a scheduled run, newest first. */
    occurrences: { id: "listJobOccurrences", call: "GET /v1/jobs/{id}/occurrences", query: true },
    /** List the next fires of a job. */
    upcoming: { id: "listJobUpcoming", call: "GET /v1/jobs/{id}/upcoming", query: true },
    /** Get statistics of the last runs of a job. */
    stats: { id: "getJobStats", call: "GET /v1/jobs/{id}/stats" },
    /** Retry the last run of a job. */
    retry: { id: "retryJob", call: "POST /v1/jobs/{id}:retry", body: true },
    /** Explain whether and when a job fires. */
    explain: { id: "explainJob", call: "GET /v1/jobs/{id}/explain" },
    /** Forecast the fires of the next hours. */
    forecast: { id: "getForecast", call: "GET /v1/forecast", query: true },
    /** Backfill a job. */
    backfill: { id: "backfillJob", call: "POST /v1/jobs/{id}:backfill", body: true },
    /** List the backfills of a job, newest first. */
    backfills: { id: "listJobBackfills", call: "GET /v1/jobs/{id}/backfills", query: true },
  },
  runs: {
    /** Create a run. */
    create: { id: "createRun", call: "POST /v1/runs", body: true, wait: true },
    /** Create many runs at once. */
    createMany: { id: "createRuns", call: "POST /v1/runs:batchCreate", body: "runs" },
    /** List runs, newest first. */
    list: { id: "listRuns", call: "GET /v1/runs", query: true },
    /** Get a run. */
    get: { id: "getRun", call: "GET /v1/runs/{id}", wait: true },
    /** Read the log of a run. */
    logs: { id: "listRunLogs", call: "GET /v1/runs/{id}/logs", query: true },
    /** List the attempts of a run, oldest first. */
    attempts: { id: "listRunAttempts", call: "GET /v1/runs/{id}/attempts" },
    /** List the events of a run, oldest first. */
    events: { id: "listRunEvents", call: "GET /v1/runs/{id}/events" },
    /** Cancel a run. */
    cancel: { id: "cancelRun", call: "POST /v1/runs/{id}:cancel" },
    /** Reschedule a run. */
    reschedule: { id: "rescheduleRun", call: "POST /v1/runs/{id}:reschedule", body: true },
    /** Apply one action to many runs. */
    bulk: { id: "bulkRuns", call: "POST /v1/runs:bulk", body: true },
    /** Explain why a run does not run. */
    explain: { id: "explainRun", call: "GET /v1/runs/{id}/explain" },
    /** Retry a failed run. */
    retry: { id: "retryRun", call: "POST /v1/runs/{id}:retry", body: true },
    /** Replay a run that has ended. */
    replay: { id: "replayRun", call: "POST /v1/runs/{id}:replay", body: true },
  },
  operations: {
    /** List operations, newest first. */
    list: { id: "listOperations", call: "GET /v1/operations", query: true },
    /** Get an operation. */
    get: { id: "getOperation", call: "GET /v1/operations/{id}" },
    /** Abort an operation. */
    abort: { id: "abortOperation", call: "POST /v1/operations/{id}:abort" },
  },
  deadLetters: {
    /** List dead letters, newest first. */
    list: { id: "listDeadLetters", call: "GET /v1/dead-letters", query: true },
    /** Retry dead letters by filter. */
    redriveMany: { id: "redriveDeadLetters", call: "POST /v1/dead-letters:redrive", body: true },
    /** Discard dead letters by filter. */
    discardMany: { id: "discardDeadLetters", call: "POST /v1/dead-letters:discard", body: true },
    /** Get a dead letter. */
    get: { id: "getDeadLetter", call: "GET /v1/dead-letters/{id}" },
    /** Discard a dead letter. */
    discard: { id: "discardDeadLetter", call: "POST /v1/dead-letters/{id}:discard" },
  },
  errorGroups: {
    /** List error groups, latest first. */
    list: { id: "listErrorGroups", call: "GET /v1/error-groups", query: true },
    /** Get an error group. */
    get: { id: "getErrorGroup", call: "GET /v1/error-groups/{fingerprint}" },
  },
  backfills: {
    /** Get a backfill. */
    get: { id: "getBackfill", call: "GET /v1/backfills/{id}" },
    /** Abort a backfill. */
    abort: { id: "abortBackfill", call: "POST /v1/backfills/{id}:abort" },
  },
  limits: {
    /** List limits. */
    list: { id: "listLimits", call: "GET /v1/limits", query: true },
    /** Get a limit. */
    get: { id: "getLimit", call: "GET /v1/limits/{id}" },
    /** Change a limit. */
    update: { id: "updateLimit", call: "PATCH /v1/limits/{id}", body: true },
    /** Resume an ordering key. */
    resume: { id: "resumeLimit", call: "POST /v1/limits/{id}:resume" },
  },
  queues: {
    /** List queues by name. */
    list: { id: "listQueues", call: "GET /v1/queues", query: true },
    /** Get a queue. */
    get: { id: "getQueue", call: "GET /v1/queues/{name}" },
    /** Create or change a queue. */
    update: { id: "updateQueue", call: "PATCH /v1/queues/{name}", body: true },
    /** Pause a queue. */
    pause: { id: "pauseQueue", call: "POST /v1/queues/{name}:pause", body: true },
    /** Resume a queue. */
    resume: { id: "resumeQueue", call: "POST /v1/queues/{name}:resume" },
    /** Purge a queue. */
    purge: { id: "purgeQueue", call: "POST /v1/queues/{name}:purge", body: true },
    /** Get the statistics of a queue. */
    stats: { id: "getQueueStats", call: "GET /v1/queues/{name}/stats" },
  },
  breakers: {
    /** List circuit breakers by name. */
    list: { id: "listBreakers", call: "GET /v1/breakers", query: true },
    /** Get a circuit breaker. */
    get: { id: "getBreaker", call: "GET /v1/breakers/{name}" },
    /** Close a circuit breaker. */
    reset: { id: "resetBreaker", call: "POST /v1/breakers/{name}:reset" },
  },
  namespaces: {
    /** List namespaces by name. */
    list: { id: "listNamespaces", call: "GET /v1/namespaces", query: true },
    /** Create a namespace. */
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
    /** Create a webhook endpoint. */
    create: { id: "createWebhook", call: "POST /v1/webhooks", body: true },
    /** List webhook endpoints, newest first. */
    list: { id: "listWebhooks", call: "GET /v1/webhooks", query: true },
    /** Get a webhook endpoint. */
    get: { id: "getWebhook", call: "GET /v1/webhooks/{id}" },
    /** Change a webhook endpoint. */
    update: { id: "updateWebhook", call: "PATCH /v1/webhooks/{id}", body: true },
    /** Delete a webhook endpoint. */
    delete: { id: "deleteWebhook", call: "DELETE /v1/webhooks/{id}" },
    /** Rotate the secret of a webhook endpoint. */
    rotateSecret: { id: "rotateWebhookSecret", call: "POST /v1/webhooks/{id}:rotateSecret", body: true },
    /** Send a test message. */
    test: { id: "testWebhook", call: "POST /v1/webhooks/{id}:test" },
    /** List the deliveries of a webhook endpoint, newest first. */
    deliveries: { id: "listDeliveries", call: "GET /v1/webhooks/{id}/deliveries", query: true },
    /** Get a delivery. */
    delivery: { id: "getDelivery", call: "GET /v1/webhooks/{id}/deliveries/{delivery}" },
    /** Redeliver a message. */
    redeliver: { id: "redeliver", call: "POST /v1/webhooks/{id}/deliveries/{delivery}:redeliver" },
    /** Rotate the callback secret of the namespace. */
    rotateCallbackSecret: { id: "rotateCallbackSecret", call: "POST /v1/callback-secret:rotate", body: true },
  },
  workers: {
    /** List connected workers, newest first. */
    list: { id: "listWorkers", call: "GET /v1/workers", query: true },
    /** Get a worker. */
    get: { id: "getWorker", call: "GET /v1/workers/{id}" },
    /** List the runs of a worker, newest first. */
    runs: { id: "listWorkerRuns", call: "GET /v1/workers/{id}/runs", query: true },
    /** Cordon a worker. */
    cordon: { id: "cordonWorker", call: "POST /v1/workers/{id}:cordon" },
    /** Uncordon a worker. */
    uncordon: { id: "uncordonWorker", call: "POST /v1/workers/{id}:uncordon" },
    /** Drain a worker. */
    drain: { id: "drainWorker", call: "POST /v1/workers/{id}:drain", body: true },
  },
  tasks: {
    /** List tasks by name. */
    list: { id: "listTasks", call: "GET /v1/tasks", query: true },
    /** Get a task. */
    get: { id: "getTask", call: "GET /v1/tasks/{name}" },
  },
  mails: {
    /** List the mails that carillon dev caught, newest first. */
    list: { id: "listMails", call: "GET /v1/dev/mails", query: true },
    /** Get a mail that carillon dev caught. */
    get: { id: "getMail", call: "GET /v1/dev/mails/{id}" },
  },
  /** List the nodes of the cluster. */
  cluster: { id: "getCluster", call: "GET /v1/cluster" },
  /** Check that the node is ready. */
  ready: { id: "getReadyz", call: "GET /readyz", alsoGood: [503] },
  /** Get the version of the server. */
  version: { id: "getVersion", call: "GET /version" },
} as const satisfies Readonly<Record<string, Route | Readonly<Record<string, Route>>>>;
