import type { Task } from "../runtime/task.js";

/** Answers its payload: the shortest way to see a run go through. */
export const echo: Task = { name: "echo", run: (payload) => payload };
