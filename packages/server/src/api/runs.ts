import { createHash } from "node:crypto";
import {
  inOurSpelling,
  limits,
  type Operation,
  readCallback,
  readReschedule,
  readRunBatch,
  readRunCreate,
  readRunNow,
  readRunRepeat,
  type Run,
  type RunBatchResult,
  type RunCreate,
  type RunCreated,
  type RunError as RunErrorJson,
  type RunList,
  type RunListQuery,
  type RunSummary,
  type Warning,
} from "@carillon/contract";
import {
  CarillonError,
  type DurationMs,
  type EnqueueSpec,
  formatId,
  idOfItem,
  isObject,
  type Instant,
  isFinal,
  latenessOf,
  parentOf,
  parseDuration,
  parseTraceParent,
  type RunError,
  slaTermsOf,
} from "@carillon/core";
import {
  attemptsOf,
  type Effect,
  type EnqueuedRun,
  firstStartOf,
  isDatabaseAway,
  type RunExplanation,
  type RunView,
} from "@carillon/engine";
import { shownJobId, shownPayload } from "../events/webhook-delivery.js";
import { type ReadItem, readItem, replayedItems, specsOf, storeBatch } from "./batch.js";
import { runFilter } from "./filters.js";
import { found, parsed, refused, toProblem } from "./http/errors.js";
import {
  type ApiEngine,
  type ApiOptions,
  type ApiResponse,
  type Call,
  contextWithReceipt,
  createdResponse,
  handlers,
  momentOf,
  noTracing,
  ok,
  type Replay,
  type IdentifiedHandlers,
  markReplayed,
  type Replays,
  timestamp,
  timestampOrNull,
  traceOf,
} from "./http/handler.js";
import { nextPageToken, orderOf, pageRequest } from "./http/paging.js";
import { findJob, idOrNotFound, jobRef, withJobId } from "./http/request.js";
import { unservedRunWarnings, unservedWarnings } from "./unserved-warnings.js";

export function runHandlers(options: ApiOptions) {
  const { engine, tracing = noTracing } = options;
  return handlers({
    async listRuns({ query, namespace, legacySpelling }) {
      // Other systems ask for the executions of a worker to see what it is running now.
      const isRunningOnly = legacySpelling && query.worker_id !== undefined && query.status === undefined;
      const asked = isRunningOnly ? { ...query, status: "running" } : query;
      return listRuns(engine, namespace, await withJobId(engine, namespace, asked));
    },
    async listJobRuns({ params, query, namespace }) {
      const job = await findJob(engine, namespace, params.id);
      return listRuns(engine, namespace, query, job.id);
    },
    async getRun(call) {
      const { params, namespace } = call;
      const waitMs = readWait(call.query);
      const now = await engine.runs.get(namespace, idOrNotFound("run", params.id));
      const run = await awaitEnd(engine, call, found(now, `There is no run ${params.id}.`), waitMs);
      return ok(toRunJson(run, await factsOf(engine, namespace, run)));
    },
    async runJobNow(call) {
      const waitMs = readWait(call.query);
      const request = readRunNow(call.body);
      await refuseClosedAddress(options, request, async () => findJob(engine, call.namespace, call.params.id));
      const run = await engine.jobs.runNow(call.namespace, jobRef(call.params.id), request, contextWithReceipt(call));
      return newRunResponse(engine, call, await awaitNewRun(engine, call, run, waitMs), waitMs > 0);
    },
    async createRun(call) {
      const { body, namespace, receipt } = call;
      const waitMs = readWait(call.query);
      const spec = readRunCreate(body, momentOf(options, namespace));
      const { run, isNew } = await tracing.enqueueTraced(traceOf(call), [spec], ([one = spec]) =>
        engine.enqueuer.enqueueAndRead(namespace, one, receipt),
      );
      const latest = await awaitNewRun(engine, call, run, waitMs);
      return runOrExistingResponse(engine, call, { run: latest, isNew, isExplained: waitMs > 0 });
    },
    async createRuns(call) {
      const items = readBatch(options, call);
      const outcomes = await storeBatch(options, call, items, (specs, receipt) =>
        engine.enqueuer.enqueueMany(call.namespace, specs, receipt),
      );
      return batchResponse(outcomes, call.requestId, await unservedWarnings(engine, call.namespace, specsOf(items)));
    },
  });
}

