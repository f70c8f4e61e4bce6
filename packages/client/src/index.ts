export {
  type BackfillRange,
  type Client,
  createClient,
  type JobCalls,
  type JobReference,
  type LogFilter,
  type RunCalls,
} from "./client.js";
export { ApiError, type ApiErrorCode, problemError, ServerUnreachable } from "./errors.js";
export type { EventCalls, EventNews, FollowOptions } from "./events.js";
export { clientOptions } from "./options.js";
export type { CallOptions, ClientOptions } from "./transport.js";
export type { Job, JobCreate, RetryRequest, Run, RunBatchCreated, RunCreate, TaskDefaults } from "@carillon/contract";
export type {
  StateRequest,
  WorkerHeartbeatAnswer,
  WorkerPollAnswer,
  WorkerRegistered,
  WorkerStateAnswer,
} from "@carillon/contract";
