export { builtInTasks } from "./executors/built-in.js";
export { NonRetryableError, RetryAfterError, RunStoppedError, SnoozeError, type StopReason } from "./runtime/errors.js";
export type {
  Checkpoint,
  OnceOptions,
  PreviousSuccess,
  Task,
  TaskContext,
  TaskHandler,
  TaskLog,
} from "./runtime/task.js";
export type { Registration, StartedRun, Transport, TransportEvents } from "./runtime/transport.js";
export { type Attempt, type AttemptOptions, runAttempt } from "./runtime/run-attempt.js";
export type { WorkerTimers } from "./runtime/timers.js";
export { Worker, type WorkerEvent, type WorkerOptions } from "./runtime/worker.js";
export { type LocalGateway, LocalTransport } from "./transport/local/local-transport.js";
export type { Heart } from "./transport/http/heart/heart.js";
export { loopHeart } from "./transport/http/heart/loop-heart.js";
export { HttpTransport, type HttpTransportOptions } from "./transport/http/http-transport.js";
