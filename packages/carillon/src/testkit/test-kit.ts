import { AsyncLocalStorage } from "node:async_hooks";
import { normaliseJobRequest, readRunCreate } from "@carillon/contract";
import { checkArgument, checkOptions, instantOf, shown, type TimeInput } from "@carillon/contract/check";
import {
  type Assignment,
  CarillonError,
  type DurationMs,
  type Instant,
  ManualClock,
  type Outcome,
  formatId,
  makeUuidV7,
  nextAttempt,
  callbackTimeoutOutcome,
  parseDuration,
  retryOf,
  systemClock,
  systemRandomBytes,
  systemSoon,
} from "@carillon/core";
import { type VirtualRun, VirtualSchedule } from "@carillon/engine";
import {
  type Attempt,
  type CreateRuns,
  type EnqueueOptions,
  type ScheduleOptions,
  type Task,
  type TaskDefinition,
  type UpstreamRun,
  checkRunCall,
  checkScheduleCall,
  jobRequest,
  runAttempt,
  runRequest,
  testEnqueueOptions,
  workerTask,
} from "@carillon/worker";
import { testKitOptions, testRunOptions } from "./options.js";
import { MemoryHandlerState, type TestLine, type TestProgress } from "./handler-state.js";

interface Working {
  readonly run: VirtualRun;
  readonly attempt: Attempt;
  readonly startedAt: Instant;
  readonly place: { sleeping: number };
}

const defaultNow = new Date("2030-01-01T00:00:00Z");

/**
 * The scheduler and the handlers, on a clock that the test moves and without a database. Schedules, retries and overlap policies are
 * the product's own code.
 */
export class TestKit {
  /** Runs that have ended, in the order of their end. */
  readonly runs: TestRun[] = [];
  readonly #options: TestKitOptions;
  readonly #clock: ManualClock;
  readonly #schedule: VirtualSchedule;
  readonly #notes: MemoryHandlerState;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #working = new Map<string, Working>();
  /** Of runs that have started: spent attempts, claims, and the time of the first start. */
  readonly #tried = new Map<string, { spent: number; fence: number; startedAt: Instant }>();
  readonly #place = new AsyncLocalStorage<{ sleeping: number }>();
  /** The runs that handlers created, by task and dedupe key. */
  readonly #children = new Map<string, string>();
  #failure: unknown = null;

