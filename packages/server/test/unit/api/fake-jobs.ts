import {
  CarillonError,
  compileSchedule,
  type Instant,
  type JobSpec,
  previewSchedule,
  statusOfJob,
} from "@carillon/core";
import type {
  CancelRequest,
  ChangeContext,
  CreatedJob,
  JobRef,
  JobStats,
  JobVersionView,
  JobView,
  OccurrenceView,
  Page,
  PageRequest,
  PauseRequest,
  ResumeRequest,
  RunNowRequest,
  TotalRequest,
} from "@carillon/engine";
import { type FilterOfRows, matches, runOf } from "./fake-runs.js";
import { checkVersion, FakeComponent, pageBy, pageOf, type Port, uuid } from "./fake-state.js";

/** Jobs in memory: created and changed, but never due. */
export class FakeJobs extends FakeComponent implements Port<"jobs"> {
  readonly stored = this.state.jobs;
  readonly storedVersions: JobVersionView[] = [];
  readonly storedOccurrences: (OccurrenceView & { readonly id: string })[] = [];
  /** The skipped occurrences that a resume reports. */
  missed = 0;
  /** The method, the request and the context of the last change. */
  lastChange: unknown[] = [];

  async create(_namespace: string, spec: JobSpec): Promise<JobView> {
    this.state.failOnce();
    if (spec.key !== undefined && this.stored.some((job) => job.key === spec.key)) {
      throw new CarillonError("key_taken", `The key ${spec.key} belongs to another job.`);
    }
    const now = this.state.now();
    const id = uuid(this.stored.length + 1);
    const { schedule } = spec;
    const lastRun = schedule.kind === "at" ? runOf(id, spec, { at: schedule.at, now }) : null;
    const times = { createdAt: now, updatedAt: now };
    const state = { state: "active" as const, pause: null, version: 1, neighbours: [], lastRun };
    const job: JobView = { id, ...definitionOf(id, spec, now), ...state, ...times };
    this.stored.unshift(job);
    if (lastRun !== null) this.state.runs.unshift(lastRun);
    return job;
  }

  async createMany(namespace: string, specs: readonly JobSpec[]): Promise<CreatedJob[]> {
    return Promise.all(
      specs.map((spec) =>
        this.create(namespace, spec).then(
          ({ id }) => ({ id }),
          (error: unknown) => ({ error }),
        ),
      ),
    );
  }

  async get(_namespace: string, ref: JobRef): Promise<JobView | null> {
    return this.state.findJob(ref);
  }

  async list(_namespace: string, filter: FilterOfRows, page: PageRequest): Promise<Page<JobView>> {
    this.state.failOnce();
    return pageOf(
      this.stored.filter((job) => matches(filter, job, statusOf(job))),
      page,
    );
  }

  async total(_namespace: string, filter: FilterOfRows, accuracy: TotalRequest) {
    return { count: this.stored.filter((job) => matches(filter, job, statusOf(job))).length, accuracy };
  }

  async byKeys(_namespace: string, keys: readonly string[]): Promise<readonly JobView[]> {
    this.state.failOnce();
    return this.stored.filter(({ key, state }) => key !== null && state !== "cancelled" && keys.includes(key));
  }

