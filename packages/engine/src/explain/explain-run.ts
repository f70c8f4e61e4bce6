import { breakerNameIn, formatId, type Instant, isFinal, latenessOf, slaTermsOf } from "@carillon/core";
import type { RunSurroundings } from "@carillon/store";
import type { Breakers } from "../breakers/breakers.js";
import type { EngineContext } from "../context.js";
import { type Served, whoServes } from "../dispatch/sessions/why-unserved.js";
import type { Limits, LimitView, RunLimitsView } from "../limits/limits.js";
import { firstStartOf, lostClaimOf } from "../runs/attempts.js";
import type { RunView } from "../runs/run-reader.js";
import { at, because, byWhom, durationText, errorSummary, plain, type RunExplanation } from "./explanation.js";

type Context = Pick<EngineContext, "store" | "db">;

export interface ExplainRunDeps {
  readonly limits: Pick<Limits, "ofRun">;
  readonly breakers: Pick<Breakers, "get">;
}

interface Namespace {
  readonly id: number;
  readonly name: string;
}

/** Explains why a run does not run: one answer, the first reason that holds it back. */
export class RunExplainer {
  readonly #context: Context;
  readonly #deps: ExplainRunDeps;

  constructor(context: Context, deps: ExplainRunDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  async explain(namespace: Namespace, run: RunView, now: number): Promise<RunExplanation> {
    return withSla(withLoss(await this.#why(namespace, run, now), run), run, now);
  }

  async #why(namespace: Namespace, run: RunView, now: number): Promise<RunExplanation> {
    switch (run.status) {
      case "running":
        return running(run, now);
      case "scheduled":
      case "retrying":
        return (await this.#behindOpenBreaker(namespace, run)) ?? waitsForTime(run, now);
      case "blocked":
      case "queued":
        return this.#waitsInQueue(namespace, run);
      default:
        return ended(run);
    }
  }

  async #waitsInQueue({ id: namespaceId, name }: Namespace, run: RunView): Promise<RunExplanation> {
    const around = await this.#context.store.explainReads.surroundings(namespaceId, run.id);
    if (around === null) return plain("due_now", "a worker has just claimed it, or it has just ended: ask again");
    if (run.status === "blocked" && run.statusReason === "overlap") return this.#overlaps(run);
    if (around.queuePause !== null) return queuePaused(run, around.queuePause);
    if (run.status === "blocked") return this.#limited(name, run, around.now);
    const behind = await this.#behindBreaker(name, run, around);
    if (behind !== null) return behind;
    const served = whoServes(run, await this.#context.store.sessions.kinds(namespaceId, run.task));
    if ("code" in served) return { ...plain(served.code, served.detail), facts: { task: run.task, queue: run.queue } };
    if (around.laneKind === "gated")
      return plain("limit_pending", "its limits are about to be checked: it is admitted in its turn");
    return this.#inQueue(namespaceId, run, { ...around, ...served });
  }

  /** The run failed while its breaker was open and waits for the breaker; null: it does not. */
  async #behindOpenBreaker({ id, name }: Namespace, run: RunView): Promise<RunExplanation | null> {
    if (run.statusReason !== "breaker_open") return null;
    const around = await this.#context.store.explainReads.surroundings(id, run.id);
    return around === null ? null : this.#behindBreaker(name, run, around);
  }

  /** null: the run has no breaker, or a closed one. */
  async #behindBreaker(
    namespace: string,
    run: RunView,
    { requires, now }: RunSurroundings,
  ): Promise<RunExplanation | null> {
    const name = breakerNameIn(requires, run.task);
    const breaker = name === null ? null : await this.#deps.breakers.get(namespace, name);
    if (breaker === null || breaker.state === "closed") return null;
    const facts = { breaker: breaker.name, state: breaker.state };
    if (breaker.state === "half_open")
      return {
        ...plain("breaker_open", `breaker ${breaker.name}: one run is being tried${because(breaker.reason)}`),
        facts,
      };
    const until = breaker.probeAt;
    const detail = `breaker ${breaker.name} is open until ${at(until)}, for ${durationText(until - now)} more${because(breaker.reason)}`;
    return { ...plain("breaker_open", detail), until, facts };
  }

  async #overlaps(run: RunView): Promise<RunExplanation> {
    const { store, db } = this.#context;
    // Oldest first.
    const live = run.jobId === null ? [] : await store.jobTransactionReads.live(db, [run.jobId], { hold: false });
    const before = live.find((one) => one.id !== run.id);
    const ahead = live.findIndex((one) => one.id === run.id);
    if (before === undefined) return plain("overlap", "it waited for another run of its job, and is about to start");
    const name = formatId("run", before.id);
    const detail = `waits for ${name} of the same job, which is ${before.status}; ${Math.max(1, ahead)} of its runs go before it`;
    return { ...plain("overlap", detail), facts: { run: name, status: before.status, ahead: Math.max(1, ahead) } };
  }

