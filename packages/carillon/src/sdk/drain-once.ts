import { type Instant, systemTimers } from "@carillon/core";
import type { Engine } from "@carillon/engine";

export interface DrainOptions {
  readonly api: Engine["api"];
  readonly namespace: string;
  readonly tasks: readonly string[];
  /** The database's clock. */
  readonly now: () => Instant;
}

const lookMs = 20;

/** Resolves when no run of these tasks is due or under way. */
export async function waitUntilIdle({ api, namespace, tasks, now }: DrainOptions): Promise<void> {
  const isLeft = async (task: string): Promise<boolean> => {
    const open = await api.listRuns(namespace, { task, status: ["queued", "running", "blocked"] }, { pageSize: 1 });
    if (open.rows.length > 0) return true;
    const waiting = await api.listRuns(namespace, { task, status: ["scheduled", "retrying"] }, { pageSize: 1_000 });
    return waiting.rows.some((run) => run.runAt <= now());
  };
  for (;;) {
    const left = await Promise.all(tasks.map(isLeft));
    if (!left.includes(true)) return;
    await new Promise<void>((resolve) => void systemTimers.setTimeout(resolve, lookMs));
  }
}
