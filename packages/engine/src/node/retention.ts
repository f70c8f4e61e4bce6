import type { DurationMs, Instant } from "@carillon/core";
import type { Membership } from "../cluster/coordinator.js";
import { DayKeeper } from "../runs/retention/day-keeper.js";
import { JobSweeper } from "../runs/retention/job-sweeper.js";
import { RecordSweeper } from "../runs/retention/record-sweeper.js";
import type { EngineStore } from "./engine-store.js";

export interface RetentionOptions {
  readonly store: Pick<EngineStore, "historyDays" | "logDays" | "sweeps" | "retention" | "receipts">;
  readonly now: () => Instant;
  readonly membership: () => Membership;
  readonly historyDays: number;
  readonly logDays: number;
  readonly batch: number;
}

const hourMs = 3_600_000;

/** What is made ahead and what goes after its time. */
export interface Retention {
  /** The days of history and of logs. */
  tickDays(): Promise<DurationMs>;
  /** What runs left behind that have ended. */
  tickRecords(): Promise<DurationMs>;
  /** What is on record about jobs. */
  tickJobs(): Promise<DurationMs>;
}

export function makeRetention({ store, now, membership, historyDays, logDays, batch }: RetentionOptions): Retention {
  const history = new DayKeeper(store.historyDays, now, historyDays);
  const logs = new DayKeeper(store.logDays, now, logDays);
  const isOurs = (): boolean => membership().epochs.has(0);
  const records = new RecordSweeper({ ...store, batch, isOurs, now, historyDays });
  const jobs = new JobSweeper({ sweeps: store.retention, batch, isOurs, now, historyDays });
  return {
    async tickDays() {
      await history.tick();
      await logs.tick();
      return hourMs;
    },
    tickRecords: () => records.tick(),
    tickJobs: () => jobs.tick(),
  };
}