  async #limited(namespace: string, run: RunView, now: number): Promise<RunExplanation> {
    const found = await this.#deps.limits.ofRun(namespace, run.id);
    if (found === null) return plain("limit_pending", "its limits are about to be checked");
    return explainLimits(found, now);
  }

  async #inQueue(namespaceId: number, run: RunView, around: RunSurroundings & Served): Promise<RunExplanation> {
    const { isStrict, now, workers, slots } = around;
    const { ahead, of, running: atWork } = await this.#context.store.explainReads.position(namespaceId, run.id);
    const [place, total] = [ahead + 1, Math.max(of, ahead + 1)];
    const order = isStrict ? ", one at a time in their order" : "";
    const line = `position ${place} of ${total} in queue ${run.queue}${order}; due for ${durationText(now - run.runAt)}`;
    const who = `${counted(workers, "worker")} with ${counted(slots, "slot")} can take it`;
    const detail = `${line}; ${who}, and ${counted(atWork, "run")} of the queue ${atWork === 1 ? "is" : "are"} at work`;
    return {
      ...plain("position", detail),
      facts: { queue: run.queue, position: place, of: total, running: atWork, workers, slots },
    };
  }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

function running(run: RunView, now: number): RunExplanation {
  const { workerId, startedAt, attempt, maxAttempts } = run;
  const since = startedAt === null ? "" : ` for ${durationText(now - startedAt)}`;
  if (run.statusReason === "callback") {
    const waits = `attempt ${attempt} of ${maxAttempts} waits for a callback, without a worker${since}`;
    return { ...plain("running", waits), facts: { attempt, max_attempts: maxAttempts } };
  }
  const worker = workerId === null ? "a worker" : formatId("wrk", workerId);
  const detail = `attempt ${attempt} of ${maxAttempts} runs on ${worker}${since}`;
  return { ...plain("running", detail), facts: { worker, attempt, max_attempts: maxAttempts } };
}

function waitsForTime(run: RunView, now: number): RunExplanation {
  const { status, runAt, attempt, maxAttempts, statusReason } = run;
  const left = runAt - now;
  if (statusReason === "paused")
    return plain("due_later", `its job is paused: due at ${at(runAt)}, if that goes on by then`);
  if (left <= 0) return plain("due_now", "it is due and is about to be queued");
  if (status === "retrying") {
    const error = run.attempts.at(-1)?.error;
    const before = error === undefined ? "" : `; the attempt before: ${errorSummary(error)}`;
    const detail = `retry ${attempt + 1} of ${maxAttempts} at ${at(runAt)}, in ${durationText(left)}${before}`;
    const facts = { attempt: attempt + 1, max_attempts: maxAttempts, in_ms: left };
    return { code: "retry_later", detail, until: runAt, facts };
  }
  const why = statusReason === null ? "" : ` (${statusReason})`;
  return {
    code: "due_later",
    detail: `due in ${durationText(left)}, at ${at(runAt)}${why}`,
    until: runAt,
    facts: { in_ms: left },
  };
}

function queuePaused({ queue }: RunView, pause: NonNullable<RunSurroundings["queuePause"]>): RunExplanation {
  const detail = `queue ${queue} is paused${byWhom(pause.actor)} since ${at(pause.at)}${because(pause.reason)}`;
  return { ...plain("queue_paused", detail), facts: { queue, ...(pause.actor !== null && { actor: pause.actor }) } };
}

function ended({ status, statusReason, finishedAt, error, attempt, maxAttempts }: RunView): RunExplanation {
  const when = finishedAt === null ? "" : ` at ${at(finishedAt)}`;
  const how = statusReason === null ? "" : ` (${statusReason})`;
  const tries = status === "failed" && attempt > 0 ? `, attempt ${attempt} of ${maxAttempts}` : "";
  const what = error === null ? "" : `: ${errorSummary(error)}`;
  return { ...plain("ended", `${status}${when}${how}${tries}${what}`), facts: { status } };
}

