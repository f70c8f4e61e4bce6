export { builtInTasks } from "./executors/built-in.js";
export { AddressRules } from "./outbound/address-rules.js";
export { type HttpAnswer, type HttpCall, httpCall, HttpTimeoutError } from "./outbound/http-call.js";
export { checkedAddresses, closedAddress, type HostAddress, type ResolveHost } from "./outbound/resolve-host.js";
export type { PayloadFault } from "./payload/payload-fault.js";
export { faultsOf, PayloadError, PayloadReader, type TextRules } from "./payload/payload-reader.js";
export { enqueueTraced } from "./trace/enqueue-span.js";
export { activeTraceParent, beginSpan, type OpenSpan } from "./trace/span.js";
export { environmentSecrets, secretName, type Secrets } from "./secrets/secrets.js";
export type { CreateExecutors, ExecutorHost } from "./runtime/executor-host.js";
export { NonRetryableError, RetryAfterError, RunStoppedError, SnoozeError, type StopReason } from "./runtime/errors.js";
export type {
  Callback,
  Checkpoint,
  Executor,
  OnceOptions,
  PreviousSuccess,
  Task,
  TaskContext,
  TaskHandler,
  TaskLog,
  UpstreamRun,
} from "./runtime/task.js";
export { type FollowOptions, followWork, type RemoteWork } from "./runtime/follow-work.js";
export type { AppWorker, Enqueued, EnqueueItem, Producer, Scheduled, WorkerSettings } from "./sdk/app.js";
export { carillon, serverOfEnvironment } from "./sdk/carillon.js";
export { RemoteApp } from "./sdk/remote-app.js";
export type { EnqueueOptions, ScheduleOptions, TaskReference } from "./sdk/options.js";
export { jobRequest, runRequest, soundPayloadText } from "./sdk/requests.js";
export type { StandardSchema } from "./sdk/standard-schema.js";
export {
  type BatchItem,
  type BreakerOptions,
  type CallbackOptions,
  type RetryOptions,
  type RunDefaults,
  task,
  type TaskDefinition,
  type TaskInput,
  type TaskOutput,
} from "./sdk/task.js";
export { WorkerGroup, type WorkerGroupOptions } from "./sdk/worker-group.js";
export { wireDefaults } from "./sdk/wire-defaults.js";
export { workerTask } from "./sdk/worker-task.js";
export { workerTimers } from "./sdk/worker-timers.js";
export type { Registration, StartedRun, Transport, TransportEvents } from "./runtime/transport.js";
export { type Attempt, type AttemptOptions, runAttempt } from "./runtime/run-attempt.js";
export type { WorkerTimers } from "./runtime/timers.js";
export { wait } from "./runtime/wait.js";
export { Worker } from "./runtime/worker.js";
export { FewOfEach } from "./runtime/few-of-each.js";
export type { WorkerEvent, WorkerOptions } from "./runtime/worker-options.js";
export { type LocalGateway, LocalTransport } from "./transport/local/local-transport.js";
export type { Heart } from "./transport/http/heart/heart.js";
export { loopHeart } from "./transport/http/heart/loop-heart.js";
export { HttpTransport, type HttpTransportOptions } from "./transport/http/http-transport.js";