  constructor(options: TestKitOptions) {
    checkOptions(testKitOptions, options, { name: "new TestKit", code: "config_invalid" });
    this.#options = options;
    this.#clock = new ManualClock(instantOf(options.now ?? defaultNow));
    const now = (): Instant => this.#clock.now();
    this.#notes = new MemoryHandlerState(now);
    this.#tasks = new Map(options.tasks.map((task) => [task.name, workerTask(task, systemSoon)]));
    this.#schedule = new VirtualSchedule({
      now,
      newId: makeUuidV7({ now, randomBytes: systemRandomBytes }),
      onStopped: (runIds) => runIds.forEach((id) => this.#working.get(id)?.attempt.stop("cancelled_by_overlap")),
    });
  }

  get now(): Date {
    return new Date(this.#clock.now());
  }

  /** Occurrences that did not become runs, with the reason, such as overlap. */
  get passed(): VirtualSchedule["passed"] {
    return this.#schedule.passed.map((one) => ({ ...one, jobId: formatId("job", one.jobId) }));
  }

  /** As `app.schedule`; returns the job's id. */
  async schedule<Input>(
    task: TaskDefinition<Input, unknown>,
    key: string,
    options: ScheduleOptions<Input>,
  ): Promise<string> {
    checkScheduleCall("kit.schedule", { task, key }, options);
    const request = { ...(await jobRequest(task, options)), key };
    return formatId("job", this.#schedule.add(normaliseJobRequest(request, { now: this.#clock.now() }).spec));
  }

  /** As `app.enqueue`, without dedupe; it runs when the clock is moved. Returns the run's id. */
  async enqueue<Input>(
    task: TaskDefinition<Input, unknown>,
    payload: Input,
    options: Omit<EnqueueOptions, "dedupe"> = {},
  ): Promise<string> {
    checkRunCall("kit.enqueue", task, testEnqueueOptions, options);
    return formatId("run", await this.#add(task, payload, options));
  }

  async #add<Input>(task: TaskDefinition<Input, unknown>, payload: Input, options: EnqueueOptions): Promise<string> {
    const now = this.#clock.now();
    const { runAt, ...spec } = readRunCreate(await runRequest(task, payload, options), { now });
    return this.#schedule.add({ ...spec, schedule: { kind: "at", at: runAt ?? now } });
  }

  /** The runs that handlers create: one for each dedupe key, however many attempts ask for it. */
  readonly #createRuns: CreateRuns = async (_parent, requests) => {
    const now = this.#clock.now();
    return requests.map((request) => {
      const { runAt, dedupe, ...spec } = readRunCreate(request, { now });
      const key = dedupe && JSON.stringify([spec.task, dedupe.key]);
      const existing = key === undefined ? undefined : this.#children.get(key);
      if (existing !== undefined) return { id: existing, isNew: false };
      const id = formatId("run", this.#schedule.add({ ...spec, schedule: { kind: "at", at: runAt ?? now } }));
      if (key !== undefined) this.#children.set(key, id);
      return { id, isNew: true };
    });
  };

  /** Runs a task now, with its retries, and returns the ended run; the clock moves as far as that takes. */
  async run<Input>(
    task: TaskDefinition<Input, unknown>,
    payload: Input,
    options: TestRunOptions = {},
  ): Promise<TestRun> {
    checkRunCall("kit.run", task, testRunOptions, options);
    const { upstream = [] } = options;
    const added = await this.#add(task, payload, {});
    this.#notes.follow(added, upstreamJson(upstream, this.#clock.now()));
    const id = formatId("run", added);
    const find = (): TestRun | undefined => this.runs.find((run) => run.id === id);
    await this.advance(0);
    for (let ended = find(); ; ended = find()) {
      if (ended !== undefined) return ended;
      const nextMs = Math.min(this.#schedule.nextAt - this.#clock.now(), this.#clock.pending > 0 ? 1_000 : Infinity);
      if (nextMs === Infinity) throw new Error(`The run of ${task.name} waits for nothing that the kit knows.`);
      await this.advance(Math.max(0, nextMs));
    }
  }

  /** Waits on the kit's clock: for handlers, in place of a timer. */
  async sleep(duration: string | DurationMs): Promise<void> {
    const place = this.#place.getStore();
    if (place !== undefined) place.sleeping++;
    await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, msOf("kit.sleep", duration)));
    if (place !== undefined) place.sleeping--;
  }

  /** Moves the clock forward. Everything due on the way happens at its time, one after the other. */
  async advance(duration: string | DurationMs): Promise<void> {
    await this.advanceTo(new Date(this.#clock.now() + msOf("kit.advance", duration)));
  }

  async advanceTo(when: TimeInput): Promise<void> {
    checkArgument({ name: "kit.advanceTo", noun: "the time" }, () => instantOf(when));
    const until = instantOf(when);
    for (;;) {
      await this.#work();
      const next = Math.min(this.#schedule.nextAt, until);
      // A handler's timer may fire first, and enqueue runs.
      await this.#clock.advanceAsync(Math.max(0, next - this.#clock.now()), () => this.#work());
      if (next >= until && this.#schedule.nextAt > until) return;
    }
  }

  /** Fires due jobs and lets handlers run until each has ended or waits on the kit's clock. */
  async #work(): Promise<void> {
    const giveUpAt = systemClock.monotonic() + (this.#options.timeoutMs ?? 5_000);
    for (;;) {
      await this.#schedule.tick();
      for (const run of this.#schedule.take()) this.#begin(run);
      if (this.#failure !== null) throw this.#failure;
      const busy = [...this.#working.values()].find(({ place }) => place.sleeping === 0);
      if (busy === undefined && this.#schedule.nextAt > this.#clock.now()) return;
      if (systemClock.monotonic() > giveUpAt) {
        throw new Error(`A handler of ${busy?.run.task ?? "?"} waits for something that is not the kit's clock.`);
      }
      await new Promise<void>((resolve) => systemSoon(resolve));
    }
  }

  #begin(run: VirtualRun): void {
    const now = this.#clock.now();
    const tried = this.#tried.get(run.id) ?? { spent: 0, fence: 0, startedAt: now };
    this.#tried.set(run.id, { ...tried, fence: tried.fence + 1 });
    this.#notes.begin(run.id, run.jobId);
    const place = { sleeping: 0 };
    const task = this.#tasks.get(run.task);
    if (task === undefined) throw new Error(`The kit has no task ${JSON.stringify(run.task)}.`);
    const clock = this.#clock;
    const timers = {
      setTimeout: (callback: () => void, delayMs: DurationMs) => clock.setTimeout(callback, delayMs),
      clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
      monotonic: () => clock.monotonic(),
      soon: systemSoon,
    };
    const attempt = this.#place.run(place, () =>
      runAttempt(task, toAssignment(run, tried), {
        note: this.#notes.note,
        timers,
        createRuns: this.#createRuns,
      }),
    );
    this.#working.set(run.id, { run, attempt, startedAt: now, place });
    attempt.outcome
      .then((outcome) => this.#end(run.id, outcome))
      .catch((error: unknown) => {
        this.#failure = error;
      });
  }

  async #end(id: string, returned: Outcome): Promise<void> {
    // The kit has no callbacks.
    const outcome = returned.kind === "waiting" ? callbackTimeoutOutcome(returned.waitMs) : returned;
    const working = this.#working.get(id);
    const tried = this.#tried.get(id);
    if (working === undefined || tried === undefined) return;
    const { run } = working;
    if (outcome.kind === "snoozed") return this.#putBack(id, outcome.delayMs);
    const attempts = tried.spent + 1;
    if (outcome.kind === "failed") {
      const { error, retryAfterMs } = outcome;
      const random = (this.#options.random ?? (() => 0.5))();
      const failed = { attempt: attempts, error, random, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      const next = nextAttempt(retryOf(run.policy), failed);
      if (next.kind !== "dead") {
        this.#tried.set(id, { ...tried, spent: attempts });
        return this.#putBack(id, next.delayMs);
      }
    }
    this.#record(working, outcome, attempts);
    this.#tried.delete(id);
    this.#working.delete(id);
    await this.#schedule.end(id, outcome.kind, null);
  }

  #putBack(id: string, delayMs: DurationMs): void {
    this.#working.delete(id);
    this.#notes.rest(id);
    this.#schedule.putBack(id, this.#clock.now() + Math.ceil(delayMs));
  }

  #record(
    { run, startedAt }: Working,
    outcome: Exclude<Outcome, { kind: "snoozed" | "waiting" }>,
    attempts: number,
  ): void {
    const outputJson = outcome.kind === "succeeded" ? outcome.outputJson : null;
    const { lines: logs, progress } = this.#notes.end(run.id, outputJson);
    this.runs.push({
      id: formatId("run", run.id),
      task: run.task,
      payload: run.payload,
      status: outcome.kind,
      attempts,
      scheduledFor: new Date(run.nominal),
      startedAt: new Date(startedAt),
      finishedAt: this.now,
      output: outputJson === null ? null : (JSON.parse(outputJson) as unknown),
      error: outcome.kind === "succeeded" ? null : outcome.error,
      logs,
      progress,
    });
  }
}

function msOf(name: string, duration: string | DurationMs): DurationMs {
  if (Number.isFinite(duration) && Number(duration) >= 0) return Number(duration);
  checkArgument({ name, noun: "the duration" }, () => {
    if (typeof duration === "string") return parseDuration(duration);
    throw new CarillonError("duration_invalid", `Must be text such as "1h", or milliseconds, not ${shown(duration)}.`);
  });
  return parseDuration(String(duration));
}

/** The assignment that a worker would get for a virtual run, after so many attempts and claims. */
function toAssignment(run: VirtualRun, { spent, fence }: { spent: number; fence: number }): Assignment {
  return {
    runId: run.id,
    jobId: run.jobId,
    task: run.task,
    queue: run.queue,
    payload: JSON.parse(JSON.stringify(run.payload ?? null)) as unknown,
    attempt: spent + 1,
    maxAttempts: retryOf(run.policy).maxAttempts,
    atMostOnce: run.policy.guarantee === "at_most_once",
    fence: fence + 1,
    timeoutMs: run.policy.timeoutMs ?? null,
    scheduledFor: run.nominal,
    runAt: run.runAt,
  };
}

/** Upstream runs in the server's form; a run without a status succeeded. */
function upstreamJson(runs: readonly Partial<UpstreamRun>[], now: Instant): string {
  return JSON.stringify(
    runs.map((run, index) => ({
      run_id: run.runId ?? `upstream-${index}`,
      job_id: run.jobId ?? `upstream-job-${index}`,
      job_key: run.jobKey ?? null,
      status: run.status ?? "succeeded",
      reason: run.reason ?? null,
      finished_at: run.finishedAt ?? now,
      output: run.output ?? null,
      output_cut: run.isOutputCut ?? false,
      error: run.error ?? null,
    })),
  );
}

export interface TestKitOptions {
  /** The tasks that runs call. */
  readonly tasks: readonly TaskDefinition<never, unknown>[];
  /** The clock's first time; 2030-01-01T00:00:00Z by default. */
  readonly now?: TimeInput;
  /** From 0 to 1, for the jitter of retries; always the middle by default, so that a test sees the same each time. */
  readonly random?: () => number;
  /** How long a handler may wait for something that is not the kit's clock, in real time; 5 s by default. */
  readonly timeoutMs?: DurationMs;
}

export interface TestRunOptions {
  /** The upstream runs that the handler sees; a run without a status succeeded. */
  readonly upstream?: readonly Partial<UpstreamRun>[];
}

/** A run that has ended. */
export interface TestRun {
  readonly id: string;
  readonly task: string;
  readonly payload: unknown;
  readonly status: "succeeded" | "failed" | "cancelled";
  /** How many attempts it took. */
  readonly attempts: number;
  readonly scheduledFor: Date;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly output: unknown;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly logs: readonly TestLine[];
  readonly progress: TestProgress | null;
}
