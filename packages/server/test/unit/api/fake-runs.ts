import { type CallbackAnswer, CarillonError, type EnqueueSpec, type Instant, type JobSpec } from "@carillon/core";
import type {
  BegunCall,
  CallbackTaken,
  EnqueuedRun,
  KeptAnswer,
  KeyedCall,
  LogPage,
  LogRequest,
  JobView,
  Page,
  PageRequest,
  RunLine,
  RunView,
  TotalRequest,
} from "@carillon/engine";
import { FakeComponent, pageOf, type Port, uuid } from "./fake-state.js";

/** Runs in memory, which change only by calls. */
export class FakeRuns extends FakeComponent implements Port<"runs"> {
  readonly stored = this.state.runs;
  /** The log lines of every run. */
  readonly lines: RunLine[] = [];

  async get(_namespace: string, id: string): Promise<RunView | null> {
    this.state.failOnce();
    return this.stored.find((run) => run.id === id) ?? null;
  }

  async wait(_namespace: string, id: string): Promise<RunView | null> {
    return this.stored.find((run) => run.id === id && run.finishedAt !== null) ?? null;
  }

  async list(_namespace: string, filter: FilterOfRuns, page: PageRequest): Promise<Page<RunView>> {
    this.state.failOnce();
    return pageOf(this.#matching(filter), page);
  }

  async total(_namespace: string, filter: FilterOfRuns, accuracy: TotalRequest) {
    return { count: this.#matching(filter).length, accuracy };
  }

  async cancel(_namespace: string, id: string): Promise<RunView> {
    return this.#change(id, (run) =>
      run.finishedAt === null ? { status: "cancelled", finishedAt: this.state.now() } : {},
    );
  }

  async reschedule(_namespace: string, id: string, runAt: Instant): Promise<RunView> {
    return this.#change(id, (run) => {
      if (run.finishedAt !== null) throw new CarillonError("run_not_waiting", "it has ended");
      return { status: "scheduled", runAt };
    });
  }

  async logs(_namespace: string, id: string, request: LogRequest): Promise<LogPage | null> {
    this.state.failOnce();
    if (!this.stored.some((run) => run.id === id)) return null;
    const { fence = 0, number = 0 } = request.after ?? {};
    const rest = this.lines.filter((line) => line.fence > fence || (line.fence === fence && line.number > number));
    const hasMore = rest.length > request.pageSize;
    return { lines: rest.slice(0, request.pageSize), hasMore, isEnd: !hasMore && request.waitMs === undefined };
  }

  #matching(filter: FilterOfRuns): RunView[] {
    const { jobId, workerId } = filter;
    return this.stored.filter(
      (run) =>
        matches(filter, run, run.status) &&
        (jobId === undefined || run.jobId === jobId) &&
        (workerId === undefined || run.workerId === workerId),
    );
  }

  #change(id: string, change: (run: RunView) => Partial<RunView>): RunView {
    const run = this.state.requireRun(id);
    const changed = { ...run, ...change(run) };
    this.stored[this.stored.indexOf(run)] = changed;
    return changed;
  }
}

/** Adds runs to the stored ones. */
export class FakeEnqueuer extends FakeComponent implements Port<"enqueuer"> {
  /** The deduplication key of each run that was enqueued with one. */
  readonly #keys = new Map<string, string>();

  readonly #once = new Map<string, RunView>();

  async enqueueOnce(namespace: string, spec: EnqueueSpec, id: string): Promise<{ run: RunView; isRepeat: boolean }> {
    const before = this.#once.get(id);
    if (before !== undefined) return { run: before, isRepeat: true };
    const { run } = await this.enqueueAndRead(namespace, spec);
    this.#once.set(id, run);
    return { run, isRepeat: false };
  }

  enqueueManyOnce(namespace: string, specs: readonly EnqueueSpec[]): Promise<EnqueuedRun[]> {
    return this.enqueueMany(namespace, specs);
  }

