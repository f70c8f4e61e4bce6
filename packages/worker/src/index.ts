export { builtInTasks } from "./executors/built-in.js";
export { NonRetryableError, RetryAfterError, RunStoppedError, SnoozeError } from "./runtime/errors.js";
export type { Task, TaskContext, TaskHandler } from "./runtime/task.js";
export type { Registration, StartedRun, Transport, TransportEvents } from "./runtime/transport.js";
export type { WorkerTimers } from "./runtime/timers.js";
export { Worker, type WorkerEvent, type WorkerOptions } from "./runtime/worker.js";
export { type LocalGateway, LocalTransport } from "./transport/local/local-transport.js";
