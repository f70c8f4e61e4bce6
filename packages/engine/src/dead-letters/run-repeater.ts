import { CarillonError, formatId, isFinal, storedLabels, withTrace } from "@carillon/core";
import type { RunOverrides } from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { ChangeTransaction } from "../jobs/change/change-transaction.js";
import { overlapRefused } from "../jobs/change/run-now.js";
import type { JobDraft } from "../jobs/transaction/job-draft.js";
import type { ChangeContext } from "../requests.js";
import type { RunView } from "../runs/run-reader.js";
import type { DeliveryRuns } from "../webhooks/delivery-runs.js";

export interface RepeatRequest {
  /** Wrapped, because null is a payload too; absent: the payload of the run. */
  readonly payload?: { readonly value: unknown };
  /** Ignores the job's overlap policy. */
  readonly force?: boolean;
}

export interface RunRepeaterDeps {
  readonly transaction: ChangeTransaction;
  readonly deliveryRuns: Pick<DeliveryRuns, "repeat">;
}

export interface Repeated {
  readonly id: string;
  readonly isNew: boolean;
}

/**
 * Makes runs in the place of ended runs, which do not change. The new run has a new id, the nominal time, payload, queue, priority and
 * labels of the ended one, and the present policies of its job.
 */
export class RunRepeater {
  readonly #context: Pick<EngineContext, "store" | "newId">;
  readonly #deps: RunRepeaterDeps;

  constructor(context: Pick<EngineContext, "store" | "newId">, deps: RunRepeaterDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  /** Retries a failed run once: a second call returns the same retry. */
  async retry(namespaceId: number, run: RunView, request: RepeatRequest, context: ChangeContext): Promise<Repeated> {
    if (run.status !== "failed") throw notFailed(run);
    return this.#repeat(namespaceId, run, { ...request, kind: "retry" }, context);
  }

  /** Makes another run like an ended one, with every call. */
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
    const { transaction, deliveryRuns } = this.#deps;
    const { failures } = this.#context.store;
    const { kind, force = false } = request;
    if (run.trigger.kind === "callback") return deliveryRuns.repeat(namespaceId, run, request, context);
    if (run.jobId === null) throw new CarillonError("run_not_repeatable", `${nameOf(run)} belongs to no job.`);
    const id = this.#context.newId();
    const changed = await transaction.run<Repeated>(namespaceId, { id: run.jobId }, context, {
      processesDue: false,
      apply: async ({ tx, draft }) => {
        const redrive = { runId: run.id, namespaceId, kind, newRunId: id, actor: context.actor };
        if (!(await failures.redrive(tx, redrive))) {
          const redrives = await failures.redriven(tx, namespaceId, [run.id]);
          const first = redrives.find((one) => one.kind === "retry")?.runId;
          if (first === undefined || first === null) throw new Error(`The retry of run ${run.id} cannot be found.`);
          return { result: { id: first, isNew: false }, patch: null };
        }
        const overrides = { ...this.#overrides(draft, run, request), ...tracedPolicy(draft, context) };
        // A run has one retry; replays differ by their own id.
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
      const detail = `${nameOf(run)} ran the task ${task}, but its job runs ${job.task} now. Enqueue a run of the task itself.`;
      throw new CarillonError("run_not_repeatable", detail);
    }
    const lane = this.#deps.transaction.laneOf(job.namespaceId, { queue, task, policy: job.policy });
    const given = payload ?? { value: run.payload };
    const stored = storedLabels({ labels, policy: job.policy, payload: given.value });
    return { queue, lane, priority, payload: given, labels: stored };
  }
}

function tracedPolicy({ job }: JobDraft, { trace }: ChangeContext): RunOverrides {
  return trace === undefined ? {} : { policy: withTrace(job.policy, trace) };
}

function nameOf(run: RunView): string {
  return `The run ${formatId("run", run.id)}`;
}

function stillLive(run: RunView): CarillonError {
  return new CarillonError("run_live", `${nameOf(run)} is ${run.status}. Wait for its end, or cancel it.`);
}

function notFailed(run: RunView): CarillonError {
  if (!isFinal(run.status)) return stillLive(run);
  return new CarillonError("run_not_failed", `${nameOf(run)} is ${run.status}. A replay makes another run like it.`);
}
