import { CarillonError, type Clock, type DurationMs, type Instant } from "@carillon/core";
import { breakerApi } from "../breakers/breaker-api.js";
import type { NodeBreakers } from "../breakers/node-breakers.js";
import type { Breakers } from "../breakers/breakers.js";
import type { Namespaces } from "../catalog/namespaces.js";
import type { Queues } from "../catalog/queues.js";
import { namespaceApi } from "../catalog/namespace-api.js";
import { queueApi } from "../catalog/queue-api.js";
import type { EngineStore } from "./engine-store.js";

export interface QueueingOptions {
  readonly store: Pick<
    EngineStore,
    "queues" | "queueBook" | "taskBook" | "durations" | "namespaces" | "namespaceBook" | "breakers" | "limitOwners"
  >;
  /** The breakers as this node sees them. */
  readonly breakers: Pick<NodeBreakers, "look" | "tick">;
  readonly clock: Pick<Clock, "monotonic">;
  /** The database's clock. */
  readonly now: () => Instant;
  /** A change whose hint was lost is followed after at most this time. */
  readonly periodMs: DurationMs;
  readonly onChanged: () => void;
}

export interface Queueing {
  readonly api: Queues & Namespaces & Breakers;
  /** One look at what changed; answers when to look again. */
  readonly tick: () => Promise<DurationMs>;
}

/** How long tasks take is written down and read so often. */
const durationsPeriodMs: DurationMs = 60_000;

/** The parts that keep queues, namespaces and breakers, put together. */
export function makeQueueing(options: QueueingOptions): Queueing {
  const { store, clock, now, periodMs, onChanged } = options;
  const { queues, queueBook, taskBook, durations, namespaces, namespaceBook, limitOwners } = store;
  let sharedAt = Number.NEGATIVE_INFINITY;

  async function shareDurations(): Promise<void> {
    sharedAt = clock.monotonic();
    const changed = durations.takeChanged();
    if (changed.length > 0) await queues.learn(changed);
    durations.learn(await queues.durations());
  }

  const look = async (): Promise<void> =>
    void (await Promise.all([namespaceBook.look(), queueBook.look(), taskBook.look(), limitOwners.look()]));
  const stored = async (): Promise<void> => {
    await look();
    onChanged();
  };

  const namespaceId = async (name: string): Promise<number> => {
    const id = await namespaces.find(name);
    if (id === null) throw new CarillonError("not_found", `there is no namespace ${JSON.stringify(name)}`);
    return id;
  };
  const onReset = async (): Promise<void> => {
    await options.breakers.look();
    onChanged();
  };

  const ofQueues = queueApi({
    queues,
    now,
    namespaceId,
    onChanged: stored,
  });
  return {
    api: {
      ...ofQueues,
      ...namespaceApi({ namespaces, onChanged: stored }),
      ...breakerApi({ breakers: store.breakers, namespaceId, onReset }),
    },
    async tick() {
      if ((await queues.resumeExpired()) > 0) onChanged();
      await look();
      await options.breakers.tick();
      if (clock.monotonic() - sharedAt >= durationsPeriodMs) await shareDurations();
      return periodMs;
    },
  };
}