const lossTexts: Readonly<Record<string, string>> = {
  worker_lost: "was lost with it",
  not_started: "was lost before it had started it",
  drained: "was drained and gave it back",
};

/** Adds how the claim before ended, if that was with its worker: a live run is begun again without an attempt of its own that failed. */
function withLoss(explanation: RunExplanation, run: RunView): RunExplanation {
  const lost = isFinal(run.status) ? null : lostClaimOf(run);
  if (lost === null) return explanation;
  const worker = formatId("wrk", lost.sessionId);
  const count = lost.outcome === "worker_lost" ? ` (loss ${run.losses})` : "";
  const detail = `${explanation.detail}; ${worker} ${lossTexts[lost.outcome] ?? lost.outcome} at ${at(lost.endedAt)}${count}`;
  const facts = { ...explanation.facts, lost_worker: worker, losses: run.losses };
  return { ...explanation, detail, facts };
}

/** Adds how much later than its SLA a run starts or ends. */
export function withSla(explanation: RunExplanation, run: RunView, now: number): RunExplanation {
  const { policy, trigger, status, finishedAt } = run;
  const terms = slaTermsOf({ sla: policy.sla, trigger: trigger.kind, nominal: trigger.scheduledFor });
  if (terms === null || status === "cancelled" || status === "skipped") return explanation;
  const isOver = isFinal(status);
  const started = firstStartOf(run) ?? (isOver ? (finishedAt ?? now) : now);
  const startLateMs = latenessOf(terms.startBy, started);
  const finishLateMs = latenessOf(terms.finishBy, finishedAt ?? now);
  const lateness = [
    startLateMs !== null && `it was to start by ${at(terms.startBy ?? 0)} and is ${durationText(startLateMs)} late`,
    finishLateMs !== null && `it was to end by ${at(terms.finishBy ?? 0)} and is ${durationText(finishLateMs)} late`,
  ].filter((one) => one !== false);
  return {
    ...explanation,
    detail: [explanation.detail, ...lateness].join("; "),
    facts: {
      ...explanation.facts,
      ...(startLateMs !== null && { sla_start_late_ms: startLateMs }),
      ...(finishLateMs !== null && { sla_finish_late_ms: finishLateMs }),
    },
  };
}

/** Names the first limit of a waiting run that has no room; ordering keys precede the others. */
export function explainLimits({ limits, position: ahead }: RunLimitsView, now: Instant): RunExplanation {
  const behind = ahead === 0 ? "" : `; ${ahead} that wait for the same go before it`;
  for (const limit of [...limits].sort((a, b) => rankOf(a) - rankOf(b))) {
    const found = full(limit, now);
    if (found !== null) return { ...found, detail: `${found.detail}${behind}`, facts: { ...found.facts, ahead } };
  }
  return { ...plain("limit_pending", `its limits have room: it is admitted in its turn${behind}`), facts: { ahead } };
}

const rankOf = ({ kind }: LimitView): number => ["order", "concurrency", "rate"].indexOf(kind);

/** null: the limit has room. */
function full(limit: LimitView, now: Instant): RunExplanation | null {
  const { scope, kind, key, used, limit: max } = limit;
  const facts = { scope, key, used, limit: max };
  const what = scope === "key" ? `key ${JSON.stringify(key)}` : `${scope} ${key}`.trim();
  if (kind === "order") return ordered(limit, what);
  if (used < max) return null;
  if (kind === "concurrency")
    return { code: "limit_concurrency", detail: `${what}: ${used} of ${max} are running`, until: null, facts };
  const { perMs, nextRoomAt: until } = limit;
  const when = until === null ? "waits for one to start" : `about ${durationText(until - now)}`;
  const detail = `rate limit of ${what}: ${max} in ${durationText(perMs ?? 0)}, ${when}`;
  return { code: "limit_rate", detail, until, facts: { ...facts, per_ms: perMs ?? 0 } };
}

function ordered({ key, scope, used, stoppedBy }: LimitView, what: string): RunExplanation | null {
  const facts = { scope, key };
  if (stoppedBy !== null) {
    const run = formatId("run", stoppedBy);
    const detail = `${what} goes in order and ${run} failed: retry or discard it`;
    return { code: "limit_order", detail, until: null, facts: { ...facts, run } };
  }
  if (used === 0) return null;
  return { code: "limit_order", detail: `${what} goes in order: the run before is not over`, until: null, facts };
}
