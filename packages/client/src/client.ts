import type { Cluster, Readiness, Version } from "@carillon/contract";
import { type BackfillCalls, backfillCalls } from "./backfills.js";
import { type CalendarCalls, calendarCalls, type WindowCalls, windowCalls } from "./calendars.js";
import { type DeadLetterCalls, deadLetterCalls, type ErrorGroupCalls, errorGroupCalls } from "./dead-letters.js";
import { type EventCalls, eventCalls } from "./events.js";
import { type JobCalls, jobCalls } from "./jobs.js";
import { type BreakerCalls, breakerCalls } from "./breakers.js";
import { type LimitCalls, limitCalls } from "./limits.js";
import { type NamespaceCalls, namespaceCalls } from "./namespaces.js";
import { type OperationCalls, operationCalls } from "./operations.js";
import { type RunCalls, runCalls } from "./runs.js";
import { type QueueCalls, queueCalls } from "./queues.js";
import { type TaskCalls, taskCalls } from "./tasks.js";
import { type WebhookCalls, webhookCalls } from "./webhooks.js";
import { type WorkerCalls, workerCalls } from "./workers.js";
import { createStreaming, createTransport, type CallOptions, type ClientOptions } from "./transport.js";

/**
 * The HTTP API, typed. This is the wire as it is: snake_case, times and durations as text, the types that the server's own
 * schemas give. The SDK puts camelCase and its conveniences on top.
 */
export interface Client {
  readonly jobs: JobCalls;
  readonly backfills: BackfillCalls;
  readonly calendars: CalendarCalls;
  readonly maintenanceWindows: WindowCalls;
  readonly queues: QueueCalls;
  readonly namespaces: NamespaceCalls;
  readonly breakers: BreakerCalls;
  readonly limits: LimitCalls;
  readonly runs: RunCalls;
  readonly events: EventCalls;
  readonly operations: OperationCalls;
  readonly webhooks: WebhookCalls;
  readonly tasks: TaskCalls;
  readonly workers: WorkerCalls;
  readonly deadLetters: DeadLetterCalls;
  readonly errorGroups: ErrorGroupCalls;
  /** The nodes, and how much of the work has an owner. */
  cluster(options?: CallOptions): Promise<Cluster>;
  version(options?: CallOptions): Promise<Version>;
  /** What the node says of itself; a node that is not ready is an answer, not an error. */
  ready(options?: CallOptions): Promise<Readiness>;
}

export function createClient(options: ClientOptions): Client {
  const call = createTransport(options);
  const get = <Answer>(path: string, given: CallOptions = {}, query = {}) =>
    call<Answer>({ ...given, method: "GET", path, query });
  return {
    jobs: jobCalls(call),
    backfills: backfillCalls(call),
    calendars: calendarCalls(call),
    maintenanceWindows: windowCalls(call),
    queues: queueCalls(call),
    namespaces: namespaceCalls(call),
    breakers: breakerCalls(call),
    limits: limitCalls(call),
    runs: runCalls(call),
    webhooks: webhookCalls(call),
    events: eventCalls(createStreaming(options)),
    operations: operationCalls(call),
    tasks: taskCalls(call),
    workers: workerCalls(call),
    deadLetters: deadLetterCalls(call),
    errorGroups: errorGroupCalls(call),
    cluster: (given) => get<Cluster>("/v1/cluster", given),
    version: (given) => get<Version>("/version", given),
    ready: (given = {}) => call<Readiness>({ ...given, method: "GET", path: "/readyz", alsoGood: [503] }),
  };
}