  async enqueueAndRead(_namespace: string, spec: EnqueueSpec): Promise<{ run: RunView; isNew: boolean }> {
    this.state.failOnce();
    const { runs } = this.state;
    const { dedupe } = spec;
    const held = runs.find((run) => dedupe !== undefined && this.#keys.get(run.id) === dedupe.key);
    if (held !== undefined && dedupe?.on === "reject") throw new CarillonError("run_duplicate", "it is there already");
    if (held !== undefined) return { run: held, isNew: false };
    const now = this.state.now();
    const at = spec.runAt ?? now;
    const run = runOf(uuid(runs.length + 1), { ...spec, schedule: { kind: "at", at } }, { at, now });
    runs.unshift(run);
    if (dedupe !== undefined) this.#keys.set(run.id, dedupe.key);
    return { run, isNew: true };
  }

  async enqueueMany(namespace: string, specs: readonly EnqueueSpec[]): Promise<EnqueuedRun[]> {
    return Promise.all(
      specs.map((spec) =>
        this.enqueueAndRead(namespace, spec).then(
          ({ run, isNew }) => ({ id: run.id, isNew }),
          (error: unknown) => ({ error }),
        ),
      ),
    );
  }
}

/** Idempotency keys in memory; a call with one has no transaction for its effect. */
export class FakeIdempotencyKeys implements Port<"idempotencyKeys"> {
  readonly #calls = new Map<string, { request: string; answer?: KeptAnswer }>();

  async begin(namespace: string, { caller, key, request }: KeyedCall): Promise<BegunCall> {
    const place = JSON.stringify([namespace, caller, key]);
    const row = this.#calls.get(place);
    if (row !== undefined && row.request !== request) return { state: "other" };
    if (row !== undefined) return row.answer === undefined ? { state: "busy" } : { state: "done", answer: row.answer };
    this.#calls.set(place, { request });
    return {
      state: "own",
      receipt: { keep: async () => undefined },
      answered: async (answer) => void this.#calls.set(place, { request, answer }),
      failed: async () => void this.#calls.delete(place),
    };
  }
}

/** Runs that wait for a callback. */
export class FakeWaitingRuns extends FakeComponent implements Port<"waitingRuns"> {
  /** By the hash of the callback's token; null until the callback. */
  readonly answers = new Map<string, CallbackAnswer | null>();

  async answer(tokenHash: string, answer: CallbackAnswer): Promise<CallbackTaken> {
    this.state.failOnce();
    const before = this.answers.get(tokenHash);
    if (before === undefined) return "unknown";
    if (before !== null) return "used";
    this.answers.set(tokenHash, answer);
    return "taken";
  }
}

/** The part of a filter that the fakes apply, for jobs and runs. */
export interface FilterOfRows {
  readonly status?: readonly string[];
  readonly task?: string;
  readonly queue?: string;
  readonly owner?: string;
}

interface FilterOfRuns extends FilterOfRows {
  readonly jobId?: string;
  readonly workerId?: string;
}

export function matches(filter: FilterOfRows, row: JobView | RunView, status: string): boolean {
  return (
    (filter.status === undefined || filter.status.includes(status)) &&
    (filter.task === undefined || filter.task === row.task) &&
    (filter.queue === undefined || filter.queue === row.queue) &&
    (filter.owner === undefined || filter.owner === row.owner)
  );
}

/** A new run of a job with this spec. */
export function runOf(
  id: string,
  spec: JobSpec,
  { at, now }: { readonly at: Instant; readonly now: Instant },
): RunView {
  const { task, queue, priority, payload, policy, labels, owner = null } = spec;
  return {
    id,
    jobId: id,
    task,
    queue,
    priority,
    status: at <= now ? "queued" : "scheduled",
    statusReason: null,
    trigger: { kind: "once", id: null, scheduledFor: at },
    runAt: at,
    createdAt: now,
    startedAt: null,
    finishedAt: null,
    attempt: 0,
    deadlineAt: null,
    maxAttempts: policy.retry?.maxAttempts ?? 5,
    losses: 0,
    workerId: null,
    progress: null,
    payload,
    policy,
    output: null,
    error: null,
    attempts: [],
    labels,
    owner,
  };
}
