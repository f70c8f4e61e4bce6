import { CarillonError, type DurationMs } from "@carillon/core";
import type { Repeats } from "../dead-letters/repeats.js";
import type { RunView } from "../runs/run-view.js";
import type { RunChanger } from "../runs/run-changer.js";
import type { FailureStore, OperationFailure, OperationStore, StoredOperation } from "@carillon/store";
import type { BulkTargets } from "./bulk-targets.js";
import type { Membership } from "../context.js";

export interface OperationRunnerOptions {
  readonly operations: Pick<OperationStore, "due" | "step" | "sweep">;
  readonly targets: BulkTargets;
  readonly changer: Pick<RunChanger, "cancelMany" | "purgeMany">;
  readonly repeats: Pick<Repeats, "retry">;
  readonly failures: Pick<FailureStore, "discard">;
  readonly membership: () => Membership;
}

/** Items of one step: an abort waits for no more than these. */
const pageSize = 200;
/** Operations that take a step in one tick. */
const batch = 10;
/** Failures that an operation shows. */
const mostShown = 100;
/** An operation whose hint was lost, or whose node died, is found after at most this time. */
const lookMs: DurationMs = 1_000;
const keptMs: DurationMs = 30 * 86_400_000;

/** Takes the steps of operations in the shards this node owns. One tick is one step of each. */
export class OperationRunner {
  readonly #options: OperationRunnerOptions;

  constructor(options: OperationRunnerOptions) {
    this.#options = options;
  }

  /** Answers how long the next tick can wait. A step that fails does not keep other operations from theirs. */
  async tick(): Promise<DurationMs> {
    const { operations, membership } = this.#options;
    const { shards } = membership();
    if (shards.length === 0) return lookMs;
    const due = await operations.due(shards, batch);
    const failures: unknown[] = [];
    for (const one of due) await this.#step(one).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
    if (due.length === 0 && membership().epochs.has(0)) await operations.sweep(keptMs, batch);
    return due.length > 0 ? 0 : lookMs;
  }

  /** Takes its first steps at once; answers how far it came. The owner of its shard may take them too: each counts once. */
  async begin(operation: StoredOperation, steps: number): Promise<StoredOperation> {
    let current = operation;
    for (let taken = 0; taken < steps && current.state === "running"; taken += 1)
      current = (await this.#step(current)) ?? current;
    return current;
  }

  async #step(operation: StoredOperation): Promise<StoredOperation | null> {
    const { operations, targets } = this.#options;
    const { namespaceId, action, target, cursor } = operation;
    const page = await targets.page({ namespaceId, action, target, cursor, pageSize });
    const { done, failed } = await this.#act(operation, page.runs);
    const missing = page.missing.map((id) => ({ id, code: "not_found", detail: "there is no such run" }));
    const refused = [...missing, ...failed];
    return operations.step(operation, {
      cursor: page.cursor,
      seen: page.runs.length + missing.length,
      done,
      failed: refused.length,
      failures: [...operation.failures, ...refused].slice(0, mostShown),
      isLast: page.cursor === null,
    });
  }

  async #act(operation: StoredOperation, runs: readonly RunView[]): Promise<Acted> {
    const { changer, failures } = this.#options;
    const { namespaceId, action, actor } = operation;
    if (runs.length === 0) return { done: 0, failed: [] };
    const ids = runs.map((run) => run.id);
    if (action === "cancel") return { done: (await changer.cancelMany(namespaceId, ids)).size, failed: [] };
    if (action === "purge") return { done: (await changer.purgeMany(namespaceId, ids)).size, failed: [] };
    if (action === "retry") return this.#retry(operation, runs);
    const letters = runs.filter((run) => run.status === "failed");
    const discarded = await failures.discard(
      namespaceId,
      letters.map((run) => run.id),
      actor,
    );
    return { done: discarded.length, failed: runs.filter((run) => run.status !== "failed").map(notFailed) };
  }

  /** One after the other: each locks its job. What was retried before is answered with the same run. */
  async #retry({ namespaceId, actor, trace }: StoredOperation, runs: readonly RunView[]): Promise<Acted> {
    const failed: OperationFailure[] = [];
    const context = { actor, ...(trace !== null && { trace }) };
    let done = 0;
    for (const run of runs) {
      try {
        if ((await this.#options.repeats.retry(namespaceId, run, {}, context)).isNew) done += 1;
      } catch (error) {
        if (!(error instanceof CarillonError) || error.code === "database_unavailable") throw error;
        failed.push({ id: run.id, code: error.code, detail: error.message });
      }
    }
    return { done, failed };
  }
}

interface Acted {
  readonly done: number;
  readonly failed: readonly OperationFailure[];
}

function notFailed({ id, status }: RunView): OperationFailure {
  return { id, code: "run_not_failed", detail: `the run is ${status}` };
}
