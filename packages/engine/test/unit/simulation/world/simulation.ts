import type { Instant, MaintenanceWindow, ScheduleSpec } from "@carillon/core";
import { rankByPriority } from "../../../../src/catalog/rank-run.js";
import { MemoryCluster } from "../../../harness/memory-cluster.js";
import { planJob } from "../../../../src/jobs/plan-job.js";
import { memoryFireStore, memoryUnitOfWork } from "../../../../src/scheduler/memory/memory-fire-store.js";
import { MemoryTables, insertJob } from "../../../../src/scheduler/memory/memory-tables.js";
import type { FireStore } from "../../../../src/schedules/fire-store.js";
import { ScheduleCache } from "../../../../src/schedules/schedule-cache.js";
import { OverlapAdmitter } from "../../../../src/jobs/transaction/overlap-admitter.js";
import { namedCalendars } from "../draw/calendars.js";
import type { DrawnJob } from "../draw/jobs.js";
import { dayMs, hourMs, minuteMs, secondMs } from "../draw/year.js";
import { Agenda } from "./agenda.js";
import type { JobLife, UnclearTime, WindowsInForce, YearRecord } from "./life.js";
import { VirtualChanges } from "./virtual-changes.js";
import { VirtualCluster } from "./virtual-cluster.js";
import { VirtualNode } from "./virtual-node.js";
import { VirtualWorkers } from "./virtual-workers.js";

const shards = 16;
const allShards = Array.from({ length: shards }, (_, id) => id);
const places = 3;
/** How far ahead nodes look, one after the other: as in production, and so far that the wheel has to turn. */
const windowsMs = [2 * hourMs, 10 * minuteMs, 30 * secondMs, 12 * hourMs];

export interface SimulationOptions {
  readonly seed: number;
  readonly startsAt: Instant;
  /** The wakeup of every fourth new job is lost: the next full scan has to find the job. */
  readonly losesHints?: boolean;
  /** How far the clocks of all nodes are from the database's. */
  readonly skewMs?: number;
  /** Stands between the nodes and the store, for laws that are broken on purpose. */
  readonly around?: (store: FireStore, tables: MemoryTables) => FireStore;
}

