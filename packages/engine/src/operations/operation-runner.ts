import { CarillonError, type DurationMs, type RunStatus } from "@carillon/core";
import {
  type BulkTarget,
  type FailureStore,
  isDatabaseAway,
  type OperationAction,
  type OperationFailure,
  type OperationStore,
  type StoredOperation,
} from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { RunRepeater } from "../dead-letters/run-repeater.js";
import type { RunChanger } from "../runs/run-changer.js";
import type { RunLister } from "../runs/run-lister.js";
import type { RunReader, RunView } from "../runs/run-reader.js";

interface TargetPageRequest {
  readonly namespaceId: number;
  readonly action: OperationAction;
  readonly target: BulkTarget;
  readonly cursor: string | null;
  readonly pageSize: number;
}

interface TargetPage {
  readonly runs: readonly RunView[];
  /** Requested ids that no run has. */
  readonly missing: readonly string[];
  /** Where the next page begins; null: this is the last. */
  readonly cursor: string | null;
}

/** A run in any other status is skipped. */
const statusesOf: Readonly<Record<OperationAction, readonly RunStatus[]>> = {
  cancel: ["scheduled", "queued", "blocked", "running", "retrying"],
  retry: ["failed"],
  discard: ["failed"],
  purge: ["scheduled", "queued", "blocked", "retrying"],
};

export interface BulkTargetsDeps {
  readonly lister: Pick<RunLister, "list">;
  readonly runs: Pick<RunReader, "findMany">;
}

/** The runs of an operation, page by page, newest first. */
export class BulkTargets {
  readonly #deps: BulkTargetsDeps;

  constructor(deps: BulkTargetsDeps) {
    this.#deps = deps;
  }

  async page(request: TargetPageRequest): Promise<TargetPage> {
    const { target } = request;
    return "ids" in target ? this.#byId(request, target.ids) : this.#byFilter(request, target.filter);
  }

  async #byId({ namespaceId, cursor, pageSize }: TargetPageRequest, ids: readonly string[]): Promise<TargetPage> {
    const { runs } = this.#deps;
    const from = cursor === null ? 0 : Number(cursor);
    const part = ids.slice(from, from + pageSize);
    const found = await runs.findMany(namespaceId, part);
    const next = from + part.length;
    return {
      runs: part.flatMap((id) => found.get(id) ?? []),
      missing: part.filter((id) => !found.has(id)),
      cursor: next < ids.length ? String(next) : null,
    };
  }

  async #byFilter(
    request: TargetPageRequest,
    filter: Extract<BulkTarget, { filter: unknown }>["filter"],
  ): Promise<TargetPage> {
    const { namespaceId, action, cursor, pageSize } = request;
    const possible = statusesOf[action];
    const status = filter.status === undefined ? possible : possible.filter((one) => filter.status?.includes(one));
    if (status.length === 0) return { runs: [], missing: [], cursor: null };
    const page = await this.#deps.lister.list(namespaceId, { ...filter, status }, { pageSize, after: cursor });
    return { runs: page.rows, missing: [], cursor: page.next };
  }
}

type Context = Pick<EngineContext, "membership"> & {
  readonly store: {
    readonly operations: Pick<OperationStore, "due" | "step" | "sweep">;
    readonly failures: Pick<FailureStore, "discard">;
  };
};

export interface OperationRunnerDeps extends BulkTargetsDeps {
  readonly changer: Pick<RunChanger, "cancelMany" | "purgeMany">;
  readonly repeater: Pick<RunRepeater, "retry">;
}

/** Runs of one step: an abort waits for at most these. */
const pageSize = 200;
/** Operations that take a step in one tick. */
const maxOperations = 10;
/** Failures that an operation records. */
const maxFailures = 100;
/** An operation whose wakeup was lost, or whose node died, is found after at most this time. */
const scanIntervalMs: DurationMs = 1_000;
const retentionMs: DurationMs = 30 * 86_400_000;

