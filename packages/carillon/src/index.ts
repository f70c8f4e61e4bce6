export { ApiError, type Client, type ClientOptions, createClient, ServerUnreachable } from "@carillon/client";
export { CarillonError } from "@carillon/core";
export {
  type Callback,
  checkedAddresses,
  type CreateExecutors,
  type Executor,
  type ExecutorHost,
  faultsOf,
  NonRetryableError,
  type PayloadFault,
  PayloadReader,
  RetryAfterError,
  RunStoppedError,
  SnoozeError,
  type TaskContext,
  type UpstreamRun,
} from "@carillon/worker";
export type { AppEvent, AppWorker, Enqueued, EnqueueItem, Producer, Scheduled, WorkerSettings } from "./sdk/app.js";
export { carillon } from "./sdk/carillon.js";
export type { LibraryApp, TransactionOptions } from "./sdk/library-app.js";
export type { LibraryOptions, Role } from "./sdk/library-engine.js";
export type { RemoteApp } from "./sdk/remote-app.js";
export type { EnqueueOptions, ScheduleOptions, TaskReference } from "./sdk/requests.js";
export type { StandardSchema } from "./sdk/standard-schema.js";
export {
  type BatchItem,
  type BreakerOptions,
  type RetryOptions,
  type RunDefaults,
  task,
  type TaskDefinition,
} from "./sdk/task.js";
