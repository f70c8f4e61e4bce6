export type { BackfillCalls } from "./backfills.js";
export type { CalendarCalls, WindowCalls } from "./calendars.js";
export type { QueueCalls } from "./queues.js";
export { type Client, createClient } from "./client.js";
export { ApiError, type ApiErrorCode, ServerUnreachable } from "./errors.js";
export type { BackfillRange, JobCalls, JobReference } from "./jobs.js";
export type { RunCalls } from "./runs.js";
export type { CallOptions, ChangeOptions, ClientOptions } from "./transport.js";
export type { WorkerHeard, WorkerNote, WorkerNoted, WorkerPolled, WorkerRegistered } from "@carillon/contract";
