import { CarillonError, formatId } from "@carillon/core";
import {
  type DeadLetterFilter,
  type ErrorGroupView,
  type GroupPlace,
  isDatabaseAway,
  type RedriveView,
} from "@carillon/store";
import { afterCommit } from "../after-commit.js";
import type { EngineContext } from "../context.js";
import { type ChangeContext, type Page, type PageRequest, toPage } from "../requests.js";
import { type RunReader, type RunView, toRunView } from "../runs/run-reader.js";
import { ErrorTally } from "./error-tally.js";
import { type Repeated, type RepeatRequest, RunRepeater, type RunRepeaterDeps } from "./run-repeater.js";

export interface RedriveResult {
  readonly id: string;
  /** The run that takes its place. */
  readonly runId?: string;
  readonly error?: unknown;
}

export interface DeadLettersDeps extends RunRepeaterDeps {
  readonly runs: Pick<RunReader, "find">;
}

/** Runs that failed for good, their retries and replays, and the groups of errors. */
export class DeadLetters {
  readonly repeater: RunRepeater;
  readonly #context: EngineContext;
  readonly #deps: DeadLettersDeps;

  constructor(context: EngineContext, deps: DeadLettersDeps) {
    this.#context = context;
    this.#deps = deps;
    this.repeater = new RunRepeater(context, deps);
    const tally = new ErrorTally(context);
    context.loops.register("errors", () => tally.tick());
    context.wakeups.on("run.failed", (run) => tally.add(run));
  }

  list(namespace: string, filter: DeadLetterFilter, page: PageRequest): Promise<Page<RunView>> {
    return this.#context.inNamespace(namespace, (id) => this.#page(id, filter, page));
  }

  /** The retries, replays and discards of a run, oldest first. */
  redrivesOf(namespace: string, runId: string): Promise<readonly RedriveView[]> {
    const { store, db, inNamespace } = this.#context;
    return inNamespace(namespace, async (id) => {
      const rows = await store.failures.redriven(db, id, [runId]);
      return rows.map(({ kind, runId: newId, actor, at }) => ({ kind, runId: newId, actor, at }));
    });
  }

  /** Retries a page of dead letters, each by itself: a run that cannot be retried does not stop the others. */
  redrive(
    namespace: string,
    filter: DeadLetterFilter,
    page: PageRequest,
    change: ChangeContext,
  ): Promise<Page<RedriveResult>> {
    return this.#context.inNamespace(namespace, async (id) => {
      const { rows, next } = await this.#page(id, filter, page);
      const results: RedriveResult[] = [];
      // One after the other: each locks its job, and the newest failures of a job must not block each other.
      for (const run of rows) {
        const retry = () => redriven(run, () => this.repeater.retry(id, run, {}, change));
        results.push(await (results.length === 0 ? retry() : afterCommit(retry)));
      }
      return { rows: results, next };
    });
  }

  /** Discards a page of dead letters; returns those that were not discarded before. */
  discard(
    namespace: string,
    filter: DeadLetterFilter,
    page: PageRequest,
    { actor }: ChangeContext,
  ): Promise<Page<RedriveResult>> {
    return this.#context.inNamespace(namespace, async (id) => {
      const { rows, next } = await this.#page(id, filter, page);
      const ids = rows.map((run) => run.id);
      const discarded = await this.#context.store.failures.discard(id, ids, actor);
      return { rows: discarded.map((one) => ({ id: one })), next };
    });
  }

  /** Throws not_found, run_not_failed. */
  discardRun(namespace: string, runId: string, { actor }: ChangeContext): Promise<void> {
    return this.#context.inNamespace(namespace, async (id) => {
      const run = await this.#run(id, runId);
      if (run.status !== "failed")
        throw new CarillonError("run_not_failed", `The run ${formatId("run", runId)} is ${run.status}.`);
      await this.#context.store.failures.discard(id, [runId], actor);
    });
  }

  /** Makes a run in the place of a failed one; a second call returns the same run. */
  retryRun(
    namespace: string,
    runId: string,
    request: RepeatRequest,
    change: ChangeContext,
  ): Promise<{ readonly run: RunView; readonly isNew: boolean }> {
    return this.#context.inNamespace(namespace, async (id) => {
      const made = await this.repeater.retry(id, await this.#run(id, runId), request, change);
      return { run: await afterCommit(() => this.#run(id, made.id)), isNew: made.isNew };
    });
  }

  /** Makes another run like an ended one, with every call. */
  replayRun(namespace: string, runId: string, request: RepeatRequest, change: ChangeContext): Promise<RunView> {
    return this.#context.inNamespace(namespace, async (id) => {
      const made = await this.repeater.replay(id, await this.#run(id, runId), request, change);
      return afterCommit(() => this.#run(id, made));
    });
  }

  /** Error groups, the latest seen first. A group that is seen again while a caller reads pages may be missed; it is never shown twice. */
  listErrorGroups(
    namespace: string,
    { task }: { readonly task?: string },
    { pageSize, after }: PageRequest,
  ): Promise<Page<ErrorGroupView>> {
    return this.#context.inNamespace(namespace, async (id) => {
      const place = after === undefined ? null : placeOf(after);
      const rows = await this.#context.store.failures.groups(id, task ?? null, place, pageSize + 1);
      return toPage(rows, pageSize, (row) => `${row.lastSeenAt} ${row.fingerprint}`);
    });
  }

  getErrorGroup(namespace: string, fingerprint: string): Promise<ErrorGroupView | null> {
    return this.#context.inNamespace(namespace, (id) => this.#context.store.failures.group(id, fingerprint));
  }

  async #page(id: number, filter: DeadLetterFilter, { pageSize, after }: PageRequest): Promise<Page<RunView>> {
    const rows = await this.#context.store.failures.deadLetters(id, filter, after ?? null, pageSize + 1);
    return toPage(
      rows.map((row) => toRunView(row, null)),
      pageSize,
      (run) => run.id,
    );
  }

  async #run(namespaceId: number, id: string): Promise<RunView> {
    const run = await this.#deps.runs.find(namespaceId, id);
    if (run === null) throw new CarillonError("not_found", `There is no run ${formatId("run", id)}.`);
    return run;
  }
}

async function redriven({ id }: RunView, retry: () => Promise<Repeated>): Promise<RedriveResult> {
  try {
    return { id, runId: (await retry()).id };
  } catch (error) {
    if (error instanceof CarillonError && !isDatabaseAway(error)) return { id, error };
    throw error;
  }
}

function placeOf(after: string): GroupPlace {
  const [seenAt = "", fingerprint = ""] = after.split(" ");
  return { seenAt: Number(seenAt), fingerprint };
}
