import { systemClock, systemSoon, systemTimers } from "@carillon/core";
import { createExecutorHost, emailExecutor, httpExecutor } from "@carillon/executors";
import type { Executor, PayloadFault } from "@carillon/worker";
import type { Config } from "../config/options.js";

export const nodeTimers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };

/**
 * The executors of the worker inside a node: http, and email where there is a mail server. `url` is where the node listens; null
 * before it does.
 */
export function nodeExecutors(
  { outboundAllow, publicUrl, workerSlots }: Config,
  env: NodeJS.ProcessEnv,
  url: () => string | null,
): readonly Executor[] {
  if (workerSlots === 0) return [];
  const callbackBase = (): string | null => publicUrl ?? url();
  const host = createExecutorHost({ timers: nodeTimers, env, outboundAllow: outboundAllow ?? [], callbackBase });
  const hasMail = (env["CARILLON_SMTP_URL"] ?? "") !== "";
  return [httpExecutor(host), ...(hasMail ? [emailExecutor(host)] : [])];
}

/** What is wrong with a payload of one of these; nothing of any other task. */
export function payloadFaults(
  executors: readonly Executor[],
): (task: string, payload: unknown) => readonly PayloadFault[] {
  return (task, payload) => executors.find(({ name }) => name === task)?.check(payload) ?? [];
}