/**
 * Runs whose requests name neither a time nor a dedupe key, in any spelling. What a task's worker registered must not matter: it may change
 * between two calls.
 */
function namesNoTime(run: unknown): boolean {
  if (!isObject(run)) return true;
  const ours = inOurSpelling(run, "run");
  return datedFields.every((name) => !Object.hasOwn(ours, name));
}

const datedFields = ["delay", "run_at", "dedupe"] as const satisfies readonly (keyof RunCreate)[];

/** Calls with the key of a client that makes one for each call: their runs get ids from it, which costs less than a receipt. */
export function identifiedRunHandlers(options: ApiOptions): IdentifiedHandlers {
  const { engine, tracing = noTracing } = options;
  const createRun = async (id: string, call: Call<Operation>): Promise<ApiResponse> => {
    const { body, namespace } = call;
    const query = (call.query ?? {}) as AwaitCall["query"];
    const waitMs = readWait(query);
    const spec = readRunCreate(body, momentOf(options, namespace));
    const { run, isRepeat } = await tracing.enqueueTraced(traceOf(call), [spec], ([one = spec]) =>
      engine.enqueuer.enqueueOnce(namespace, one, id),
    );
    const latest = await awaitNewRun(engine, { ...call, query }, run, waitMs);
    const response = await runOrExistingResponse(engine, call, { run: latest, isNew: true, isExplained: waitMs > 0 });
    return isRepeat ? markReplayed(response) : response;
  };
  const createRuns = async (id: string, call: Call<Operation>, runs: ReadItem<EnqueueSpec>[]): Promise<ApiResponse> => {
    const ids = runs.flatMap((item, index) => ("spec" in item ? [idOfItem(id, index)] : []));
    const outcomes = await storeBatch(options, call, runs, (specs) =>
      engine.enqueuer.enqueueManyOnce(call.namespace, specs, ids),
    );
    // The caller repeats the whole call, which stores only the runs that are missing.
    const away = outcomes.find((one) => "error" in one && isDatabaseAway(one.error));
    if (away !== undefined && "error" in away)
      throw new CarillonError("outcome_unknown", "A part of the batch failed.", { cause: away.error });
    return batchResponse(outcomes, call.requestId, await unservedWarnings(engine, call.namespace, specsOf(runs)));
  };
  return {
    createRun: (id, call) => (namesNoTime(call.body) ? createRun(id, call) : null),
    createRuns: (id, call) =>
      readRunBatch(call.body).every(namesNoTime) ? createRuns(id, call, readBatch(options, call)) : null,
  };
}

/** The responses to repeated calls whose first response was not stored. */
export function runReplays(options: ApiOptions): Replays {
  const { engine } = options;
  const runOf = async ({ runs = [] }: Effect, namespace: string): Promise<RunView> => {
    const id = runs[0]?.id ?? "";
    return found(await engine.runs.get(namespace, id), `The run ${formatId("run", id)} no longer exists.`);
  };
  // A caller that waited for the end of the run and lost the response waits again.
  const ended = async (effect: Effect, call: Call<Operation>): Promise<RunView> => {
    const query = (call.query ?? {}) as AwaitCall["query"];
    return awaitEnd(engine, { ...call, query }, await runOf(effect, call.namespace), readWait(query));
  };
  const newRun: Replay = async (effect, call) => newRunResponse(engine, call, await ended(effect, call), true);
  const runOrExisting: Replay = async (effect, call) =>
    runOrExistingResponse(engine, call, { run: await ended(effect, call), isNew: true, isExplained: true });
  return {
    createRun: runOrExisting,
    retryRun: runOrExisting,
    retryJob: runOrExisting,
    runJobNow: newRun,
    replayRun: newRun,
    async createRuns({ runs = [] }, call) {
      const items = readBatch(options, call);
      const outcomes = replayedItems(items, runs, (run): EnqueuedRun => run);
      return batchResponse(outcomes, call.requestId, await unservedWarnings(engine, call.namespace, specsOf(items)));
    },
  };
}

function readBatch(
  options: ApiOptions,
  { body, namespace }: Pick<Call<Operation>, "body" | "namespace">,
): ReadItem<EnqueueSpec>[] {
  const moment = momentOf(options, namespace);
  return readRunBatch(body).map((run) => readItem(() => readRunCreate(run, moment)));
}

