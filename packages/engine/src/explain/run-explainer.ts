import { breakerNameIn, formatId } from "@carillon/core";
import type { Breakers } from "../breakers/breakers.js";
import type { Limits } from "../limits/limits.js";
import type { RunExplanation } from "./explanations.js";
import type { RunView } from "../runs/run-view.js";
import type { RunToServe, Served, Unserved } from "../dispatch/sessions/why-unserved.js";
import type { ExplainReads, LiveRunOfJob, RunSurroundings } from "@carillon/store";
import { explainLimits } from "./explain-limits.js";
import { withSla } from "./explain-sla.js";
import { at, because, byWhom, inShort, inWords } from "./words.js";

export interface RunExplainerOptions {
  readonly reads: ExplainReads;
  /** The workers that can take the run, or why there are none. */
  readonly whoServes: (namespaceId: number, run: RunToServe) => Promise<Served | Unserved>;
  readonly limitsOf: Limits["ofRun"];
  readonly breakerOf: Breakers["get"];
  /** The live runs of a job, oldest first. */
  readonly liveOf: (jobId: string) => Promise<LiveRunOfJob[]>;
}

interface Within {
  readonly id: number;
  readonly name: string;
}

/** Says of a run why it does not run: one answer, the first that keeps it from running. */
export class RunExplainer {
  readonly #options: RunExplainerOptions;

  constructor(options: RunExplainerOptions) {
    this.#options = options;
  }

  async explain(namespace: Within, run: RunView, now: number): Promise<RunExplanation> {
    return withSla(await this.#why(namespace, run, now), run, now);
  }

  async #why(namespace: Within, run: RunView, now: number): Promise<RunExplanation> {
    switch (run.status) {
      case "running":
        return running(run, now);
      case "scheduled":
      case "retrying":
        return (await this.#parked(namespace, run)) ?? waitsForTime(run, now);
      case "blocked":
      case "queued":
        return this.#stands(namespace, run);
      default:
        return ended(run);
    }
  }

  async #stands({ id: namespaceId, name }: Within, run: RunView): Promise<RunExplanation> {
    const around = await this.#options.reads.surroundings(namespaceId, run.id);
    if (around === null) return told("due_now", "it has just been taken, or has just ended: look again");
    if (run.status === "blocked" && run.statusReason === "overlap") return this.#overlaps(run);
    if (around.queuePause !== null) return queuePaused(run, around.queuePause);
    if (run.status === "blocked") return this.#limited(name, run, around.now);
    const behind = await this.#behindBreaker(name, run, around);
    if (behind !== null) return behind;
    const served = await this.#options.whoServes(namespaceId, run);
    if ("code" in served) return { ...told(served.code, served.detail), facts: { task: run.task, queue: run.queue } };
    if (around.laneKind === "gated")
      return told("limit_pending", "its limits are about to be looked at: it is admitted in its turn");
    return this.#inLine(namespaceId, run, { ...around, ...served });
  }

