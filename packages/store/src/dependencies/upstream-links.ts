import { type AfterSchedule, CarillonError, formatId, parseId } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import type { DependencyStore, JobNames, NewDependency } from "./dependency-store.js";
import type { JobTransactionReads } from "../jobs/job-transaction-store.js";

/** A job that waits for others. */
export interface WaitingJob {
  readonly id: string;
  readonly namespaceId: number;
  readonly shard: number;
  readonly schedule: AfterSchedule;
}

/** An upstream job does not exist; it may be a one-off job that is stored as its run alone. */
export class UpstreamUnknown extends CarillonError {
  readonly schedule: AfterSchedule;

  constructor(schedule: AfterSchedule, job: string, position: number) {
    const code = "upstream_unknown";
    const detail = `There is no job ${JSON.stringify(job)} that has not ended: name one by its key or its id.`;
    super(code, detail, { items: [{ pointer: `/schedule/after/${position}/job`, code, detail }] });
    this.schedule = schedule;
  }
}

/** The dependencies of a job, with the upstream jobs locked; or the error that refuses them. */
export type ResolvedDependencies = readonly NewDependency[] | CarillonError;

/** Links jobs to their upstream jobs. Runs in the caller's transaction. */
export class UpstreamLinks {
  readonly #dependencies: DependencyStore;
  readonly #reads: Pick<JobTransactionReads, "lock">;

  constructor(dependencies: DependencyStore, reads: Pick<JobTransactionReads, "lock">) {
    this.#dependencies = dependencies;
    this.#reads = reads;
  }

  /**
   * Finds, locks and marks the upstream jobs, so that each of their live and later runs stores its end. An error of one job does not affect
   * the others.
   */
  async resolve(tx: Queryable, jobs: readonly WaitingJob[]): Promise<Map<string, ResolvedDependencies>> {
    const found = new Map<string, ResolvedDependencies>();
    for (const job of jobs) found.set(job.id, await this.#find(tx, job));
    const wanted = new Set([...found.values()].flatMap((held) => (isRefused(held) ? [] : held.map(upstreamOf))));
    if (wanted.size === 0) return found;
    await this.#reads.lock(tx, [...wanted].sort());
    const alive = new Set(await this.#dependencies.markUpstream(tx, [...wanted]));
    for (const { id, schedule } of jobs) {
      const held = found.get(id) ?? [];
      const gone = isRefused(held) ? undefined : held.find((one) => !alive.has(one.upstreamId));
      if (gone !== undefined)
        found.set(id, new UpstreamUnknown(schedule, formatId("job", gone.upstreamId), gone.position));
    }
    return found;
  }

  async link(tx: Queryable, dependencies: readonly NewDependency[]): Promise<void> {
    await this.#dependencies.link(tx, dependencies);
  }

  /** The same for an existing job, which must not wait for itself directly or through others. Throws upstream_unknown, dependency_cycle. */
  async relink(tx: Queryable, job: WaitingJob): Promise<void> {
    const held = (await this.resolve(tx, [job])).get(job.id) ?? [];
    if (isRefused(held)) throw held;
    await this.#dependencies.unlink(tx, [job.id]);
    if (await this.#dependencies.leadsTo(tx, job.namespaceId, held.map(upstreamOf), job.id)) throw cycle();
    await this.link(tx, held);
  }

  /** false: an upstream job was cancelled with detach. */
  async isWhole(tx: Queryable, { id, schedule }: Pick<WaitingJob, "id" | "schedule">): Promise<boolean> {
    return (await this.#dependencies.ofJobs(tx, [id])).length === schedule.after.length;
  }

  unlink(tx: Queryable, jobIds: readonly string[]): Promise<void> {
    return this.#dependencies.unlink(tx, jobIds);
  }

  async #find(tx: Queryable, { id, namespaceId, shard, schedule }: WaitingJob): Promise<ResolvedDependencies> {
    const known = await this.#dependencies.resolve(tx, namespaceId, namesIn(schedule));
    const held: NewDependency[] = [];
    for (const [position, { job, on, when = null }] of schedule.after.entries()) {
      const upstreamId = idIn(job) ?? known.find((one) => one.key === job)?.id;
      if (upstreamId === undefined || !known.some((one) => one.id === upstreamId))
        return new UpstreamUnknown(schedule, job, position);
      if (upstreamId === id) return cycle();
      held.push({ jobId: id, position, namespaceId, shard, upstreamId, on, when });
    }
    return held;
  }
}

export function isRefused(held: ResolvedDependencies): held is CarillonError {
  return held instanceof CarillonError;
}

/** The jobs that a schedule names, by id or by key. */
export function namesIn({ after }: AfterSchedule): JobNames {
  const ids = after.flatMap(({ job }) => idIn(job) ?? []);
  return { ids, keys: after.map(({ job }) => job).filter((job) => idIn(job) === null) };
}

function idIn(job: string): string | null {
  try {
    return parseId("job", job);
  } catch {
    return null;
  }
}

const upstreamOf = (dependency: NewDependency): string => dependency.upstreamId;

function cycle(): CarillonError {
  const code = "dependency_cycle";
  const detail = "The job would wait for itself, directly or through other jobs.";
  return new CarillonError(code, detail, { items: [{ pointer: "/schedule/after", code, detail }] });
}
