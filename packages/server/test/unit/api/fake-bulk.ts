import { CarillonError } from "@carillon/core";
import type {
  BackfillRequest,
  BackfillView,
  BulkCount,
  BulkRequest,
  ChangeContext,
  DeadLetterFilter,
  ErrorGroupView,
  JobRef,
  OperationView,
  Page,
  PageRequest,
  RedriveResult,
  RedriveView,
  RepeatRequest,
  RunView,
} from "@carillon/engine";
import type { FakeQueues } from "./fake-catalog.js";
import { checkVersion, FakeComponent, type FakeState, pageBy, pageOf, type Port, uuid } from "./fake-state.js";

/** Backfills that make no progress. */
export class FakeBackfills extends FakeComponent implements Port<"backfills"> {
  readonly stored: BackfillView[] = [];
  /** The request and the context of the last start. */
  lastStart: unknown[] = [];

  /** Any range in the past has seven occurrences. */
  async count(_namespace: string, ref: JobRef, request: BackfillRequest): Promise<number> {
    this.state.requireJob(ref);
    if (request.to > this.state.now()) throw new CarillonError("backfill_invalid", "The range is in the future.");
    return 7;
  }

  async start(namespace: string, ref: JobRef, request: BackfillRequest, context: ChangeContext): Promise<BackfillView> {
    this.lastStart = [request, context];
    const { id: jobId, version } = this.state.requireJob(ref);
    checkVersion(context, version);
    const total = await this.count(namespace, ref, request);
    const id = uuid(2_000 + this.stored.length);
    const counts = { total, made: 0, passed: 0, skipped: 0, through: null };
    const { actor } = context;
    const times = { createdAt: this.state.now(), finishedAt: null };
    const view: BackfillView = { ...request, id, jobId, state: "running", reason: null, ...counts, actor, ...times };
    this.stored.unshift(view);
    return view;
  }

  async get(_namespace: string, id: string): Promise<BackfillView | null> {
    this.state.failOnce();
    return this.stored.find((one) => one.id === id) ?? null;
  }

  async list(_namespace: string, ref: JobRef, page: PageRequest): Promise<Page<BackfillView>> {
    const { id } = this.state.requireJob(ref);
    return pageOf(
      this.stored.filter((one) => one.jobId === id),
      page,
    );
  }

  async abort(namespace: string, id: string): Promise<BackfillView | null> {
    const found = await this.get(namespace, id);
    if (found === null || found.state !== "running") return found;
    const aborted = { ...found, state: "aborted" as const, reason: "asked", finishedAt: this.state.now() };
    this.stored[this.stored.indexOf(found)] = aborted;
    return aborted;
  }
}

/** Dead letters: the runs that the test stored as failed. */
export class FakeDeadLetters extends FakeComponent implements Port<"deadLetters"> {
  readonly groups: ErrorGroupView[] = [];
  /** The request of the last retry or replay. */
  lastRepeat: RepeatRequest | undefined;
  readonly #redrives = new Map<string, RedriveView[]>();

  async list(_namespace: string, filter: DeadLetterFilter, page: PageRequest): Promise<Page<RunView>> {
    this.state.failOnce();
    const { runs } = this.state;
    const isMatch = (run: RunView): boolean =>
      run.status === "failed" &&
      !this.#redrives.has(run.id) &&
      (filter.task === undefined || run.task === filter.task) &&
      (filter.jobId === undefined || run.jobId === filter.jobId) &&
      (filter.fingerprint === undefined || run.error?.fingerprint === filter.fingerprint);
    // The start of a page does not depend on changes of the runs before it.
    const from = page.after === undefined ? 0 : runs.findIndex((run) => run.id === page.after) + 1;
    return pageOf(runs.slice(from).filter(isMatch), { pageSize: page.pageSize });
  }

  async redrivesOf(_namespace: string, runId: string): Promise<readonly RedriveView[]> {
    return this.#redrives.get(runId) ?? [];
  }

