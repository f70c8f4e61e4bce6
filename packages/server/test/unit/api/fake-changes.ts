import { CarillonError, type Instant, type JobSpec, previewSchedule } from "@carillon/core";
import type {
  CancelRequest,
  ChangeContext,
  JobChanges,
  JobRef,
  JobVersionView,
  JobView,
  OccurrenceView,
  Page,
  PageRequest,
  PauseRequest,
  ResumeRequest,
  RunNowRequest,
} from "@carillon/engine";
import { definitionOf, FakeJobs, pageOf, runOf, uuid } from "./fake-engine.js";

/** Changes of jobs in memory: stored and returned, without any fire. */
export class FakeChanges extends FakeJobs implements JobChanges {
  /** The skipped occurrences that a resume reports. */
  missed = 0;
  readonly versions: JobVersionView[] = [];
  readonly occurrences: (OccurrenceView & { readonly id: string })[] = [];
  /** The arguments and the context of the last change. */
  asked: unknown[] = [];

  async editJob(
    _namespace: string,
    ref: JobRef,
    edit: (current: JobSpec, now: Instant) => JobSpec,
    context: ChangeContext,
  ): Promise<JobView> {
    const now = this.now();
    return this.#change(ref, context, (job) => {
      const { key, owner, ...rest } = job;
      const current = { ...specOf(rest), ...(key !== null && { key }), ...(owner !== null && { owner }) };
      return definitionOf(job.id, edit(current, now), now);
    });
  }

  async upsertJob(
    namespace: string,
    key: string,
    define: (current: JobSpec | null, now: Instant) => JobSpec,
    context: ChangeContext,
  ) {
    if ((await this.getJob(namespace, { key })) !== null) {
      return { job: await this.editJob(namespace, { key }, define, context), created: false };
    }
    if (context.ifVersion !== undefined) throw new CarillonError("precondition_failed", "there is no such job");
    return { job: await this.createJob(namespace, define(null, this.now())), created: true };
  }

  async rollbackJob(_namespace: string, ref: JobRef, version: number, context: ChangeContext): Promise<JobView> {
    const found = this.versions.find((one) => one.version === version);
    if (found === undefined) throw new CarillonError("version_unknown", `the job has no version ${version}`);
    return this.#change(ref, context, (job) => definitionOf(job.id, found.spec, this.now()));
  }

  async pauseJob(_namespace: string, ref: JobRef, request: PauseRequest, context: ChangeContext): Promise<JobView> {
    this.asked = ["pause", request, context];
    const pause = { ...request, actor: context.actor, at: this.now() };
    return this.#change(ref, context, () => ({ state: "paused", pause, nextRunAt: request.until }));
  }

  async resumeJob(_namespace: string, ref: JobRef, request: ResumeRequest, context: ChangeContext) {
    this.asked = ["resume", request, context];
    return { job: this.#change(ref, context, () => ({ state: "active", pause: null })), missed: this.missed };
  }

  async countMissed(): Promise<number> {
    return this.missed;
  }

  async cancelJob(_namespace: string, ref: JobRef, request: CancelRequest, context: ChangeContext): Promise<JobView> {
    this.asked = ["cancel", request, context];
    const job = this.found(ref);
    if (job.state === "cancelled") return job;
    return this.#change(ref, context, () => ({ state: "cancelled", nextRunAt: null }));
  }

  async runNow(_namespace: string, ref: JobRef, request: RunNowRequest, context: ChangeContext) {
    this.asked = ["runNow", request, context];
    const job = this.found(ref);
    if (job.state === "cancelled") throw new CarillonError("job_ended", "the job is cancelled");
    const { firing: _, ...spec } = specOf(job);
    const payload = request.payload === undefined ? job.payload : request.payload.value;
    const id = uuid(1_000 + this.runs.length);
    const run = {
      ...runOf(id, { ...spec, payload }, { at: this.now(), now: this.now() }),
      jobId: job.id,
      trigger: { kind: "run_now" as const, id, scheduledFor: this.now() },
    };
    this.runs.unshift(run);
    return run;
  }

  async listVersions(_namespace: string, ref: JobRef, page: PageRequest): Promise<Page<JobVersionView>> {
    this.found(ref);
    return pageOf(
      this.versions.map((row) => ({ ...row, id: String(row.version) })),
      page,
    );
  }

  async listOccurrences(_namespace: string, ref: JobRef, page: PageRequest): Promise<Page<OccurrenceView>> {
    this.found(ref);
    return pageOf(this.occurrences, page);
  }

  async upcoming(_namespace: string, ref: JobRef, count: number) {
    const job = this.found(ref);
    return previewSchedule(job.schedule, { jobId: job.id }, { from: this.now(), count }).fires;
  }

  found(ref: JobRef): JobView {
    this.failOnce();
    const job = this.jobs.find((one) => ("id" in ref ? one.id === ref.id : one.key === ref.key));
    if (job === undefined) throw new CarillonError("not_found", "there is no such job");
    return job;
  }

  #change(ref: JobRef, { ifVersion }: ChangeContext, change: (job: JobView) => Partial<JobView>): JobView {
    const job = this.found(ref);
    if (job.state === "cancelled") throw new CarillonError("job_ended", "the job is cancelled");
    if (ifVersion !== undefined && ifVersion !== job.version) {
      throw new CarillonError("precondition_failed", `the job has version ${job.version}, not ${ifVersion}`);
    }
    const changed = { ...job, ...change(job), version: job.version + 1, updatedAt: this.now() };
    this.jobs[this.jobs.indexOf(job)] = changed;
    return changed;
  }
}

function specOf(job: Omit<JobView, "key" | "owner">): JobSpec {
  const { task, queue, priority, payload, schedule, policy, firing, labels } = job;
  return { task, queue, priority, payload, schedule, policy, firing, labels };
}
