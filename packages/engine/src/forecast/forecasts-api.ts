import type { DurationMs, Instant } from "@carillon/core";
import type { DueRules } from "../schedules/due-rules.js";
import type { Forecasts } from "./forecasts.js";
import type { ForecastJob, ForecastReads } from "@carillon/store";
import { countFires } from "./count-fires.js";

export interface ForecastsOptions {
  readonly reads: ForecastReads;
  readonly rules: Pick<DueRules, "compile" | "refresh">;
  readonly shards: number;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly within: <Result>(namespace: string, work: (id: number) => Promise<Result>) => Promise<Result>;
}

/** Jobs that are looked at: beyond this the rest is estimated. */
const enoughJobs = 20_000;
const firstStep = 8;
const hourMs: DurationMs = 3_600_000;
const mostAtOnce = 1_000;

/**
 * Looks ahead. Jobs are spread over the shards by a hash, so some shards stand for all: they are read, a few at first and then
 * more at a time, until enough jobs were seen.
 */
export function forecastsApi({ reads, rules, shards, now, within }: ForecastsOptions): Forecasts {
  async function sample(namespaceId: number, until: Instant): Promise<{ jobs: ForecastJob[]; factor: number }> {
    const jobs: ForecastJob[] = [];
    let [read, step] = [0, firstStep];
    while (read < shards && jobs.length < enoughJobs) {
      const part = Array.from({ length: Math.min(step, shards - read) }, (_, index) => read + index);
      const found = await reads.jobs(namespaceId, part, until);
      for (const job of found) jobs.push(job);
      read += part.length;
      // As many more as are likely to be enough.
      const perShard = Math.max(1, jobs.length) / read;
      step = Math.max(firstStep, Math.min(256, Math.ceil((enoughJobs - jobs.length) / perShard)));
    }
    return { jobs, factor: read === 0 ? 1 : shards / read };
  }
  return {
    forecast: (namespace, hours) =>
      within(namespace, async (namespaceId) => {
        const from = Math.floor(now());
        const until = from + hours * hourMs;
        await rules.refresh();
        const { jobs, factor } = await sample(namespaceId, until);
        return countFires({ jobs, factor, from, until }, ({ id: jobId, schedule }) => {
          try {
            return rules.compile({ jobId, namespaceId, schedule });
          } catch {
            // One that cannot be compiled any more cannot fire either.
            return null;
          }
        });
      }),
    firesAt: (namespace, instant) =>
      within(namespace, (namespaceId) => {
        const from = Math.floor(instant / 1_000) * 1_000;
        const all = Array.from({ length: shards }, (_, shard) => shard);
        return reads.countAt(namespaceId, all, { from, before: from + 1_000, most: mostAtOnce });
      }),
  };
}