function batchResponse(outcomes: readonly EnqueuedRun[], requestId: string, warnings: Warning[]): ApiResponse {
  const results = outcomes.map((outcome): RunBatchResult => {
    if ("id" in outcome) return { id: formatId("run", outcome.id), is_new: outcome.isNew };
    return { problem: toProblem(outcome.error, requestId).body };
  });
  const created = results.filter((one) => one.is_new === true).length;
  const duplicates = results.filter((one) => one.is_new === false).length;
  return ok({ results, created, duplicates, refused: results.length - created - duplicates, warnings });
}

async function factsOf(engine: ApiEngine, namespace: string, run: RunView): Promise<RunFacts> {
  if (run.status === "running") return {};
  if (!isFinal(run.status)) return { waitingOn: await engine.explanations.runView(namespace, run) };
  if (run.status !== "failed") return {};
  const redrives = await engine.deadLetters.redrivesOf(namespace, run.id);
  return { retriedAs: redrives.find(({ kind }) => kind === "retry")?.runId ?? null };
}

/** One page of runs: of the namespace, or of one job. */
export async function listRuns(
  engine: ApiEngine,
  namespace: string,
  query: RunListQuery,
  jobId?: string,
): Promise<ApiResponse> {
  const filter = runFilter(query, jobId);
  if (filter === undefined) return ok(noRuns(query));
  const list = ["runs", namespace, filter, ...orderOf(query)];
  const page = await engine.runs.list(namespace, filter, pageRequest(query, list));
  const total = query.total === undefined ? undefined : await engine.runs.total(namespace, filter, query.total);
  return ok({
    runs: page.rows.map((run) => toRunJson(run)),
    next_page_token: nextPageToken(page, list),
    ...(total !== undefined && { total: { ...total } }),
  });
}

function noRuns({ total }: RunListQuery): RunList {
  const none = { count: 0, accuracy: "exact" } as const;
  return { runs: [], next_page_token: null, ...(total !== undefined && { total: none }) };
}

interface AwaitCall {
  readonly namespace: string;
  readonly query: { readonly wait?: string };
  readonly signal?: AbortSignal;
}

/** The time that the caller is willing to wait. Read before the call does anything, so that a wrong value has no effect. */
function readWait({ wait }: AwaitCall["query"]): DurationMs {
  if (wait === undefined) return 0;
  return Math.min(
    parsed("?wait", () => parseDuration(wait)),
    limits.waitMs,
  );
}

/** The run after its end, or as it is when the time is over. */
async function awaitEnd(
  engine: Pick<ApiEngine, "runs">,
  { namespace, signal }: AwaitCall,
  run: RunView,
  waitMs: DurationMs,
): Promise<RunView> {
  if (waitMs <= 0 || isFinal(run.status)) return run;
  const ended = await engine.runs.wait(namespace, run.id, { waitMs, ...(signal !== undefined && { signal }) });
  return ended ?? (await engine.runs.get(namespace, run.id)) ?? run;
}

/** The run is stored: if the wait fails, its creator gets it as it was, as at the end of the time. */
async function awaitNewRun(
  engine: Pick<ApiEngine, "runs">,
  call: AwaitCall,
  run: RunView,
  waitMs: DurationMs,
): Promise<RunView> {
  try {
    return await awaitEnd(engine, call, run, waitMs);
  } catch (error) {
    if (isDatabaseAway(error)) return run;
    throw error;
  }
}

