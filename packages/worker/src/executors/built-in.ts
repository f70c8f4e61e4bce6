import type { Task } from "../runtime/task.js";
import type { WorkerTimers } from "../runtime/timers.js";
import { echo } from "./echo.js";
import { fail } from "./fail.js";
import { sleepTask } from "./sleep.js";

/** The tasks that every node can run without any code of the user's. */
export function builtInTasks(timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">): Task[] {
  return [echo, sleepTask(timers), fail];
}