/** A cluster whose time is in the hands of the caller: the production scheduler over the twin of its store. */
export class Simulation {
  now: Instant;
  readonly agenda = new Agenda();
  readonly tables: MemoryTables;
  readonly cluster: VirtualCluster;
  readonly changes: VirtualChanges;
  readonly lives = new Map<string, JobLife>();
  readonly seen = new Map<string, number>();
  /** In the order of their making. */
  readonly jobIds: string[] = [];
  readonly #options: SimulationOptions;
  readonly #store: FireStore;
  readonly #workers: VirtualWorkers;
  readonly #schedules = new ScheduleCache(10_000, false);
  readonly #windows: WindowsInForce[] = [];
  readonly #unclear: UnclearTime[] = [];
  #nodesMade = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.now = options.startsAt;
    const rows = new MemoryCluster(shards);
    this.tables = new MemoryTables({ now: () => this.now, owns: (node, shard) => rows.owns(node, shard) });
    const store = memoryFireStore(this.tables);
    this.#store = options.around?.(store, this.tables) ?? store;
    this.cluster = new VirtualCluster(rows, places, () => this.#makeNode());
    this.changes = new VirtualChanges(this.tables, (shard) => this.#hint(shard));
    const admitter = this.#makeAdmitter();
    this.#workers = new VirtualWorkers({
      tables: this.tables,
      agenda: this.agenda,
      now: () => this.now,
      runMsOf: (jobId) => this.lives.get(jobId)?.drawn.runMs ?? secondMs,
      onEnded: async (jobId) => {
        admitter.hint([jobId]);
        await admitter.tick();
      },
    });
  }

  count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  /** Stores a job as of now. */
  create(drawn: DrawnJob): void {
    const number = this.jobIds.length;
    const place = { id: uuidOf(1, number), namespaceId: 1, lane: 1, shard: number % shards };
    const known = { schedules: this.#schedules, calendars: namedCalendars, rank: rankByPriority };
    const context = { now: this.now, catchupWindowMs: dayMs, ...known };
    const planned = planJob(place, drawn.spec, context);
    if (planned.kind === "run") throw new Error("every job of the simulation is stored as one");
    insertJob(this.tables, planned.job);
    this.jobIds.push(place.id);
    const { schedule } = drawn.spec;
    const after = schedule.kind === "at" ? schedule.at - 1 : this.now;
    if (this.#options.losesHints !== true || number % 4 !== 0) this.#hint(place.shard);
    this.lives.set(place.id, { drawn, rules: [{ schedule, after, through: Infinity }], isChanged: false });
  }

  /** From now on the job has another rule, or none. */
  replaceRule(jobId: string, schedule: ScheduleSpec | null): void {
    const life = this.lives.get(jobId);
    const last = life?.rules.pop();
    if (life === undefined || last === undefined) return;
    life.isChanged = true;
    life.rules.push({ ...last, through: this.now });
    if (schedule !== null) life.rules.push({ schedule, after: this.now, through: Infinity });
  }

  setWindows(windows: readonly MaintenanceWindow[], isHinted: boolean): void {
    const { revision } = this.tables.windows;
    this.tables.windows = { revision: revision + 1, byNamespace: new Map([[1, { namespace: "default", windows }]]) };
    this.#windows.push({ from: this.now, windows });
    if (!isHinted) return;
    for (const node of this.cluster.up) {
      node.scheduler.windowsChanged();
      node.wake();
    }
  }

  /** Sets back the database's clock, which all nodes use. */
  putClockBack(byMs: number): void {
    this.#unclear.push({ from: this.now - byMs, to: this.now });
    this.now -= byMs;
    for (const node of this.cluster.up) node.wakeAt -= byMs;
  }

  /** Until then a node uses another clock than the database's. */
  noteUnclear(until: Instant): void {
    this.#unclear.push({ from: this.now, to: until });
  }

  /** Lives until then, or until nothing that counts is left to wait for. */
  async run(until: Instant, isDone: () => boolean = () => false): Promise<void> {
    for (let next = this.#nextTime(); next <= until && !isDone(); next = this.#nextTime()) {
      this.now = next;
      for (let action = this.agenda.take(next); action !== null; action = this.agenda.take(this.now)) await action();
      for (const node of this.cluster.up) if (node.wakeAt <= this.now && this.#mayTick(node)) await node.tick();
      this.#workers.work();
    }
  }

  record(judgedTo: Instant): YearRecord {
    const { tables, lives, seen } = this;
    return {
      seed: this.#options.seed,
      lives,
      windows: this.#windows,
      unclear: this.#unclear,
      epochs: this.cluster.epochs,
      jobs: new Map([...tables.jobs.values()].map((job) => [job.id, job])),
      live: [...tables.runs.values()],
      ended: [...tables.history.values()],
      ledger: [...tables.ledger.values()],
      judgedTo,
      endedAt: this.now,
      seen,
    };
  }

  /**
   * When something can happen next. Nodes are not woken while nothing of their shards is due: what the wheel and the reader
   * would have done meanwhile they do then.
   */
  #nextTime(): Instant {
    let next = this.agenda.next;
    for (const shard of allShards) {
      const fireAt = this.tables.nextFireAt(shard);
      if (fireAt > this.now && fireAt < next) next = fireAt;
    }
    for (const node of this.cluster.up) if (this.#mayTick(node)) next = Math.min(next, node.wakeAt);
    return Math.max(this.now + 1, next);
  }

  #mayTick(node: VirtualNode): boolean {
    if (!node.isIdle) return false;
    if (node.isWoken) return true;
    for (const shard of node.epochs.keys()) if (this.tables.nextFireAt(shard) <= this.now) return true;
    return false;
  }

  #hint(shard: number): void {
    for (const node of this.cluster.up) {
      if (!node.epochs.has(shard)) continue;
      node.scheduler.readShards([shard]);
      node.wake();
    }
  }

  #makeNode(): VirtualNode {
    this.#nodesMade += 1;
    const node: VirtualNode = new VirtualNode({
      id: uuidOf(2, this.#nodesMade),
      store: this.#store,
      now: () => this.now,
      pauseExpiry: this.changes.expiry,
      onHang: (forMs, goOn) => {
        // The statement takes effect later than the time by which the node decided.
        this.noteUnclear(this.now + forMs);
        this.agenda.add(this.now + forMs, async () => {
          goOn();
          await node.tick();
        });
      },
      onCrash: () => this.agenda.add(this.now + 10 * secondMs, () => this.#replaceCrashed(node)),
      onStopped: (runIds) => this.#workers.stop(runIds),
      onEvent: (event) => this.count(event.type === "write.fenced" ? `refused ${event.statement}` : event.type),
      limits: {
        windowMs: windowsMs[this.#nodesMade % windowsMs.length] ?? minuteMs,
        windowEntries: this.#nodesMade % 5 === 0 ? shards : 10_000,
        batch: this.#nodesMade % 7 === 0 ? 16 : 2_000,
        rereadAfterMs: secondMs,
      },
    });
    node.skewMs = this.#options.skewMs ?? 0;
    return node;
  }

  async #replaceCrashed(node: VirtualNode): Promise<void> {
    const place = this.cluster.nodes.indexOf(node);
    if (place === -1) return;
    this.cluster.down(place);
    await this.cluster.start(place);
  }

  #makeAdmitter(): OverlapAdmitter {
    return new OverlapAdmitter(
      {
        db: { query: () => Promise.reject(new Error("there is no SQL here")) },
        clock: { monotonic: () => this.now },
        ownShards: () => allShards,
        loops: { register: () => undefined, wake: () => undefined },
        wakeups: { on: () => undefined, runsQueued: () => undefined },
      },
      { unitOfWork: memoryUnitOfWork(this.tables) },
    );
  }
}

/** An id of a kind, by its number. */
function uuidOf(kind: number, number: number): string {
  return `00000000-0000-7000-800${kind}-${number.toString(16).padStart(12, "0")}`;
}
