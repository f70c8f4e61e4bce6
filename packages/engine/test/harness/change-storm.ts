import {
  CarillonError,
  compileSchedule,
  type EverySchedule,
  type Instant,
  type JobSpec,
  type OverlapPolicy,
} from "@carillon/core";
import type { DueJob } from "@carillon/store";
import { membershipOf } from "../../src/cluster/shards.js";
import { audits, runAudit, type Violation } from "../../src/index.js";
import { Scheduler } from "../../src/scheduler/scheduler.js";
import { actor, type ChangeHarness, spec } from "./change-harness.js";
import { schedulerContext } from "./scheduler-context.js";
import { fireRow, termsOf } from "./store-harness.js";

const everyMs = 1_000;
const overlaps: readonly OverlapPolicy[] = ["allow", "skip", "queue_one", "cancel_running"];
/** Those that one statement fires. */
const isSimple = (overlap: OverlapPolicy): boolean => overlap === "allow" || overlap === "skip";
/** The errors that a caller may get when others change the same job. */
const expected = new Set(["field_invalid", "job_ended", "overlap_refused", "precondition_failed", "version_unknown"]);

/** A whole number below `bound`; repeated by its seed. */
export type Random = (bound: number) => number;

export function randomOf(seed: number): Random {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** Jobs that are due every second, changed by several users at once while a scheduler and a stale wheel fire them. */
export class ChangeStorm {
  readonly #h: ChangeHarness;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  /** With the first instant of each. */
  readonly jobs = new Map<string, Instant>();
  #isOver = false;
  done = 0;

  constructor(h: ChangeHarness, random: Random) {
    this.#h = h;
    this.#random = random;
    const { node: nodeId, shards } = h.fence;
    const epochs = new Map(shards.map(({ id, epoch }) => [id, epoch]));
    const membership = membershipOf(nodeId, epochs);
    this.#scheduler = new Scheduler(schedulerContext({ now: () => h.db.clock.now(), membership: () => membership }), {
      store: h.store.fires,
      pauseExpiry: { resume: h.expirePauses },
      limits: { aheadMs: 0, rereadAfterMs: 0 },
    });
  }

  async create(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const overlap = overlaps[n % overlaps.length] ?? "skip";
      const job = await this.#h.engine.jobs.create("default", spec({ schedule: this.#rule(), firing: { overlap } }));
      this.jobs.set(job.id, (await this.#h.due(job.id))["next_nominal_at"] as Instant);
    }
  }

  /** Until this instant of the database's clock, and until so much was done: a busy machine needs longer. */
  async rage(until: Instant, { users, least }: { readonly users: number; readonly least: number }): Promise<void> {
    this.#isOver = false;
    const whileIt = async (step: () => Promise<void>): Promise<void> => {
      while (!this.#isOver) await step();
    };
    const clock = whileIt(async () => {
      await this.#h.db.query({ text: "select 1" });
      this.#isOver ||= this.done >= least && this.#h.db.clock.now() >= until;
    });
    const loops = [
      whileIt(() => this.#tick()),
      whileIt(() => this.#fireStale()),
      ...Array.from({ length: users }, () => whileIt(() => this.#changeOne())),
    ];
    await Promise.all([clock, ...loops].map((loop) => loop.finally(() => (this.#isOver = true))));
  }

  /** Ends every pause, and lets every rule end now. */
  async calm(): Promise<void> {
    for (const id of this.jobs.keys()) {
      await this.#try(() => this.#h.engine.jobs.resume("default", { id }, { missed: "none" }, actor));
      await this.#try(() => this.#edit(id, { schedule: { kind: "manual" } }));
    }
  }

  async #tick(): Promise<void> {
    this.#scheduler.readShards(this.#h.fence.shards.map((shard) => shard.id));
    await this.#scheduler.tick();
  }

  /** Reads jobs as a wheel does, waits for a change of one, and fires them as they were read. */
  async #fireStale(): Promise<void> {
    const { db, store, fence } = this.#h;
    const shards = fence.shards.map((shard) => shard.id);
    const read: DueJob[] = await store.fires.load(shards, db.clock.now() + everyMs, 1_000);
    const { done: before } = this;
    while (this.done === before && !this.#isOver) await db.query({ text: "select 1" });
    const active = read.filter((job) => job.state === "active" && isSimple(job.definition.firing.overlap));
    const rows = active.map((job) => fireRow(job, job.nominal + everyMs));
    if (rows.length > 0) await store.fires.fire(termsOf(fence), rows);
  }

  async #changeOne(): Promise<void> {
    const ids = [...this.jobs.keys()];
    const id = ids[this.#random(ids.length)] ?? "";
    await this.#try(() => this.#change(id));
    this.done += 1;
  }

  #change(id: string): Promise<unknown> {
    const { engine, db } = this.#h;
    const now = Math.floor(db.clock.now());
    const missed = (["none", "latest", "all"] as const)[this.#random(3)] ?? "none";
    const pause = (until: Instant | null) =>
      engine.jobs.pause("default", { id }, { reason: null, until, missed }, actor);
    const choices: readonly (() => Promise<unknown>)[] = [
      () => pause(now + 1 + this.#random(800)),
      () => pause(null),
      () => engine.jobs.resume("default", { id }, { missed }, actor),
      () => engine.jobs.resume("default", { id }, { missed }, actor),
      () => this.#edit(id, { schedule: this.#rule() }),
      () => this.#edit(id, { payload: now, firing: { overlap: overlaps[this.#random(4)] ?? "skip" } }),
      () => engine.jobs.rollback("default", { id }, 1 + this.#random(3), actor),
      () => this.#endRuns(id),
    ];
    if (this.#random(100) === 0) return engine.jobs.cancel("default", { id }, { running: "signal" }, actor);
    return choices[this.#random(choices.length)]?.() ?? Promise.resolve();
  }

  /** In place of workers. */
  #endRuns(id: string): Promise<unknown> {
    const { historyTransaction, unitOfWork } = this.#h.store;
    return historyTransaction(async (tx) => {
      const live = await unitOfWork.reads.live(tx, [id], { hold: true });
      await unitOfWork.writes.endRuns(
        tx,
        live.map((run) => ({ id: run.id, reason: "expired" })),
      );
    });
  }

  #edit(id: string, over: Partial<JobSpec>): Promise<unknown> {
    return this.#h.engine.jobs.edit("default", { id }, (job) => ({ ...job, ...over }), actor);
  }

  #rule(): EverySchedule {
    const anchor = Math.floor(this.#h.last / everyMs) * everyMs + this.#random(everyMs);
    return { kind: "every", everyMs, anchor, ...(this.#random(3) === 0 && { jitterMs: 400 }) };
  }

  async #try(change: () => Promise<unknown>): Promise<void> {
    try {
      await change();
    } catch (error) {
      if (!(error instanceof CarillonError) || !expected.has(error.code)) throw error;
    }
  }
}

export interface Account {
  readonly instants: number;
  readonly lost: readonly Instant[];
  readonly twice: readonly Instant[];
  readonly invented: readonly Instant[];
}

/** Every instant of the rules that were in force, against the runs and the ledger of a job. */
export async function accountOf(h: ChangeHarness, id: string, first: Instant): Promise<Account> {
  const [job = {}] = await h.select("select * from carillon.job where id = $1", id);
  const kept = await h.select("select * from carillon.job_version where job_id = $1 order by version", id);
  const rules = kept.map((row) => ({
    version: Number(row["version"]),
    schedule: (row["definition"] as JobSpec).schedule,
    from: Number(row["valid_from"]),
    to: Number(row["valid_to"]),
  }));
  const to = Number(job["ended_at"] ?? h.last);
  const from = Number(job["defined_at"] ?? job["created_at"]);
  rules.push({ version: Number.POSITIVE_INFINITY, schedule: job["schedule"] as JobSpec["schedule"], from, to });
  const within = (schedule: JobSpec["schedule"], after: Instant, until: Instant): Instant[] =>
    compileSchedule(schedule, { jobId: id, checked: true })
      .between(after, until, 10_000)
      .map((fire) => fire.nominal);
  const due = rules.flatMap((rule, at) => within(rule.schedule, at === 0 ? first - 1 : rule.from, rule.to));
  const runs = [...(await h.runs(id)), ...(await h.history(id))].filter((run) => run["trigger"] === "schedule");
  const seen = runs.map((run) => Number(run["nominal_at"]));
  for (const entry of await h.ledger(id)) {
    const rule = rules.find((one) => one.version >= Number(entry["version"]));
    const span = rule === undefined ? [] : within(rule.schedule, Number(entry["from_at"]) - 1, Number(entry["to_at"]));
    if (span.length !== Number(entry["count"]))
      throw new Error(`the ledger counts ${JSON.stringify(entry)}, not ${span.length}`);
    seen.push(...span);
  }
  const times = (at: Instant, list: readonly Instant[]): number => list.filter((one) => one === at).length;
  return {
    instants: due.length,
    lost: due.filter((at) => times(at, seen) < times(at, due)),
    twice: seen.filter((at) => times(at, seen) > 1),
    invented: seen.filter((at) => times(at, due) === 0),
  };
}

export async function violationsOf(h: ChangeHarness): Promise<Violation[]> {
  const found = await Promise.all(audits("carillon").map((audit) => runAudit(h.db, audit)));
  return found.filter((one) => one !== null);
}
