import { type Client, ServerUnreachable } from "@carillon/client";
import type { Queue, QueueStats, Run, Worker } from "@carillon/contract";
import type { RateMeter, Rates } from "./rates.js";

export interface QueueLook extends Queue {
  readonly stats: QueueStats;
  readonly rates: Rates;
}

/** Everything that the view shows, as the API says it. */
export interface Look {
  readonly at: string;
  readonly url: string;
  readonly version: string;
  readonly ready: boolean;
  readonly rates: Rates;
  readonly queues: readonly QueueLook[];
  /** There are more queues than are looked at. */
  readonly more_queues: boolean;
  readonly workers: readonly Worker[];
  readonly running: readonly Run[];
}

export interface LookOptions {
  readonly client: Client;
  readonly url: string;
  readonly meter: RateMeter;
  readonly now: () => number;
}

const mostQueues = 50;
const mostRows = 100;

/** One look; null when the server cannot be reached, which a view that stays must survive. */
export async function look(options: LookOptions): Promise<Look | null> {
  try {
    return await wholeLook(options);
  } catch (error) {
    if (error instanceof ServerUnreachable) return null;
    throw error;
  }
}

async function wholeLook({ client, url, meter, now }: LookOptions): Promise<Look> {
  const [version, readiness, queues, { workers }, { runs }] = await Promise.all([
    client.version(),
    client.ready(),
    client.queues.list({ page_size: mostQueues, include: "stats" }),
    client.workers.list({ page_size: mostRows }),
    client.runs.list({ status: "running", page_size: mostRows }),
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