  /** It failed while its breaker was open, and waits with all that are behind it; null: it does not. */
  async #parked({ id, name }: Within, run: RunView): Promise<RunExplanation | null> {
    if (run.statusReason !== "breaker_open") return null;
    const around = await this.#options.reads.surroundings(id, run.id);
    return around === null ? null : this.#behindBreaker(name, run, around);
  }

  /** null: it is behind none, or behind one that is closed. */
  async #behindBreaker(
    namespace: string,
    run: RunView,
    { requires, now }: RunSurroundings,
  ): Promise<RunExplanation | null> {
    const name = breakerNameIn(requires, run.task);
    const breaker = name === null ? null : await this.#options.breakerOf(namespace, name);
    if (breaker === null || breaker.state === "closed") return null;
    const facts = { breaker: breaker.name, state: breaker.state };
    if (breaker.state === "half_open")
      return {
        ...told("breaker_open", `breaker ${breaker.name}: one run is being tried${because(breaker.reason)}`),
        facts,
      };
    const until = breaker.probeAt;
    const detail = `breaker ${breaker.name} is open until ${at(until)}, for ${inWords(until - now)} more${because(breaker.reason)}`;
    return { ...told("breaker_open", detail), until, facts };
  }

  async #overlaps(run: RunView): Promise<RunExplanation> {
    const live = run.jobId === null ? [] : await this.#options.liveOf(run.jobId);
    const before = live.find((one) => one.id !== run.id);
    const ahead = live.findIndex((one) => one.id === run.id);
    if (before === undefined) return told("overlap", "it waited for another run of its job, and is about to start");
    const name = formatId("run", before.id);
    const detail = `waits for ${name} of the same job, which is ${before.status}; ${Math.max(1, ahead)} of its runs go before it`;
    return { ...told("overlap", detail), facts: { run: name, status: before.status, ahead: Math.max(1, ahead) } };
  }

  async #limited(namespace: string, run: RunView, now: number): Promise<RunExplanation> {
    const found = await this.#options.limitsOf(namespace, run.id);
    if (found === null) return told("limit_pending", "its limits are about to be looked at");
    return explainLimits(found, now);
  }

  async #inLine(namespaceId: number, run: RunView, around: RunSurroundings & Served): Promise<RunExplanation> {
    const { isStrict, now, workers, slots } = around;
    const { ahead, of, running: atWork } = await this.#options.reads.position(namespaceId, run.id);
    const [place, total] = [ahead + 1, Math.max(of, ahead + 1)];
    const order = isStrict ? ", one at a time in their order" : "";
    const line = `position ${place} of ${total} in queue ${run.queue}${order}; due for ${inWords(now - run.runAt)}`;
    const who = `${counted(workers, "worker")} with ${counted(slots, "slot")} can take it`;
    const detail = `${line}; ${who}, and ${counted(atWork, "run")} of the queue ${atWork === 1 ? "is" : "are"} at work`;
    return {
      ...told("position", detail),
      facts: { queue: run.queue, position: place, of: total, running: atWork, workers, slots },
    };
  }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

function told(code: RunExplanation["code"], detail: string): RunExplanation {
  return { code, detail, until: null, facts: {} };
}

function running(run: RunView, now: number): RunExplanation {
  const { workerId, startedAt, attempt, maxAttempts } = run;
  const since = startedAt === null ? "" : ` for ${inWords(now - startedAt)}`;
  if (run.statusReason === "callback") {
    const waits = `attempt ${attempt} of ${maxAttempts} waits for a callback, without a worker${since}`;
    return { ...told("running", waits), facts: { attempt, max_attempts: maxAttempts } };
  }
  const worker = workerId === null ? "a worker" : formatId("wrk", workerId);
  const detail = `attempt ${attempt} of ${maxAttempts} runs on ${worker}${since}`;
  return { ...told("running", detail), facts: { worker, attempt, max_attempts: maxAttempts } };
}

function waitsForTime(run: RunView, now: number): RunExplanation {
  const { status, runAt, attempt, maxAttempts, statusReason } = run;
  const left = runAt - now;
  if (statusReason === "paused")
    return told("due_later", `its job is paused: due at ${at(runAt)}, if that goes on by then`);
  if (left <= 0) return told("due_now", "it is due and is about to be queued");
  if (status === "retrying") {
    const error = run.attempts.at(-1)?.error;
    const before = error === undefined ? "" : `; the attempt before: ${inShort(error)}`;
    const detail = `retry ${attempt + 1} of ${maxAttempts} at ${at(runAt)}, in ${inWords(left)}${before}`;
    const facts = { attempt: attempt + 1, max_attempts: maxAttempts, in_ms: left };
    return { code: "retry_later", detail, until: runAt, facts };
  }
  const why = statusReason === null ? "" : ` (${statusReason})`;
  return {
    code: "due_later",
    detail: `due in ${inWords(left)}, at ${at(runAt)}${why}`,
    until: runAt,
    facts: { in_ms: left },
  };
}

function queuePaused({ queue }: RunView, pause: NonNullable<RunSurroundings["queuePause"]>): RunExplanation {
  const detail = `queue ${queue} is paused${byWhom(pause.actor)} since ${at(pause.at)}${because(pause.reason)}`;
  return { ...told("queue_paused", detail), facts: { queue, ...(pause.actor !== null && { actor: pause.actor }) } };
}

function ended({ status, statusReason, finishedAt, error, attempt, maxAttempts }: RunView): RunExplanation {
  const when = finishedAt === null ? "" : ` at ${at(finishedAt)}`;
  const how = statusReason === null ? "" : ` (${statusReason})`;
  const tries = status === "failed" && attempt > 0 ? `, attempt ${attempt} of ${maxAttempts}` : "";
  const what = error === null ? "" : `: ${inShort(error)}`;
  return { ...told("ended", `${status}${when}${how}${tries}${what}`), facts: { status } };
}