  async retryRun(_namespace: string, runId: string, request: RepeatRequest) {
    const run = this.#failed(runId);
    const before = this.#redrives.get(runId)?.find((one) => one.kind === "retry")?.runId;
    const known = this.state.runs.find((one) => one.id === before);
    if (known !== undefined) return { run: known, isNew: false };
    return { run: this.#repeat(run, "retry", request), isNew: true };
  }

  async replayRun(_namespace: string, runId: string, request: RepeatRequest): Promise<RunView> {
    return this.#repeat(this.#ended(runId), "replay", request);
  }

  /** Refuses the runs of the queue `busy`. */
  async redrive(namespace: string, filter: DeadLetterFilter, page: PageRequest): Promise<Page<RedriveResult>> {
    const { rows, next } = await this.list(namespace, filter, page);
    const results = rows.map((run): RedriveResult => {
      if (run.queue === "busy") return { id: run.id, error: new CarillonError("overlap_refused", "one is live") };
      return { id: run.id, runId: this.#repeat(run, "retry", {}).id };
    });
    return { rows: results, next };
  }

  async discard(namespace: string, filter: DeadLetterFilter, page: PageRequest): Promise<Page<RedriveResult>> {
    const { rows, next } = await this.list(namespace, filter, page);
    for (const { id } of rows) await this.discardRun(namespace, id);
    return { rows: rows.map(({ id }) => ({ id })), next };
  }

  async discardRun(_namespace: string, runId: string): Promise<void> {
    this.#note(this.#failed(runId).id, "discard", null);
  }

  async listErrorGroups(
    _namespace: string,
    filter: { readonly task?: string },
    page: PageRequest,
  ): Promise<Page<ErrorGroupView>> {
    return pageBy(
      this.groups.filter(({ tasks }) => filter.task === undefined || tasks.includes(filter.task)),
      page,
      ({ lastSeenAt, fingerprint }) => `${lastSeenAt} ${fingerprint}`,
    );
  }

  async getErrorGroup(_namespace: string, fingerprint: string): Promise<ErrorGroupView | null> {
    return this.groups.find((group) => group.fingerprint === fingerprint) ?? null;
  }

  #ended(id: string): RunView {
    const run = this.state.requireRun(id);
    if (run.finishedAt === null) throw new CarillonError("run_live", `it is ${run.status}`);
    return run;
  }

  #failed(id: string): RunView {
    const run = this.#ended(id);
    if (run.status !== "failed") throw new CarillonError("run_not_failed", `it is ${run.status}`);
    return run;
  }

  #repeat(run: RunView, kind: "retry" | "replay", request: RepeatRequest): RunView {
    this.lastRepeat = request;
    const id = uuid(5_000 + this.state.runs.length);
    const trigger = { ...run.trigger, kind, id: run.id };
    const made: RunView = { ...run, id, trigger, status: "queued", finishedAt: null, error: null };
    this.state.runs.unshift(made);
    this.#note(run.id, kind, id);
    return made;
  }

  #note(id: string, kind: RedriveView["kind"], runId: string | null): void {
    const redrive = { kind, runId, actor: null, at: this.state.now() };
    this.#redrives.set(id, [...(this.#redrives.get(id) ?? []), redrive]);
  }
}

/** Operations are stored and shown, and change nothing. */
export class FakeOperations extends FakeComponent implements Port<"operations"> {
  readonly #stored: OperationView[] = [];
  readonly #queues: FakeQueues;

  constructor(state: FakeState, queues: FakeQueues) {
    super(state);
    this.#queues = queues;
  }

  async start(_namespace: string, { action, target }: BulkRequest): Promise<OperationView> {
    return this.#add({ action, target });
  }

  async count(): Promise<BulkCount> {
    return { count: this.state.runs.length, isLowerBound: false };
  }

  /** A purge of the queue `many` continues as an operation. */
  async purgeQueue(_namespace: string, queue: string): Promise<OperationView | null> {
    if (!this.#queues.stored.has(queue)) return null;
    const operation = this.#add({ action: "purge", target: { filter: { queue } } });
    return queue === "many" ? operation : { ...operation, state: "done", seen: 3, done: 3 };
  }

  async countPurge(_namespace: string, queue: string): Promise<BulkCount | null> {
    return this.#queues.stored.has(queue) ? { count: 3, isLowerBound: false } : null;
  }

  async get(_namespace: string, id: string): Promise<OperationView | null> {
    return this.#stored.find((one) => one.id === id) ?? null;
  }

  async list(_namespace: string, page: PageRequest): Promise<Page<OperationView>> {
    return pageOf(this.#stored, page);
  }

  async abort(namespace: string, id: string): Promise<OperationView | null> {
    return this.get(namespace, id);
  }

  #add(request: Pick<OperationView, "action" | "target">): OperationView {
    this.state.failOnce();
    const at = this.state.now();
    const counts = { seen: 0, done: 0, failed: 0, failures: [] };
    const times = { createdAt: at, updatedAt: at, finishedAt: null };
    const id = uuid(this.#stored.length + 1);
    const state = { state: "running" as const, stateReason: null, actor: null };
    const operation: OperationView = { id, ...request, ...state, ...counts, ...times };
    this.#stored.unshift(operation);
    return operation;
  }
}
