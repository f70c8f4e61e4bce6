import { fileURLToPath } from "node:url";
import { systemClock, systemSoon, systemTimers } from "@carillon/core";
import { AddressRules, type Executor, type ExecutorHost, type TaskContext } from "@carillon/worker";

/** Has the optional libraries of executors, which only tests install (tools/package.json). */
export const toolsFolder = fileURLToPath(new URL("../../../../tools", import.meta.url));

export interface Line {
  readonly level: string;
  readonly message: string;
}

const timers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };

export function hostWith(over: Partial<ExecutorHost> = {}): ExecutorHost {
  const outbound = new AddressRules(["loopback"]);
  const secrets = { find: async (name: string) => (name === "token" ? "s3cret-value" : undefined) };
  return { timers, env: {}, now: () => Date.UTC(2026, 0, 1), secrets, outbound, ...over };
}

export interface Call extends Partial<TaskContext> {
  readonly lines?: Line[];
}

/** Runs an executor as a worker would. */
export function run(executor: Executor, payload: unknown, { lines = [], ...over }: Call = {}): Promise<unknown> {
  const { signal } = new AbortController();
  const write = (level: string) => (message: string) => void lines.push({ level, message });
  const log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const what = { runId: "r1", jobId: null, task: executor.name, queue: "default", attempt: 1, maxAttempts: 5 };
  const context = { ...what, idempotencyKey: "r1", fence: 2, scheduledFor: 0, signal, log, ...over };
  // Executors use nothing else of it.
  return Promise.resolve().then(() => executor.run(payload, context as TaskContext));
}