export function runChangeHandlers(options: ApiOptions) {
  const { engine } = options;
  return handlers({
    async cancelRun({ params, namespace }) {
      return ok(toRunJson(await engine.runs.cancel(namespace, idOrNotFound("run", params.id))));
    },
    async rescheduleRun({ params, namespace, body }) {
      const at = readReschedule(body, momentOf(options, namespace));
      const run = await engine.runs.reschedule(namespace, idOrNotFound("run", params.id), at);
      return ok(toRunJson(run, await factsOf(engine, namespace, run)));
    },
    async retryRun(call) {
      const id = idOrNotFound("run", call.params.id);
      const request = readRunRepeat(call.body);
      await refuseClosedAddress(options, request, () => engine.runs.get(call.namespace, id));
      const retried = await engine.deadLetters.retryRun(call.namespace, id, request, contextWithReceipt(call));
      return runOrExistingResponse(engine, call, retried);
    },
    async retryJob(call) {
      const { params, namespace } = call;
      const { lastRun } = await findJob(engine, namespace, params.id);
      if (lastRun === null) throw new CarillonError("run_not_failed", "The job has not run yet.");
      const request = readRunRepeat(call.body);
      await refuseClosedAddress(options, request, async () => lastRun);
      const retried = await engine.deadLetters.retryRun(namespace, lastRun.id, request, contextWithReceipt(call));
      return runOrExistingResponse(engine, call, retried);
    },
    async replayRun(call) {
      const id = idOrNotFound("run", call.params.id);
      const request = readRunRepeat(call.body);
      await refuseClosedAddress(options, request, () => engine.runs.get(call.namespace, id));
      const run = await engine.deadLetters.replayRun(call.namespace, id, request, contextWithReceipt(call));
      return newRunResponse(engine, call, run);
    },
  });
}

/** A payload that the call brings itself has its address checked as at creation; the task is that of the job or run that it repeats. */
async function refuseClosedAddress(
  { checkPayload }: ApiOptions,
  { payload }: { readonly payload?: { readonly value: unknown } },
  find: () => Promise<{ readonly task: string } | null>,
): Promise<void> {
  if (checkPayload === undefined || payload === undefined) return;
  const task = (await find())?.task;
  const faults = task === undefined ? [] : checkPayload(task, payload.value);
  const fault = faults.find(({ code }) => code === "address_refused");
  if (fault !== undefined) throw refused(`/payload${fault.pointer}`, "address_refused", fault.message);
}

const tokenShape = /^[A-Za-z0-9_-]{43}$/;

export function callbackHandlers({ engine }: ApiOptions) {
  return handlers({
    async answerCallback({ params: { token }, body }) {
      const answer = readCallback(body);
      if (!tokenShape.test(token)) throw unknownCallback();
      const tokenHash = createHash("sha256").update(token).digest("hex");
      const outcome = await engine.waitingRuns.answer(tokenHash, answer);
      if (outcome === "taken") return { status: 204 };
      if (outcome === "unknown") throw unknownCallback();
      if (outcome === "used")
        throw new CarillonError("callback_used", "This callback was already answered; the first answer counts.");
      throw new CarillonError("callback_over", "The attempt that waited for this callback has ended.");
    },
  });
}

function unknownCallback(): CarillonError {
  return new CarillonError("not_found", "There is no such callback.");
}

export function toRunSummaryJson(run: RunView): RunSummary {
  const { startedAt, finishedAt } = run;
  return {
    id: formatId("run", run.id),
    status: run.status,
    status_reason: run.statusReason,
    trigger: toTriggerJson(run),
    attempt: run.attempt,
    max_attempts: run.maxAttempts,
    started_at: timestampOrNull(startedAt),
    finished_at: timestampOrNull(finishedAt),
    lag_ms: lagMs(run),
    duration_ms: durationMs(startedAt, finishedAt),
  };
}

function toTriggerJson({ id: runId, trigger }: RunView): RunSummary["trigger"] {
  const { kind, id, scheduledFor, upstreamIds } = trigger;
  const upstream = upstreamIds?.map((one) => formatId("run", one));
  return {
    kind,
    // A run that a call created has no other cause: its own id adds nothing.
    id: id === null || id === runId ? null : formatId(kind === "backfill" ? "bkf" : "run", id),
    scheduled_for: timestamp(scheduledFor),
    ...(upstream !== undefined && { upstream }),
  };
}

/** The times of attempts that a node recorded have fractions, and its estimate of the clock may be off. */
function durationMs(from: Instant | null, to: Instant | null): number | null {
  return from === null || to === null ? null : Math.max(0, Math.floor(to) - Math.floor(from));
}

/** How late the current or last attempt started; null while the run waits for its next attempt. */
function lagMs({ startedAt, runAt }: RunView): number | null {
  return startedAt === null || startedAt < runAt ? null : startedAt - runAt;
}

/** Facts that are read only for a single run, not for lists. */
interface RunFacts {
  readonly waitingOn?: RunExplanation | null;
  /** The run that retries this one. */
  readonly retriedAs?: string | null;
  /** Only for the call that creates it. */
  readonly warnings?: Warning[];
}

