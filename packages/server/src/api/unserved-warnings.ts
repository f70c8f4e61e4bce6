import type { Warning } from "@carillon/contract";
import { isFinal, type RunPolicy } from "@carillon/core";
import type { JobView, RunView } from "@carillon/engine";
import { executorNames } from "@carillon/executors";
import type { ApiEngine } from "./http/handler.js";

interface Unserved {
  readonly code: string;
  readonly detail: string;
  readonly similarTask?: string;
}

/** The part of a new job or run that decides which workers can take it. */
interface ToServe {
  readonly task: string;
  readonly queue: string;
  readonly policy: Pick<RunPolicy, "requires">;
}

/** Warns about new runs that no worker can take: by a wrong name, or because the worker is yet to be started. */
export async function unservedWarnings(
  { workers }: Pick<ApiEngine, "workers">,
  namespace: string,
  specs: readonly ToServe[],
): Promise<Warning[]> {
  const kinds = new Map<string, ToServe>();
  for (const spec of specs) {
    const { task, queue, policy } = spec;
    kinds.set(JSON.stringify([task, queue, policy.requires ?? null]), spec);
  }
  const found = new Map<string, Warning>();
  for (const one of kinds.values()) {
    // The call has taken effect: a read that fails must not make it fail.
    const unserved = await workers.whyUnserved(namespace, one).catch(() => null);
    if (unserved !== null) found.set(unserved.detail, toWarning(one, unserved));
  }
  return [...found.values()];
}

/** The same for a job that may have runs to come. */
export async function unservedJobWarnings(engine: ApiEngine, namespace: string, job: JobView): Promise<Warning[]> {
  return job.state === "active" || job.state === "paused" ? unservedWarnings(engine, namespace, [job]) : [];
}

/** The same for a run that waits. */
export async function unservedRunWarnings(engine: ApiEngine, namespace: string, run: RunView): Promise<Warning[]> {
  return run.status === "running" || isFinal(run.status) ? [] : unservedWarnings(engine, namespace, [run]);
}

function toWarning(one: ToServe, { code, detail, similarTask }: Unserved): Warning {
  const meant = similarTask === undefined ? "" : `; a worker serves the similar task ${similarTask}`;
  const start = startOf(one, code);
  const hint = start === null ? "" : `; to start a worker: ${start}`;
  return { code, detail: `${detail}, so its runs wait${meant}${hint}` };
}

/** The command that starts a worker for the task; null: more is missing than a worker. */
function startOf({ task, queue }: ToServe, code: string): string | null {
  if (code !== "no_worker_for_task" && code !== "no_worker_for_queue") return null;
  const what =
    task === "shell"
      ? "--enable-shell"
      : executorNames.some((name) => name === task)
        ? `--executors ${task}`
        : "./tasks.js";
  // Without --queues a worker serves every queue.
  return `carillon worker start ${what}${code === "no_worker_for_queue" ? ` --queues ${queue}` : ""}`;
}
