import { setTimeout as sleep } from "node:timers/promises";
import type { JournalServer } from "../journal/journal-server.js";
import type { Follower, FollowerChange } from "../plan/follower.js";
import { type Change, type ChaosJob, type PlannedJob, changeFrom, jobFrom } from "../plan/job.js";
import type { Plan } from "../plan/plan.js";
import { windowFrom } from "../plan/surroundings.js";
import type { DoneChange, FollowerLife, Life, RunNowOutcome } from "../targets/life.js";
import { ApiCaller } from "./api-caller.js";
import type { Cluster } from "./cluster.js";
import { JobChanger } from "./job-changer.js";
import { type DoneFlip, SurroundingsMaker } from "./surroundings-maker.js";
import { wireChange, wireFollower, wireFollowerChange, wireJob } from "./wire-form.js";

/** All that was asked for. */
export interface Driven {
  readonly lives: Life[];
  readonly followers: FollowerLife[];
}

/** Asks for every planned job and change at its time, by the public API of the nodes in turn, and keeps what was answered. */
export class Driver {
  readonly #api: ApiCaller;
  readonly #journal: JournalServer;
  readonly #begin: number;
  readonly #made = new MadeJobs();

  constructor(cluster: Cluster, journal: JournalServer, begin: number) {
    this.#api = new ApiCaller(cluster);
    this.#journal = journal;
    this.#begin = begin;
  }

  async drive({ surroundings, workload, followers }: Plan): Promise<Driven> {
    const maker = new SurroundingsMaker(this.#api, this.#begin);
    await maker.prepare(surroundings.windows.map((window) => windowFrom(this.#begin, window)));
    const [flips, lives, followerLives] = await Promise.all([
      maker.flip(surroundings.flips),
      Promise.all(workload.map((one) => this.#live(one))),
      Promise.all(followers.map((one) => this.#follow(one))),
    ]);
    return {
      lives: lives.flatMap((life) => (life === null ? [] : withFlips(life, flips))),
      followers: followerLives.flatMap((life) => life ?? []),
    };
  }

  /** Null when no node was there to be asked. A job whose making ended unknown is left alone. */
  async #live({ createAtMs, job: plannedJob, changes, runNowAtMs }: PlannedJob): Promise<Life | null> {
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

  /** Null when those that it follows are not known to exist. */
  async #follow(follower: Follower): Promise<FollowerLife | null> {
    const { key, follows, workMs } = follower;
    const ids = await Promise.all(follows.map((one) => this.#made.idOf(one)));
    const known = ids.filter((id) => id !== null);
    if (known.length < ids.length) return this.#made.settle(key, null);
    const sentAt = Date.now();
    const url = this.#journal.urlOf({ job: key, workMs, failsFirst: false });
    const made = await this.#ask(key, wireFollower(follower, known, url));
    this.#made.settle(key, made?.id ?? null);
    if (made === null) return { follower, sentAt, acknowledgedAt: null, changes: [] };
    const acknowledgedAt = Date.now();
    const changer = new JobChanger(this.#api, made, wireFollowerChange(follower, known));
    await this.#change(changer, follower.changes);
    return { follower, sentAt, acknowledgedAt, changes: changer.changes };
  }

  #create(job: ChaosJob): Promise<{ id: string; etag: string | null } | null> {
    const url = this.#journal.urlOf({ job: job.key, workMs: job.workMs, failsFirst: job.failsFirst });
    return this.#ask(job.key, wireJob(job, url));
  }

  async #ask(key: string, body: object): Promise<{ id: string; etag: string | null } | null> {
    const answer = await this.#api.call({ method: "POST", path: "/v1/jobs", body });
    if (answer === null) return null;
    if (answer.status !== 201 || answer.id === null)
      throw new Error(`the job ${key} was answered with ${answer.status} ${answer.code ?? ""}`);
    return { id: answer.id, etag: answer.etag };
  }

  async #change<Asked extends Change | FollowerChange>(
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

/** To a job that follows the calendar a flip is an edit that somebody else made. */
function withFlips(life: Life, flips: readonly DoneFlip[]): Life {
  const { job, acknowledgedAt } = life;
  if (!job.followsCalendar || acknowledgedAt === null) return life;
  const changes = flips.map(({ closes, sentAt, settledAt }): DoneChange => {
    return { change: { kind: "edit", rule: closes ? { kind: "never" } : job.rule }, sentAt, settledAt };
  });
  return { ...life, changes };
}

/** The ids of jobs by their keys, for whoever waits for them; null for one that nobody acknowledged. */
export class MadeJobs {
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
