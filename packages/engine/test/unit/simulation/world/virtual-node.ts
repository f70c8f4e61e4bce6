import type { DurationMs, Instant } from "@carillon/core";
import { membershipOf } from "../../../../src/cluster/shards.js";
import type { EngineEvent } from "../../../../src/events.js";
import { Scheduler, type SchedulerDeps, type SchedulerLimits } from "../../../../src/scheduler/scheduler.js";
import type { FireStore } from "../../../../src/schedules/fire-store.js";
import { reportStopped, schedulerContext } from "../../../harness/scheduler-context.js";
import { namedCalendars } from "../draw/calendars.js";
import { secondMs } from "../draw/year.js";
import { type ArmedFault, faultyStore } from "./faulty-store.js";

export interface VirtualNodeOptions {
  readonly id: string;
  readonly store: FireStore;
  readonly now: () => Instant;
  readonly pauseExpiry: NonNullable<SchedulerDeps["pauseExpiry"]>;
  /** Called when a statement of this node hangs. `goOn` lets it continue after `forMs`. */
  readonly onHang: (forMs: DurationMs, goOn: () => void) => void;
  readonly onCrash: () => void;
  readonly onStopped: (runIds: readonly string[]) => void;
  readonly onEvent: (event: EngineEvent) => void;
  readonly limits: Partial<SchedulerLimits>;
}

/** The pause of the loop after a failed tick. */
const afterFailureMs = secondMs;

/** One incarnation of a node: the production scheduler, with the shards that it believes it owns and a clock that may be wrong. */
export class VirtualNode {
  readonly id: string;
  readonly scheduler: Scheduler;
  readonly epochs = new Map<number, number>();
  skewMs = 0;
  /** The next tick is not before this time. */
  wakeAt: Instant;
  /** Set by a wakeup: the node ticks although no row of its shards is due. */
  isWoken = true;
  isUp = true;
  fault: ArmedFault | null = null;
  readonly #now: () => Instant;
  #ticking: Promise<void> | null = null;
  #onHung: () => void = () => undefined;

  constructor(options: VirtualNodeOptions) {
    const { id, store, now, onHang, onCrash, onEvent, onStopped, limits } = options;
    this.id = id;
    this.#now = now;
    this.wakeAt = now();
    const faults = {
      take: () => this.#takeFault(),
      hang: (forMs: DurationMs) =>
        new Promise<void>((goOn) => {
          onHang(forMs, goOn);
          this.#onHung();
        }),
      crash: () => {
        this.isUp = false;
        onCrash();
      },
    };
    const membership = membershipOf(id, this.epochs);
    const context = schedulerContext({ now: () => now() + this.skewMs, membership: () => membership, emit: onEvent });
    this.scheduler = new Scheduler(context, {
      store: reportStopped(faultyStore(store, faults), onStopped),
      calendars: namedCalendars,
      pauseExpiry: options.pauseExpiry,
      limits: { ...limits, aheadMs: 0 },
    });
  }

  get isIdle(): boolean {
    return this.#ticking === null;
  }

  gain(shards: readonly { readonly id: number; readonly epoch: number }[]): void {
    for (const { id, epoch } of shards) this.epochs.set(id, epoch);
    this.scheduler.readShards(shards.map((shard) => shard.id));
    this.wake();
  }

  lose(shards: readonly number[]): void {
    for (const shard of shards) this.epochs.delete(shard);
    this.scheduler.forgetShards(shards);
  }

  wake(): void {
    this.isWoken = true;
    this.wakeAt = Math.min(this.wakeAt, this.#now());
  }

  /** One tick, to its end or until a statement hangs. */
  async tick(): Promise<void> {
    this.isWoken = false;
    const hung = new Promise<"hung">((resolve) => (this.#onHung = () => resolve("hung")));
    this.#ticking ??= this.#tickOnce();
    if ((await Promise.race([this.#ticking, hung])) === "hung") return;
    this.#ticking = null;
  }

  async #tickOnce(): Promise<void> {
    try {
      await this.scheduler.tick();
      this.wakeAt = this.#now() + Math.max(1, this.scheduler.idleMs);
    } catch {
      this.wakeAt = this.#now() + afterFailureMs;
    }
  }

  #takeFault(): ArmedFault | null {
    const { fault } = this;
    this.fault = null;
    return fault;
  }
}
