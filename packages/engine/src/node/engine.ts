import type { DurationMs } from "@carillon/core";
import type { ShardChange } from "../cluster/coordinator.js";
import type { Gateway } from "../dispatch/gateway.js";
import type { RemoteWorkers } from "../dispatch/remote/remote-workers.js";
import type { WorkerDoor } from "../dispatch/remote/namespace-guard.js";
import { makeApis } from "./apis.js";
import { type Asking, calendaringOf, makeAsking } from "./asking.js";
import type { Calendaring } from "./calendaring.js";
import { type Firing, makeFiring } from "./firing.js";
import { Ground } from "./ground.js";
import { type Keeping, makeKeeping } from "./keeping.js";
import type { Ticks } from "../loops/loops.js";
import type { Engine, EngineApis, EngineLoad, EngineOptions } from "../options.js";
import { makeRunning, type Running } from "./running.js";

const clockPeriodMs = 10_000;

export function createEngine(options: EngineOptions): Engine {
  return new NodeEngine(options);
}

/** Puts the parts together and paces them. Holds no rule of its own. */
class NodeEngine implements Engine {
  readonly api: EngineApis;
  readonly gateway: Gateway;
  readonly remoteWorkers: RemoteWorkers;
  readonly workerDoor: WorkerDoor;
  readonly #ground: Ground;
  readonly #calendaring: Calendaring;
  readonly #firing: Firing;
  readonly #running: Running;
  readonly #asking: Asking;
  readonly #keeping: Keeping;
  #leaseAt: DurationMs | null = null;

  constructor(options: EngineOptions) {
    const ground = new Ground(options, {
      gateway: () => this.gateway,
      scheduler: () => this.#firing.scheduler,
      admitter: () => this.#firing.admitter,
      limiting: () => this.#running.limiting,
      following: () => this.#running.following,
      backfilling: () => this.#asking.backfilling,
      waiters: () => this.#running.waiters,
    });
    this.#ground = ground;
    const calendaring = calendaringOf(ground);
    this.#calendaring = calendaring;
    this.#firing = makeFiring(ground, {
      calendars: calendaring.calendars,
      followCalendars: calendaring.follow,
      pauseExpiry: () => this.#asking.changing.pauseExpiry,
    });
    const running = makeRunning(ground);
    this.#running = running;
    const { gateway, remoteWorkers, workerDoor } = running.dispatching;
    this.gateway = gateway;
    this.remoteWorkers = remoteWorkers;
    this.workerDoor = workerDoor;
    const asking = makeAsking(ground, calendaring, running);
    this.#asking = asking;
    this.#keeping = makeKeeping(ground);
    this.api = makeApis(ground, { calendaring, running, asking });
    ground.loops.pace(this.#ticks());
  }

  get isElected(): boolean {
    return this.#ground.membership().epochs.has(0);
  }

  get nodeId(): string {
    return this.#ground.membership().nodeId;
  }

  get load(): EngineLoad {
    const { options, limits } = this.#ground;
    const leaseAgeMs = this.#leaseAt === null ? null : options.clock.monotonic() - this.#leaseAt;
    return {
      ...this.gateway.load,
      leaseMs: limits.leaseMs,
      leaseAgeMs,
      writesWaiting: this.#asking.inserts.waiting,
    };
  }

  async start(): Promise<void> {
    const { options, store, loops, hints, handOvers, coordinator } = this.#ground;
    if (options.enqueueOnly === true) {
      // Before the first run is asked for: what workers say about it.
      await store.taskBook.look();
      return loops.start(["clock", "queues", "waiters"]);
    }
    await this.#keeping.ticks.history();
    // Before the first claim and the first fire: what is paused, and in which order the rest goes.
    await this.#running.queueing.tick();
    await this.#running.notifying.look();
    await this.#keepLease(() => coordinator.join());
    hints.sharesMoved();
    await this.#running.rescuer.tick();
    hints.start();
    handOvers.start(await store.secrets.find("hand_over"));
    loops.start();
  }

  async stop(): Promise<void> {
    const { options, loops, hints, handOvers } = this.#ground;
    this.remoteWorkers.stop();
    this.#running.waiters.stop();
    const stopped = loops.stop();
    if (options.enqueueOnly !== true) await this.#handOver();
    await stopped;
    if (options.enqueueOnly === true) return;
    this.gateway.stop();
    await Promise.all([hints.stop(), handOvers.stop()]);
  }

  /** The shards go as soon as nothing fires any more: whatever else is still under way, others fire meanwhile. */
  async #handOver(): Promise<void> {
    const { loops, hints, coordinator, failed } = this.#ground;
    await loops.stop(["coordinator", "scheduler", "later"]);
    try {
      await coordinator.leave();
      hints.sharesMoved();
    } catch (error) {
      // Without a database there is nobody to hand over to: the lease runs out by itself.
      failed("coordinator", error);
    }
  }

  /** In the order in which they start. */
  #ticks(): Ticks {
    const { ticks: firing } = this.#firing;
    const { ticks: running } = this.#running;
    const { ticks: asking } = this.#asking;
    return {
      ...firing,
      coordinator: () => this.#coordinate(),
      calendars: () => this.#calendaring.tick(),
      ...asking,
      ...running,
      ...this.#keeping.ticks,
      clock: () => this.#measureClock(),
    };
  }

  async #coordinate(): Promise<DurationMs> {
    const { coordinator } = this.#ground;
    await this.#keepLease(() => coordinator.tick());
    return coordinator.idleMs;
  }

  /** The lease counts from before it was asked for. */
  async #keepLease(ask: () => Promise<ShardChange>): Promise<void> {
    const askedAt = this.#ground.options.clock.monotonic();
    this.#firing.follow(await ask());
    this.#leaseAt = askedAt;
  }

  async #measureClock(): Promise<DurationMs> {
    const { clock } = this.#ground.options.database;
    await clock.tick();
    this.#ground.emit({ type: "clock.measured", skewMs: clock.skewMs, uncertaintyMs: clock.uncertaintyMs });
    return clockPeriodMs;
  }
}
