import { DedupeSweeper } from "../runs/retention/dedupe-sweeper.js";
import type { Ground } from "./ground.js";
import type { Ticks } from "../loops/loops.js";
import { makeRetention } from "./retention.js";

/** What is made ahead of its time, and what goes after it. */
export interface Keeping {
  readonly ticks: Pick<Ticks, "history" | "records" | "jobs" | "dedupe">;
}

export function makeKeeping({ store, limits, now, membership }: Ground): Keeping {
  const { historyDays, logDays, sweepBatch: batch } = limits;
  const retention = makeRetention({ store, now, membership, historyDays, logDays, batch });
  const sweeper = new DedupeSweeper({ dedupes: store.dedupes, membership, batch });
  return {
    ticks: {
      history: () => retention.tickDays(),
      records: () => retention.tickRecords(),
      jobs: () => retention.tickJobs(),
      dedupe: () => sweeper.tick(),
    },
  };
}
