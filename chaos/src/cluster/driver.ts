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

/** What the harness requested from the API, and what it got. */
export interface LoadHistory {
  readonly histories: JobHistory[];
  readonly dependents: DependentHistory[];
}

/** Requests every planned job and change at its time from the nodes in turn, and records the answers. */
export class Driver {
  readonly #api: ApiCaller;
  readonly #journal: JournalServer;
  readonly #begin: number;
  readonly #made = new CreatedJobIds();

  constructor(cluster: Cluster, journal: JournalServer, begin: number) {
    this.#api = new ApiCaller(cluster);
    this.#journal = journal;
    this.#begin = begin;
  }

  async drive({ constraints, workload, dependents }: Plan): Promise<LoadHistory> {
    const maker = new ConstraintWriter(this.#api, this.#begin);
    await maker.prepare(constraints.windows.map((window) => windowFrom(this.#begin, window)));
    const [flips, histories, dependentHistories] = await Promise.all([
      maker.flip(constraints.flips),
      Promise.all(workload.map((one) => this.#live(one))),
      Promise.all(dependents.map((one) => this.#follow(one))),
    ]);
    return {
      histories: histories.flatMap((history) => (history === null ? [] : withFlips(history, flips))),
      dependents: dependentHistories.flatMap((history) => history ?? []),
    };
  }

  /** Returns null if no node was reachable. A job whose creation has an unknown outcome gets no further requests. */
  async #live({ createAtMs, job: plannedJob, changes, runNowAtMs }: PlannedJob): Promise<JobHistory | null> {
    const job = jobFrom(this.#begin, plannedJob);
    await this.#until(createAtMs);
    if (!this.#api.isReachable) return this.#made.settle(job.key, null);
    const sentAt = Date.now();
    const made = await this.#create(job);
    this.#made.settle(job.key, made?.id ?? null);
    if (made === null) return { job, sentAt, acknowledgedAt: null, changes: [], runNows: [] };
    const acknowledgedAt = Date.now();
    const changer = new JobChanger(this.#api, made, wireChange);
    const asked = changes.map(({ atMs, change }) => ({ atMs, change: changeFrom(this.#begin, change) }));
    const [runNows] = await Promise.all([this.#runNow(changer, runNowAtMs), this.#change(changer, asked)]);
    return { job, sentAt, acknowledgedAt, changes: changer.changes, runNows };
  }

  /** Returns null if one of the upstream jobs is not known to exist. */
  async #follow(dependent: DependentJob): Promise<DependentHistory | null> {
    const { key, upstream, workMs } = dependent;
    const ids = await Promise.all(upstream.map((one) => this.#made.idOf(one)));
    const known = ids.filter((id) => id !== null);
    if (known.length < ids.length) return this.#made.settle(key, null);
    const sentAt = Date.now();
    const url = this.#journal.urlOf({ job: key, workMs, failsFirst: false });
    const made = await this.#requestJob(key, wireDependent(dependent, known, url));
    this.#made.settle(key, made?.id ?? null);
    if (made === null) return { dependent, sentAt, acknowledgedAt: null, changes: [] };
    const acknowledgedAt = Date.now();
    const changer = new JobChanger(this.#api, made, wireDependentChange(dependent, known));
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

  async #change<Asked extends Change | DependentChange>(
    changer: JobChanger<Asked>,
    changes: readonly { readonly atMs: number; readonly change: Asked }[],
  ): Promise<void> {
    for (const { atMs, change } of changes) {
      await this.#until(atMs);
      if (!(await changer.make(change))) return;
    }
  }

  async #runNow(changer: JobChanger<Change>, atMs: readonly number[]): Promise<RunNowOutcome[]> {
    const outcomes: RunNowOutcome[] = [];
    for (const at of atMs) {
      await this.#until(at);
      outcomes.push(await changer.runNow());
    }
    return outcomes;
  }

  async #until(atMs: number): Promise<void> {
    await sleep(Math.max(0, this.#begin + atMs - Date.now()));
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
    const made = {
      id: new Promise<string | null>((resolve) => (settle = resolve)),
      settle: (id: string | null) => settle(id),
    };
    this.#jobs.set(key, made);
    return made;
  }
}
