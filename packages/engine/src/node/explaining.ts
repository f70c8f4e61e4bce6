import type { Instant } from "@carillon/core";
import { whoServes } from "../dispatch/why-unserved.js";
import { explanationsApi } from "../explain/explanations-api.js";
import { RunExplainer } from "../explain/run-explainer.js";
import { JobReader } from "../jobs/job-reader.js";
import { RunLister } from "../runs/run-lister.js";
import { RunReader } from "../runs/run-reader.js";
import type { Explanations } from "../explain/explanations.js";
import type { Breakers } from "../breakers/breakers.js";
import type { Limits } from "../limits/limits.js";
import type { JobChanges } from "../jobs/job-changes.js";
import type { Queryable } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";
import { withinNamespace } from "./engine-api.js";

export interface ExplainingOptions {
  readonly db: Queryable;
  readonly store: EngineStore;
  readonly changes: Pick<JobChanges, "countMissed" | "listOccurrences">;
  readonly limitsOf: Limits["limitsOf"];
  readonly breakerOf: Breakers["getBreaker"];
  /** The database's clock. */
  readonly now: () => Instant;
}

/** The parts that say why, put together. */
export function makeExplaining({ db, store, changes, limitsOf, breakerOf, now }: ExplainingOptions): Explanations {
  const { settler, sessions } = store;
  const runs = new RunReader(store.reads);
  return explanationsApi({
    runs,
    jobs: new JobReader(store.jobs, runs, new RunLister(store.search, runs)),
    changes,
    now,
    within: withinNamespace(store.namespaces),
    explainer: new RunExplainer({
      reads: store.explainReads,
      whoServes: async (namespaceId, run) => whoServes(run, await sessions.kinds(namespaceId, run.task)),
      limitsOf,
      breakerOf,
      liveOf: (jobId) => settler.reads.live(db, [jobId], { hold: false }),
    }),
    async isHeld(jobId) {
      const [job] = await settler.reads.read(db, [jobId], { payload: false });
      return job?.due.stateReason?.startsWith("held ") ?? false;
    },
  });
}
