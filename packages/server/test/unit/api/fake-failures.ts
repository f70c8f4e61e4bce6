import { CarillonError } from "@carillon/core";
import type {
  DeadLetterFilter,
  ErrorGroupView,
  Failures,
  Page,
  PageRequest,
  RedriveResult,
  RedriveView,
  RepeatRequest,
  RunView,
} from "@carillon/engine";
import { pageOf, uuid } from "./fake-engine.js";
import { FakeLimits } from "./fake-limits.js";

/** Dead letters in memory: the runs that the test stored as failed. */
export class FakeFailures extends FakeLimits implements Failures {
  readonly redrives = new Map<string, RedriveView[]>();
  readonly groups: ErrorGroupView[] = [];
  /** The request of the last retry or replay. */
  repeated: RepeatRequest | undefined;

  async listDeadLetters(_namespace: string, filter: DeadLetterFilter, page: PageRequest): Promise<Page<RunView>> {
    this.failOnce();
    const isWanted = (run: RunView): boolean =>
      run.status === "failed" &&
      !this.redrives.has(run.id) &&
      (filter.task === undefined || run.task === filter.task) &&
      (filter.jobId === undefined || run.jobId === filter.jobId) &&
      (filter.fingerprint === undefined || run.error?.fingerprint === filter.fingerprint);
    // The start of a page does not depend on changes of the runs before it.
    const from = page.after === undefined ? 0 : this.runs.findIndex((run) => run.id === page.after) + 1;
    return pageOf(this.runs.slice(from).filter(isWanted), { pageSize: page.pageSize });
  }

  async redrivesOf(_namespace: string, runId: string): Promise<readonly RedriveView[]> {
    return this.redrives.get(runId) ?? [];
  }

  async retryRun(_namespace: string, runId: string, request: RepeatRequest) {
    const run = this.#ended(runId);
    if (run.status !== "failed") throw new CarillonError("run_not_failed", `it is ${run.status}`);
    const before = this.redrives.get(runId)?.find((one) => one.kind === "retry")?.runId;
    const known = this.runs.find((one) => one.id === before);
    if (known !== undefined) return { run: known, isNew: false };
    return { run: this.#repeat(run, "retry", request), isNew: true };
  }

  async replayRun(_namespace: string, runId: string, request: RepeatRequest): Promise<RunView> {
    return this.#repeat(this.#ended(runId), "replay", request);
  }

  async redrive(namespace: string, filter: DeadLetterFilter, page: PageRequest): Promise<Page<RedriveResult>> {
    const { rows, next } = await this.listDeadLetters(namespace, filter, page);
    const results = rows.map((run): RedriveResult => {
      if (run.queue === "busy") return { id: run.id, error: new CarillonError("overlap_refused", "one is live") };
      return { id: run.id, runId: this.#repeat(run, "retry", {}).id };
    });
    return { rows: results, next };
  }

  async discard(namespace: string, filter: DeadLetterFilter, page: PageRequest): Promise<Page<RedriveResult>> {
    const { rows, next } = await this.listDeadLetters(namespace, filter, page);
    for (const { id } of rows) await this.discardRun(namespace, id);
    return { rows: rows.map(({ id }) => ({ id })), next };
  }

  async discardRun(_namespace: string, runId: string): Promise<void> {
    const run = this.#ended(runId);
    if (run.status !== "failed") throw new CarillonError("run_not_failed", `it is ${run.status}`);
    this.#note(runId, { kind: "discard", runId: null, actor: null, at: this.now() });
  }

  async listErrorGroups(
    _namespace: string,
    filter: { task?: string },
    page: PageRequest,
  ): Promise<Page<ErrorGroupView>> {
    const rows = this.groups.filter(({ tasks }) => filter.task === undefined || tasks.includes(filter.task));
    const from = rows.findIndex((group) => placeOf(group) === page.after) + 1;
    const shown = rows.slice(from, from + page.pageSize);
    const last = shown.at(-1);
    return { rows: shown, next: last !== undefined && rows.length > from + page.pageSize ? placeOf(last) : null };
  }

  async getErrorGroup(_namespace: string, fingerprint: string): Promise<ErrorGroupView | null> {
    return this.groups.find((group) => group.fingerprint === fingerprint) ?? null;
  }

  #ended(id: string): RunView {
    this.failOnce();
    const run = this.runs.find((one) => one.id === id);
    if (run === undefined) throw new CarillonError("not_found", "there is no such run");
    if (run.finishedAt === null) throw new CarillonError("run_live", `it is ${run.status}`);
    return run;
  }

  #repeat(run: RunView, kind: "retry" | "replay", request: RepeatRequest): RunView {
    this.repeated = request;
    const id = uuid(5_000 + this.runs.length);
    const trigger = { ...run.trigger, kind, id: run.id };
    const made: RunView = { ...run, id, trigger, status: "queued", finishedAt: null, error: null };
    this.runs.unshift(made);
    this.#note(run.id, { kind, runId: id, actor: null, at: this.now() });
    return made;
  }

  #note(id: string, redrive: RedriveView): void {
    this.redrives.set(id, [...(this.redrives.get(id) ?? []), redrive]);
  }
}

function placeOf({ lastSeenAt, fingerprint }: ErrorGroupView): string {
  return `${lastSeenAt} ${fingerprint}`;
}
