import { setTimeout as sleep } from "node:timers/promises";
import type { JournalServer } from "../journal/journal-server.js";
import type { DependentJob, DependentChange } from "../plan/dependent-job.js";
import { type Change, type ChaosJob, type PlannedJob, changeFrom, jobFrom } from "../plan/job.js";
import type { Plan } from "../plan/plan.js";
import { windowFrom } from "../plan/constraints.js";
import type { DoneChange, DependentHistory, JobHistory, RunNowOutcome } from "../targets/job-history.js";
import { ApiCaller } from "./api-caller.js";
import type { Cluster } from "./cluster.js";
import { JobChanger } from "./job-changer.js";
import { type DoneFlip, ConstraintWriter } from "./constraint-writer.js";
import { wireChange, wireDependent, wireDependentChange, wireJob } from "./wire-form.js";

/** The outcome of every request to the API. */
export interface LoadHistory {
  readonly histories: JobHistory[];
  readonly dependents: DependentHistory[];
}

/** Requests every planned job and change at its time from the nodes in turn, and records the answers. */
export class Driver {
  readonly #api: ApiCaller;
  readonly #journal: JournalServer;
  readonly #loadStart: number;
  readonly #createdIds = new CreatedJobIds();

  constructor(cluster: Cluster, journal: JournalServer, loadStart: number) {
    this.#api = new ApiCaller(cluster);
    this.#journal = journal;
    this.#loadStart = loadStart;
  }

  async drive({ constraints, workload, dependents }: Plan): Promise<LoadHistory> {
    const constraintWriter = new ConstraintWriter(this.#api, this.#loadStart);
    await constraintWriter.prepare(constraints.windows.map((window) => windowFrom(this.#loadStart, window)));
    const [flips, histories, dependentHistories] = await Promise.all([
      constraintWriter.flip(constraints.flips),
      Promise.all(workload.map((one) => this.#driveJob(one))),
      Promise.all(dependents.map((one) => this.#driveDependent(one))),
    ]);
    return {
      histories: histories.flatMap((history) => (history === null ? [] : withFlips(history, flips))),
      dependents: dependentHistories.flatMap((history) => history ?? []),
    };
  }

  /** Returns null if no node was reachable. A job whose creation has an unknown outcome gets no further requests. */
  async #driveJob({ createAtMs, job: plannedJob, changes, runNowAtMs }: PlannedJob): Promise<JobHistory | null> {
    const job = jobFrom(this.#loadStart, plannedJob);
    await this.#waitUntil(createAtMs);
    if (!this.#api.isReachable) return this.#createdIds.settle(job.key, null);
    const sentAt = Date.now();
    const created = await this.#create(job);
    this.#createdIds.settle(job.key, created?.id ?? null);
    if (created === null) return { job, sentAt, acknowledgedAt: null, changes: [], runNows: [] };
    const acknowledgedAt = Date.now();
    const changer = new JobChanger(this.#api, created, wireChange);
    const requested = changes.map(({ atMs, change }) => ({ atMs, change: changeFrom(this.#loadStart, change) }));
    const [runNows] = await Promise.all([this.#runNow(changer, runNowAtMs), this.#change(changer, requested)]);
    return { job, sentAt, acknowledgedAt, changes: changer.changes, runNows };
  }

  /** Returns null if one of the upstream jobs is not known to exist. */
  async #driveDependent(dependent: DependentJob): Promise<DependentHistory | null> {
    const { key, upstream, workMs } = dependent;
    const ids = await Promise.all(upstream.map((one) => this.#createdIds.idOf(one)));
    const known = ids.filter((id) => id !== null);
    if (known.length < ids.length) return this.#createdIds.settle(key, null);
    const sentAt = Date.now();
    const url = this.#journal.urlOf({ job: key, workMs, failsFirst: false });
    const created = await this.#requestJob(key, wireDependent(dependent, known, url));
    this.#createdIds.settle(key, created?.id ?? null);
    if (created === null) return { dependent, sentAt, acknowledgedAt: null, changes: [] };
    const acknowledgedAt = Date.now();
    const changer = new JobChanger(this.#api, created, wireDependentChange(dependent, known));
    await this.#change(changer, dependent.changes);
    return { dependent, sentAt, acknowledgedAt, changes: changer.changes };
  }

  #create(job: ChaosJob): Promise<{ id: string; etag: string | null } | null> {
    const url = this.#journal.urlOf({ job: job.key, workMs: job.workMs, failsFirst: job.failsFirst });
    return this.#requestJob(job.key, wireJob(job, url));
  }

  async #requestJob(key: string, body: object): Promise<{ id: string; etag: string | null } | null> {
    const answer = await this.#api.call({ method: "POST", path: "/v1/jobs", body });
    if (answer === null) return null;
    if (answer.status !== 201 || answer.id === null)
      throw new Error(`A node answered the creation of job ${key} with ${answer.status} ${answer.code ?? ""}.`);
    return { id: answer.id, etag: answer.etag };
  }

  async #change<Requested extends Change | DependentChange>(
    changer: JobChanger<Requested>,
    changes: readonly { readonly atMs: number; readonly change: Requested }[],
  ): Promise<void> {
    for (const { atMs, change } of changes) {
      await this.#waitUntil(atMs);
      if (!(await changer.apply(change))) return;
    }
  }

  async #runNow(changer: JobChanger<Change>, atMs: readonly number[]): Promise<RunNowOutcome[]> {
    const outcomes: RunNowOutcome[] = [];
    for (const at of atMs) {
      await this.#waitUntil(at);
      outcomes.push(await changer.runNow());
    }
    return outcomes;
  }

  async #waitUntil(atMs: number): Promise<void> {
    await sleep(Math.max(0, this.#loadStart + atMs - Date.now()));
  }
}

/** For a job that excludes the calendar, each flip counts as an edit by another caller. */
function withFlips(history: JobHistory, flips: readonly DoneFlip[]): JobHistory {
  const { job, acknowledgedAt } = history;
  if (!job.excludesCalendar || acknowledgedAt === null) return history;
  const changes = flips.map(({ closes, sentAt, settledAt }): DoneChange => {
    return { change: { kind: "edit", rule: closes ? { kind: "never" } : job.rule }, sentAt, settledAt };
  });
  return { ...history, changes };
}

/**
 * The ids of created jobs by key, awaited by the requests of dependent jobs; null for a job whose creation was not
 * acknowledged.
 */
class CreatedJobIds {
  readonly #jobs = new Map<
    string,
    { readonly id: Promise<string | null>; readonly settle: (id: string | null) => void }
  >();

  idOf(key: string): Promise<string | null> {
    return this.#at(key).id;
  }

  settle(key: string, id: string | null): null {
    this.#at(key).settle(id);
    return null;
  }

  #at(key: string): { readonly id: Promise<string | null>; readonly settle: (id: string | null) => void } {
    const known = this.#jobs.get(key);
    if (known !== undefined) return known;
    let settle: (id: string | null) => void = () => undefined;
    const created = {
      id: new Promise<string | null>((resolve) => (settle = resolve)),
      settle: (id: string | null) => settle(id),
    };
    this.#jobs.set(key, created);
    return created;
  }
}
