import { CarillonError, formatId, isFinal, storedLabels, withTrace } from "@carillon/core";
import { overlapRefused } from "../jobs/change/run-now.js";
import type { ChangeTransaction } from "../jobs/change/change-transaction.js";
import type { RepeatRequest } from "./failures.js";
import type { RunView } from "../runs/run-view.js";
import type { JobDraft } from "../jobs/transaction/job-draft.js";
import type { FailureStore, RunOverrides } from "@carillon/store";
import type { Teller } from "../webhooks/teller.js";
import type { ChangeContext } from "../requests.js";

export interface RepeatsOptions {
  readonly transaction: ChangeTransaction;
  readonly failures: Pick<FailureStore, "redrive" | "redriven">;
  readonly teller: Pick<Teller, "tellAgain">;
  readonly newId: () => string;
}

export interface Repeated {
  readonly id: string;
  readonly isNew: boolean;
}

/**
 * Makes runs in the place of others that have ended, which stay as they are. The new run has an id of its own, the nominal time,
 * payload, queue, priority and labels of the first, and the policies that its job has now.
 */
export class Repeats {
  readonly #options: RepeatsOptions;

  constructor(options: RepeatsOptions) {
    this.#options = options;
  }

  /** Of a run that failed, once: whoever asks again is answered with the same run. */
  async retry(namespaceId: number, run: RunView, request: RepeatRequest, context: ChangeContext): Promise<Repeated> {
    if (run.status !== "failed") throw notFailed(run);
    return this.#repeat(namespaceId, run, { ...request, kind: "retry" }, context);
  }

  /** Of any run that has ended, every time it is asked. */
  async replay(namespaceId: number, run: RunView, request: RepeatRequest, context: ChangeContext): Promise<string> {
    if (!isFinal(run.status)) throw stillLive(run);
    return (await this.#repeat(namespaceId, run, { ...request, kind: "replay" }, context)).id;
  }

  async #repeat(
    namespaceId: number,
    run: RunView,
    request: RepeatRequest & { readonly kind: "retry" | "replay" },
    context: ChangeContext,
  ): Promise<Repeated> {
    const { transaction, failures, teller, newId } = this.#options;
    const { kind, force = false } = request;
    if (run.trigger.kind === "callback") return teller.tellAgain(namespaceId, run, request, context);
    if (run.jobId === null) throw new CarillonError("run_not_repeatable", `${nameOf(run)} belongs to no job`);
    const id = newId();
    const changed = await transaction.run<Repeated>(namespaceId, { id: run.jobId }, context, {
      processesDue: false,
      apply: async ({ tx, draft }) => {
        const noted = { runId: run.id, namespaceId, kind, newRunId: id, actor: context.actor };
        if (!(await failures.redrive(tx, noted))) {
          const before = await failures.redriven(tx, namespaceId, [run.id]);
          const first = before.find((one) => one.kind === "retry")?.runId;
          if (first === undefined || first === null) throw new Error(`the retry of run ${run.id} cannot be found`);
          return { result: { id: first, isNew: false }, patch: null };
        }
        const overrides = { ...this.#overrides(draft, run, request), ...tracedPolicy(draft, context) };
        // A retry is one of a kind; replays differ by their own id.
        const trigger = kind === "retry" ? `retry:${run.id}` : `replay:${run.id}:${id}`;
        const { now } = draft.job;
        const wanted = { id, trigger, nominal: run.trigger.scheduledFor, runAt: now, overrides, force };
        if (draft.place(wanted) === "refused") throw overlapRefused(draft);
        await context.receipt?.keep(tx, { runs: [{ id, isNew: true }] });
        return { result: { id, isNew: true }, patch: "runs_only" };
      },
    });
    return changed.result;
  }

  #overrides({ job }: JobDraft, run: RunView, { payload }: RepeatRequest): RunOverrides {
    const { task, queue, priority, labels } = run;
    if (task !== job.task) {
      const detail = `${nameOf(run)} ran the task ${task} and its job runs ${job.task} now: ask for a run of the task itself`;
      throw new CarillonError("run_not_repeatable", detail);
    }
    const lane = this.#options.transaction.laneOf(job.namespaceId, { queue, task, policy: job.policy });
    const given = payload ?? { value: run.payload };
    const stored = storedLabels({ labels, policy: job.policy, payload: given.value });
    return { queue, lane, priority, payload: given, labels: stored };
  }
}

function tracedPolicy({ job }: JobDraft, { trace }: ChangeContext): RunOverrides {
  return trace === undefined ? {} : { policy: withTrace(job.policy, trace) };
}

function nameOf(run: RunView): string {
  return `the run ${formatId("run", run.id)}`;
}

function stillLive(run: RunView): CarillonError {
  return new CarillonError("run_live", `${nameOf(run)} is ${run.status}: wait for its end, or cancel it`);
}

function notFailed(run: RunView): CarillonError {
  if (!isFinal(run.status)) return stillLive(run);
  return new CarillonError("run_not_failed", `${nameOf(run)} is ${run.status}: replay makes another run like it`);
}