/** Takes the steps of the operations in this node's shards. One tick is one step of each. */
export class OperationRunner {
  readonly #context: Context;
  readonly #deps: OperationRunnerDeps;
  readonly #targets: BulkTargets;

  constructor(context: Context, deps: OperationRunnerDeps) {
    this.#context = context;
    this.#deps = deps;
    this.#targets = new BulkTargets(deps);
  }

  /** Returns how long the next tick can wait. A step that fails does not delay other operations. */
  async tick(): Promise<DurationMs> {
    const { membership } = this.#context;
    const { operations } = this.#context.store;
    const { shards } = membership();
    if (shards.length === 0) return scanIntervalMs;
    const due = await operations.due(shards, maxOperations);
    const failures: unknown[] = [];
    for (const one of due) await this.#step(one).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
    if (due.length === 0 && membership().epochs.has(0)) await operations.sweep(retentionMs, maxOperations);
    return due.length > 0 ? 0 : scanIntervalMs;
  }

  /** Takes the first steps of an operation and returns its state after them. The owner of its shard may take them too: each counts once. */
  async takeSteps(operation: StoredOperation, steps: number): Promise<StoredOperation> {
    let current = operation;
    for (let taken = 0; taken < steps && current.state === "running"; taken += 1)
      current = (await this.#step(current)) ?? current;
    return current;
  }

  async #step(operation: StoredOperation): Promise<StoredOperation | null> {
    const { namespaceId, action, target, cursor } = operation;
    const page = await this.#targets.page({ namespaceId, action, target, cursor, pageSize });
    const { done, failed } = await this.#act(operation, page.runs);
    const missing = page.missing.map((id) => ({ id, code: "not_found", detail: "There is no such run." }));
    const refused = [...missing, ...failed];
    return this.#context.store.operations.step(operation, {
      cursor: page.cursor,
      seen: page.runs.length + missing.length,
      done,
      failed: refused.length,
      failures: [...operation.failures, ...refused].slice(0, maxFailures),
      isLast: page.cursor === null,
    });
  }

  async #act(operation: StoredOperation, runs: readonly RunView[]): Promise<Outcome> {
    const { changer } = this.#deps;
    const { namespaceId, action, actor } = operation;
    if (runs.length === 0) return { done: 0, failed: [] };
    const ids = runs.map((run) => run.id);
    if (action === "cancel") return { done: (await changer.cancelMany(namespaceId, ids)).size, failed: [] };
    if (action === "purge") return { done: (await changer.purgeMany(namespaceId, ids)).size, failed: [] };
    if (action === "retry") return this.#retry(operation, runs);
    const deadLetters = runs.filter((run) => run.status === "failed");
    const discarded = await this.#context.store.failures.discard(
      namespaceId,
      deadLetters.map((run) => run.id),
      actor,
    );
    return { done: discarded.length, failed: runs.filter((run) => run.status !== "failed").map(notFailed) };
  }

  /** One after the other: each locks its job. A run that was retried before gets the same retry. */
  async #retry({ namespaceId, actor, trace }: StoredOperation, runs: readonly RunView[]): Promise<Outcome> {
    const failed: OperationFailure[] = [];
    const context = { actor, ...(trace !== null && { trace }) };
    let done = 0;
    for (const run of runs) {
      try {
        if ((await this.#deps.repeater.retry(namespaceId, run, {}, context)).isNew) done += 1;
      } catch (error) {
        if (!(error instanceof CarillonError) || isDatabaseAway(error)) throw error;
        failed.push({ id: run.id, code: error.code, detail: error.message });
      }
    }
    return { done, failed };
  }
}

interface Outcome {
  readonly done: number;
  readonly failed: readonly OperationFailure[];
}

function notFailed({ id, status }: RunView): OperationFailure {
  return { id, code: "run_not_failed", detail: `The run is ${status}.` };
}