  async edit(
    _namespace: string,
    ref: JobRef,
    edit: (current: JobSpec, now: Instant) => JobSpec,
    context: ChangeContext,
  ): Promise<JobView> {
    const now = this.state.now();
    return this.#change(ref, context, (job) => {
      const { key, owner } = job;
      const current = { ...specOf(job), ...(key !== null && { key }), ...(owner !== null && { owner }) };
      return definitionOf(job.id, edit(current, now), now);
    });
  }

  async upsert(
    namespace: string,
    key: string,
    define: (current: JobSpec | null, now: Instant) => JobSpec,
    context: ChangeContext,
  ) {
    if ((await this.get(namespace, { key })) !== null) {
      return { job: await this.edit(namespace, { key }, define, context), created: false };
    }
    checkVersion(context, undefined);
    return { job: await this.create(namespace, define(null, this.state.now())), created: true };
  }

  async rollback(_namespace: string, ref: JobRef, version: number, context: ChangeContext): Promise<JobView> {
    const found = this.storedVersions.find((one) => one.version === version);
    if (found === undefined) throw new CarillonError("version_unknown", `the job has no version ${version}`);
    return this.#change(ref, context, (job) => definitionOf(job.id, found.spec, this.state.now()));
  }

  async pause(_namespace: string, ref: JobRef, request: PauseRequest, context: ChangeContext): Promise<JobView> {
    this.lastChange = ["pause", request, context];
    const pause = { ...request, actor: context.actor, at: this.state.now() };
    return this.#change(ref, context, () => ({ state: "paused", pause, nextRunAt: request.until }));
  }

  async resume(_namespace: string, ref: JobRef, request: ResumeRequest, context: ChangeContext) {
    this.lastChange = ["resume", request, context];
    return { job: this.#change(ref, context, () => ({ state: "active", pause: null })), missed: this.missed };
  }

  async countMissed(): Promise<number> {
    return this.missed;
  }

  async cancel(_namespace: string, ref: JobRef, request: CancelRequest, context: ChangeContext): Promise<JobView> {
    this.lastChange = ["cancel", request, context];
    const job = this.state.requireJob(ref);
    if (job.state === "cancelled") return job;
    return this.#change(ref, context, () => ({ state: "cancelled", nextRunAt: null }));
  }

  async runNow(_namespace: string, ref: JobRef, request: RunNowRequest, context: ChangeContext) {
    this.lastChange = ["runNow", request, context];
    const job = this.state.requireJob(ref);
    if (job.state === "cancelled") throw new CarillonError("job_ended", "the job is cancelled");
    const { firing: _, ...spec } = specOf(job);
    const payload = request.payload === undefined ? job.payload : request.payload.value;
    const { runs } = this.state;
    const now = this.state.now();
    const id = uuid(1_000 + runs.length);
    const trigger = { kind: "run_now" as const, id, scheduledFor: now };
    const run = { ...runOf(id, { ...spec, payload }, { at: now, now }), jobId: job.id, trigger };
    runs.unshift(run);
    return run;
  }

  async versions(_namespace: string, ref: JobRef, page: PageRequest): Promise<Page<JobVersionView>> {
    this.state.requireJob(ref);
    return pageBy(this.storedVersions, page, ({ version }) => String(version));
  }

  async occurrences(_namespace: string, ref: JobRef, page: PageRequest): Promise<Page<OccurrenceView>> {
    this.state.requireJob(ref);
    return pageOf(this.storedOccurrences, page);
  }

  async upcoming(_namespace: string, ref: JobRef, count: number) {
    const { id, schedule } = this.state.requireJob(ref);
    return previewSchedule(schedule, { jobId: id }, { from: this.state.now(), count }).fires;
  }

  async stats(_namespace: string, ref: JobRef): Promise<JobStats> {
    this.state.requireJob(ref);
    const none = { finished: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0, retried: 0 };
    return { ...none, firstAt: null, lastAt: null, durationP50Ms: null, durationP95Ms: null, lagP95Ms: null };
  }

  #change(ref: JobRef, context: ChangeContext, change: (job: JobView) => Partial<JobView>): JobView {
    const job = this.state.requireJob(ref);
    if (job.state === "cancelled") throw new CarillonError("job_ended", "the job is cancelled");
    checkVersion(context, job.version);
    const changed = { ...job, ...change(job), version: job.version + 1, updatedAt: this.state.now() };
    this.stored[this.stored.indexOf(job)] = changed;
    return changed;
  }
}

function statusOf({ state, schedule, lastRun }: JobView) {
  return statusOfJob({ state, oneOff: schedule.kind === "at", run: lastRun?.status ?? null });
}

/** The part of a job that its spec determines. */
function definitionOf(id: string, spec: JobSpec, now: Instant) {
  const { key = null, owner = null, firing = {}, schedule } = spec;
  const next = schedule.kind === "at" ? schedule.at : compileSchedule(schedule, { jobId: id }).next(now)?.fireAt;
  return { ...spec, key, owner, firing, nextRunAt: next ?? null };
}

function specOf(job: JobView): JobSpec {
  const { task, queue, priority, payload, schedule, policy, firing, labels } = job;
  return { task, queue, priority, payload, schedule, policy, firing, labels };
}
