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
import type { EngineContext } from "../../context.js";
import type { RunNowRequest } from "../job-requests.js";
import type { JobDraft } from "../transaction/job-draft.js";
import type { RunOverrides } from "@carillon/store";
import type { ChangeTransaction } from "./change-transaction.js";
import type { JobRef, ChangeContext } from "../../requests.js";

/** Makes a run of a job at a caller's request. The run has an id of its own and does not move the schedule. */
export class RunNow {
  readonly #newId: () => string;
  readonly #transaction: ChangeTransaction;

  constructor({ newId }: Pick<EngineContext, "newId">, transaction: ChangeTransaction) {
    this.#newId = newId;
    this.#transaction = transaction;
  }

  /** Returns the run's id. */
  async run(namespaceId: number, ref: JobRef, request: RunNowRequest, context: ChangeContext): Promise<string> {
    const id = this.#newId();
    const changed = await this.#transaction.run(namespaceId, ref, context, {
      processesDue: false,
      apply: async ({ tx, draft }) => {
        const overrides = this.#overrides(draft, request, context.trace);
        const { now } = draft.job;
        const requested = { id, trigger: `run_now:${id}`, nominal: now, runAt: now, overrides };
        const placed = draft.place({ ...requested, force: request.force ?? false });
        if (placed === "refused") throw overlapRefused(draft);
        await context.receipt?.keep(tx, { runs: [{ id, isNew: true }] });
        return { result: id, patch: "runs_only" };
      },
    });
    return changed.result;
  }

  #overrides({ job }: JobDraft, request: RunNowRequest, trace: TraceContext | undefined): RunOverrides {
    const { payload, priority, queue, labels } = request;
    const merged = request.policy === undefined ? job.policy : mergePolicy(job.policy, request.policy);
    const policy = withTrace(merged, trace);
    checkRunPolicy(policy);
    keyedLimits(policy, {
      task: job.task,
      jobId: job.id,
      payload: payload === undefined ? job.payload : payload.value,
    });
    return {
      ...(payload === undefined ? {} : { payload }),
      ...(priority === undefined ? {} : { priority }),
      ...(queue !== undefined && { queue }),
      ...((queue !== undefined || request.policy !== undefined) && {
        lane: this.#transaction.laneOf(job.namespaceId, { queue: queue ?? job.queue, task: job.task, policy }),
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
  const which = newest === undefined ? "A run" : `The run ${formatId("run", newest.id)} (${newest.status})`;
  return new CarillonError(
    "overlap_refused",
    `${which} of this job is live and its overlap policy is ${job.due.overlap}: wait for its end, or request the run with force.`,
  );
}
