import {
  CarillonError,
  checkRunPolicy,
  formatId,
  keyedLimits,
  type RunPolicy,
  storedLabels,
  type TraceContext,
  withTrace,
} from "@carillon/core";
import type { RunNowRequest } from "../job-changes.js";
import type { JobDraft } from "../transaction/job-draft.js";
import type { RunOverrides } from "@carillon/store";
import type { ChangeTransaction } from "./change-transaction.js";
import type { JobRef, ChangeContext } from "../../requests.js";

export interface RunNowOptions {
  readonly transaction: ChangeTransaction;
  readonly newId: () => string;
}

/** Makes a run of a job by hand. It has an identity of its own and does not move the schedule. */
export class RunNow {
  readonly #options: RunNowOptions;

  constructor(options: RunNowOptions) {
    this.#options = options;
  }

  /** Answers the run's id. */
  async run(namespaceId: number, ref: JobRef, request: RunNowRequest, context: ChangeContext): Promise<string> {
    const { transaction, newId } = this.#options;
    const id = newId();
    const changed = await transaction.run(namespaceId, ref, context, {
      settles: false,
      apply: async ({ tx, draft }) => {
        const overrides = this.#overrides(draft, request, context.trace);
        const { now } = draft.job;
        const wanted = { id, trigger: `run_now:${id}`, nominal: now, runAt: now, overrides };
        const placed = draft.place({ ...wanted, force: request.force ?? false });
        if (placed === "refused") throw overlapRefused(draft);
        await context.receipt?.keep(tx, { runs: [{ id, isNew: true }] });
        return { result: id, patch: "runs_only" };
      },
    });
    return changed.result;
  }

  #overrides({ job }: JobDraft, request: RunNowRequest, trace: TraceContext | undefined): RunOverrides {
    const { payload, priority, queue, labels } = request;
    const wanted = request.policy === undefined ? job.policy : mergePolicy(job.policy, request.policy);
    const policy = withTrace(wanted, trace);
    checkRunPolicy(policy);
    keyedLimits(policy, {
      task: job.task,
      jobId: job.id,
      payload: payload === undefined ? job.payload : payload.value,
    });
    const { transaction } = this.#options;
    return {
      ...(payload === undefined ? {} : { payload }),
      ...(priority === undefined ? {} : { priority }),
      ...(queue !== undefined && { queue }),
      ...((queue !== undefined || request.policy !== undefined) && {
        lane: transaction.laneOf(job.namespaceId, { queue: queue ?? job.queue, task: job.task, policy }),
      }),
      ...((labels !== undefined || (payload !== undefined && policy.searchable !== undefined)) && {
        labels: storedLabels({
          labels: { ...job.labels, ...labels },
          policy,
          payload: payload === undefined ? job.payload : payload.value,
        }),
      }),
      ...(policy !== job.policy && { policy }),
    };
  }
}

function mergePolicy(ofJob: RunPolicy, given: RunPolicy): RunPolicy {
  const retry = { ...ofJob.retry, ...given.retry };
  return { ...ofJob, ...given, ...(Object.keys(retry).length === 0 ? {} : { retry }) };
}

export function overlapRefused({ job, live }: JobDraft): CarillonError {
  const newest = live.at(-1);
  const which = newest === undefined ? "a run" : `the run ${formatId("run", newest.id)} (${newest.status})`;
  return new CarillonError(
    "overlap_refused",
    `${which} of this job is live and its overlap policy is ${job.due.overlap}: wait for its end, or ask with force`,
  );
}