export function toRunJson(run: RunView, { waitingOn = null, retriedAs = null, warnings }: RunFacts = {}): Run {
  const parentId = parentOf(run.policy);
  return {
    ...toRunSummaryJson(run),
    job_id: shownJobId(run),
    task: run.task,
    queue: run.queue,
    priority: run.priority,
    run_at: timestamp(run.runAt),
    deadline_at: timestampOrNull(run.deadlineAt),
    sla: toSlaJson(run),
    created_at: timestamp(run.createdAt),
    losses: run.losses,
    worker_id: run.workerId === null ? null : formatId("wrk", run.workerId),
    retried_as: retriedAs === null ? null : formatId("run", retriedAs),
    waiting_on: waitingOn && { code: waitingOn.code, detail: waitingOn.detail },
    progress: run.progress && { ...run.progress, at: timestamp(run.progress.at) },
    payload: shownPayload(run),
    output: run.output ?? null,
    error: run.error && toErrorJson(run.error),
    attempts: toAttemptsJson(run),
    labels: { ...run.labels },
    owner: run.owner,
    parent_id: parentId === null ? null : formatId("run", parentId),
    trace_id: parseTraceParent(run.policy.traceparent ?? "")?.traceId ?? null,
    ...(warnings !== undefined && { warnings }),
  };
}

/** Breaches are reported for runs that have started or ended; explain reports the lateness of waiting ones. */
function toSlaJson(run: RunView): Run["sla"] {
  const { trigger, policy, finishedAt, status } = run;
  const terms = slaTermsOf({ sla: policy.sla, trigger: trigger.kind, nominal: trigger.scheduledFor });
  if (terms === null) return null;
  const { startBy, finishBy } = terms;
  const firstStart = firstStartOf(run);
  const breached: ("start" | "finish")[] = [];
  if (firstStart !== null && latenessOf(startBy, firstStart) !== null) breached.push("start");
  if (finishedAt !== null && status !== "cancelled" && latenessOf(finishBy, finishedAt) !== null)
    breached.push("finish");
  return { start_by: timestampOrNull(startBy), finish_by: timestampOrNull(finishBy), breached };
}

export function toAttemptsJson(run: RunView): Run["attempts"] {
  return attemptsOf(run).map(({ attempt, fence, workerId, startedAt, endedAt, outcome, error }) => ({
    attempt,
    fence,
    worker_id: workerId && formatId("wrk", workerId),
    started_at: timestamp(startedAt),
    ended_at: timestampOrNull(endedAt),
    duration_ms: durationMs(startedAt, endedAt),
    outcome,
    error: error && toErrorJson(error),
  }));
}

function toErrorJson({ type, message, stack, retryable, fingerprint }: RunError): RunErrorJson {
  return {
    type,
    message,
    ...(stack !== undefined && { stack }),
    retryable,
    ...(fingerprint !== undefined && { fingerprint }),
  };
}

type CreatingCall = Pick<Call<Operation>, "namespace">;

/** A run as it was created. What it waits for is read only for a caller that waited: a call without wait costs one write. */
async function createdRunJson(
  engine: ApiEngine,
  { namespace }: CreatingCall,
  run: RunView,
  isExplained: boolean,
): Promise<Run> {
  const facts = isExplained ? await factsOf(engine, namespace, run) : {};
  return toRunJson(run, { ...facts, warnings: await unservedRunWarnings(engine, namespace, run) });
}

/** The response to a call that always creates a run. */
async function newRunResponse(
  engine: ApiEngine,
  call: CreatingCall,
  run: RunView,
  isExplained = false,
): Promise<ApiResponse> {
  const body = await createdRunJson(engine, call, run, isExplained);
  return createdResponse(`/v1/runs/${body.id}`, ok(body));
}

interface RunOrExisting {
  readonly run: RunView;
  readonly isNew: boolean;
  readonly isExplained?: boolean;
}

/** The response to a call that creates a run, or finds the one that exists already. */
async function runOrExistingResponse(
  engine: ApiEngine,
  call: CreatingCall,
  { run, isNew, isExplained = false }: RunOrExisting,
): Promise<ApiResponse> {
  const body: RunCreated = { ...(await createdRunJson(engine, call, run, isExplained)), is_new: isNew };
  return isNew ? createdResponse(`/v1/runs/${body.id}`, ok(body)) : ok(body);
}
