export type { TimeInput } from "@carillon/contract/check";
export { builtInTasks } from "./executors/built-in.js";
export {
  type CreateExecutors,
  environmentSecrets,
  type Executor,
  type ExecutorHost,
  type PayloadFault,
  secretName,
  type Secrets,
} from "./executors/executor.js";
export { type FollowOptions, followWork, type RemoteWork } from "./executors/follow-work.js";
export { faultsOf, PayloadError, PayloadReader, type TextRules } from "./executors/payload-reader.js";
export {
  AddressRules,
  checkedAddresses,
  closedAddress,
  type HostAddress,
  type ResolveHost,
} from "./outbound/addresses.js";
export { type HttpAnswer, type HttpCall, httpCall, HttpTimeoutError } from "./outbound/http-call.js";
export { NonRetryableError, RetryAfterError, RunStoppedError, SnoozeError, type StopReason } from "./runtime/errors.js";
export { type Attempt, type AttemptOptions, runAttempt } from "./runtime/execute.js";
export type {
  Callback,
  Checkpoint,
  CreatedRun,
  OnceOptions,
  PreviousSuccess,
  Task,
  TaskContext,
  TaskHandler,
  TaskLog,
  UpstreamRun,
} from "./runtime/task.js";
export { wait, type WorkerTimers, workerTimers } from "./runtime/timers.js";
export type {
  CreateRuns,
  ParentRun,
  Registration,
  StartedRun,
  Transport,
  TransportEvents,
} from "./runtime/transport.js";
export { Worker, type WorkerEvent, type WorkerOptions } from "./runtime/worker.js";
export type { AppWorker, Producer, Scheduled, ScheduleOptions, WorkerSettings } from "./sdk/app.js";
export { enqueueItems, isTask, taskListOption, testEnqueueOptions, transactionOptions } from "./sdk/call-options.js";
export { checkRunCall, checkScheduleCall, checkTime, checkWorkerSettings } from "./sdk/check-calls.js";
export { carillon, RemoteApp, serverFromEnvironment, serverOfFolder } from "./sdk/carillon.js";
export { announceServer, answersAs, type LocalServer, type LocalServers, localServers } from "./sdk/local-server.js";
export { jobRequest, payloadJson, runRequest, wireDefaults } from "./sdk/requests.js";
export { taskRefusal } from "./sdk/task-refusal.js";
export { task } from "./sdk/define-task.js";
export { LogThrottle } from "./sdk/stderr-reporter.js";
export {
  type BatchItem,
  type BreakerOptions,
  type CallbackOptions,
  type ChildItem,
  type ChildOptions,
  type Enqueued,
  type EnqueueItem,
  type EnqueueOptions,
  type HandlerContext,
  type RetryOptions,
  type RunDefaults,
  type StandardSchema,
  type TaskDefinition,
  type TaskInput,
  type TaskOutput,
  type TaskReference,
} from "./sdk/task.js";
export { WorkerGroup, type WorkerGroupOptions } from "./sdk/worker-group.js";
export { workerTask } from "./sdk/worker-task.js";
export { activeTraceParent, beginSpan, enqueueTraced, type OpenSpan } from "./trace/span.js";
export { mainLoopHeartbeat, type StartHeartbeat } from "./transport/http/heartbeat.js";
export { ServerRefused } from "./transport/http/server-calls.js";
export { HttpTransport, type HttpTransportOptions } from "./transport/http/http-transport.js";
export { type LocalGateway, LocalTransport } from "./transport/local-transport.js";
