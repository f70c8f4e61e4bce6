import type { DurationMs, Instant } from "@carillon/core";
import type { ForecastJob } from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { DueRules } from "../schedules/due-rules.js";
import { countFires, type Forecast, type Sample } from "./count-fires.js";

type Context = Pick<EngineContext, "store" | "shardCount" | "now" | "inNamespace">;

export interface ForecastsDeps {
  readonly rules: Pick<DueRules, "compile" | "refresh">;
}

/** Jobs that a forecast reads; the fires of the others are estimated. */
const enoughJobs = 20_000;
const firstStep = 8;
const maxStep = 256;
const hourMs: DurationMs = 3_600_000;
const maxCountedAtOnce = 1_000;

/** How many runs the schedules of a namespace will fire, and when. */
export class Forecasts {
  readonly #context: Context;
  readonly #deps: ForecastsDeps;

  constructor(context: Context, deps: ForecastsDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  get(namespace: string, hours: number): Promise<Forecast> {
    const { rules } = this.#deps;
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      const from = Math.floor(this.#context.now());
      const until = from + hours * hourMs;
      await rules.refresh();
      const sample = await this.#sample(namespaceId, until);
      return countFires({ ...sample, from, until }, ({ id: jobId, schedule }) => {
        try {
          return rules.compile({ jobId, namespaceId, schedule });
        } catch {
          // A job whose rule no longer compiles does not fire either.
          return null;
        }
      });
    });
  }

  /** How many jobs fire in the second of an instant; counted up to 1,000. */
  firesAt(namespace: string, instant: Instant): Promise<number> {
    const { store, shardCount, inNamespace } = this.#context;
    return inNamespace(namespace, (namespaceId) => {
      const from = Math.floor(instant / 1_000) * 1_000;
      const shards = Array.from({ length: shardCount }, (_, shard) => shard);
      return store.forecastReads.countAt(namespaceId, shards, { from, before: from + 1_000, max: maxCountedAtOnce });
    });
  }

  /** Jobs are spread over the shards by a hash, so some shards represent all. Reads a few shards first, then more at a time, until there are enough jobs. */
  async #sample(namespaceId: number, until: Instant): Promise<Pick<Sample, "jobs" | "factor">> {
    const { store, shardCount } = this.#context;
    const jobs: ForecastJob[] = [];
    let [read, step] = [0, firstStep];
    while (read < shardCount && jobs.length < enoughJobs) {
      const shards = Array.from({ length: Math.min(step, shardCount - read) }, (_, index) => read + index);
      for (const job of await store.forecastReads.jobs(namespaceId, shards, until)) jobs.push(job);
      read += shards.length;
      const perShard = Math.max(1, jobs.length) / read;
      step = Math.max(firstStep, Math.min(maxStep, Math.ceil((enoughJobs - jobs.length) / perShard)));
    }
    return { jobs, factor: read === 0 ? 1 : shardCount / read };
  }
}
