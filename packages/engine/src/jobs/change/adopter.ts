import { type RunPolicy, timeOfUuid } from "@carillon/core";
import type { RunView } from "../../runs/run-view.js";
import type { JobChangeStore, Queryable, RunReads } from "@carillon/store";
import { priorityClass } from "../../catalog/priority-class.js";
import { clockSlackMs, RunReader } from "../../runs/run-reader.js";
import { shardOf } from "../../catalog/shard-of.js";

export interface AdopterOptions {
  readonly changes: JobChangeStore;
  readonly shards: number;
  readonly readsOver: (tx: Queryable) => RunReads;
}

export interface Adoption {
  readonly tx: Queryable;
  readonly namespaceId: number;
  readonly jobId: string;
  readonly laneOf: (spec: { queue: string; task: string; policy: RunPolicy }) => number;
}

/** Makes a stored job of a one-off job that is its run alone. Its id stays. */
export class Adopter {
  readonly #options: AdopterOptions;

  constructor(options: AdopterOptions) {
    this.#options = options;
  }

  /**
   * Afterwards there is a stored job, whoever made it, unless there is no such one-off job or it was cancelled. Answers the
   * run as it was found; the job is not locked yet. `laneOf` is asked for a job that has ended.
   */
  async adopt({ tx, namespaceId, jobId: id, laneOf }: Adoption): Promise<RunView | null> {
    const { changes, readsOver, shards } = this.#options;
    const run = await new RunReader(readsOver(tx)).find(namespaceId, id);
    if (run === null || run.jobId !== id) return null;
    const urgency = priorityClass(run.priority);
    if ((await changes.holdRun(tx, namespaceId, id)) !== null) {
      await changes.adoptLive(tx, id, urgency);
      return run;
    }
    const notBefore = Math.max(0, timeOfUuid(id) - clockSlackMs);
    await changes.adoptEnded(tx, { id, notBefore, class: urgency, lane: laneOf(run), shard: shardOf(id, shards) });
    return run;
  }
}
