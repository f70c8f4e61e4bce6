import { type Client, ServerUnreachable } from "@carillon/client";
import type { Queue, QueueStats, Run, Worker } from "@carillon/contract";

export interface QueueSnapshot extends Queue {
  readonly stats: QueueStats;
  readonly rates: Rates;
}

/** Everything that the view shows, in the API's form. */
export interface Snapshot {
  readonly at: string;
  readonly url: string;
  readonly version: string;
  readonly ready: boolean;
  readonly rates: Rates;
  readonly queues: readonly QueueSnapshot[];
  /** The namespace has more queues than the view reads. */
  readonly more_queues: boolean;
  readonly workers: readonly Worker[];
  readonly running: readonly Run[];
}

export interface SnapshotOptions {
  readonly client: Client;
  readonly url: string;
  readonly meter: RateMeter;
  readonly now: () => number;
}

const maxQueues = 50;
const maxRows = 100;

/** Null if the server cannot be reached: the live view goes on, and says so. */
export async function takeSnapshot(options: SnapshotOptions): Promise<Snapshot | null> {
  try {
    return await readSnapshot(options);
  } catch (error) {
    if (error instanceof ServerUnreachable) return null;
    throw error;
  }
}

async function readSnapshot({ client, url, meter, now }: SnapshotOptions): Promise<Snapshot> {
  const [version, readiness, queues, { workers }, { runs }] = await Promise.all([
    client.version(),
    client.ready(),
    client.queues.list({ page_size: maxQueues, include: "stats" }),
    client.workers.list({ page_size: maxRows }),
    client.runs.list({ status: "running", page_size: maxRows }),
  ]);
  const at = now();
  return {
    at: new Date(at).toISOString(),
    url,
    version: version.version,
    ready: readiness.status === "ready",
    rates: meter.rates(at),
    queues: queues.queues.flatMap(({ stats, ...queue }) =>
      stats === undefined ? [] : [{ ...queue, stats, rates: meter.rates(at, queue.name) }],
    ),
    more_queues: queues.next_page_token !== null,
    workers,
    running: runs,
  };
}

/** What is counted, by the type of event. */
export const counted = {
  "run.fired": "fired",
  "run.started": "started",
  "run.succeeded": "succeeded",
  "run.failed": "failed",
  "run.retrying": "retried",
} as const;

export type RateName = (typeof counted)[keyof typeof counted];
export type Rates = Readonly<Record<RateName, number>>;

const windowS = 10;
const names = Object.values(counted);

/** Events per second over the last ten seconds, for everything and for each queue. */
export class RateMeter {
  readonly #begun: number;
  readonly #all: Buckets = new Map();
  readonly #queues = new Map<string, Buckets>();

  constructor(now: number) {
    this.#begun = now;
  }

  add(name: RateName, queue: string | undefined, now: number): void {
    const second = Math.floor(now / 1_000);
    count(this.#all, name, second);
    if (queue === undefined) return;
    const own = this.#queues.get(queue) ?? new Map();
    this.#queues.set(queue, own);
    count(own, name, second);
  }

  rates(now: number, queue?: string): Rates {
    const buckets = queue === undefined ? this.#all : (this.#queues.get(queue) ?? new Map());
    const spanS = Math.min(windowS, Math.max(1, (now - this.#begun) / 1_000));
    const second = Math.floor(now / 1_000);
    const rateOf = (name: RateName): number => {
      let sum = 0;
      for (const [at, counts] of buckets) if (at > second - windowS) sum += counts[name] ?? 0;
      return Math.round((sum / spanS) * 10) / 10;
    };
    return Object.fromEntries(names.map((name) => [name, rateOf(name)])) as Record<RateName, number>;
  }
}

type Buckets = Map<number, Partial<Record<RateName, number>>>;

/** Drops the seconds before the window. */
function count(buckets: Buckets, name: RateName, second: number): void {
  const bucket = buckets.get(second) ?? {};
  bucket[name] = (bucket[name] ?? 0) + 1;
  buckets.set(second, bucket);
  for (const at of buckets.keys()) if (at < second - windowS) buckets.delete(at);
}
