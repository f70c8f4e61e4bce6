import type { Instant } from "@carillon/core";
import type { ClusterView, Forecast, JobExplanation, JobRef, RunExplanation, RunView } from "@carillon/engine";
import type { ApiEngine } from "../../../src/api/http/handler.js";
import { FakeBackfills, FakeDeadLetters, FakeOperations } from "./fake-bulk.js";
import { FakeBreakers, FakeCalendars, FakeLimits, FakeNamespaces, FakeQueues, FakeWindows } from "./fake-catalog.js";
import { FakeJobs } from "./fake-jobs.js";
import { FakeEnqueuer, FakeIdempotencyKeys, FakeRuns, FakeWaitingRuns } from "./fake-runs.js";
import { FakeComponent, FakeState, type Port } from "./fake-state.js";
import { FakeCallbackSecrets, FakeWebhooks } from "./fake-webhooks.js";
import { FakeTasks, FakeWorkers } from "./fake-workers.js";

/** An engine in memory, for tests of the API. Nothing happens by itself: no job fires and no run starts. */
export class FakeEngine extends FakeComponent implements ApiEngine {
  readonly backfills = new FakeBackfills(this.state);
  readonly breakers = new FakeBreakers(this.state);
  readonly calendars = new FakeCalendars(this.state);
  readonly callbackSecrets = new FakeCallbackSecrets(this.state);
  readonly cluster = {
    get: async (): Promise<ClusterView> => ({
      level: { inUse: 1, ofThisVersion: 1 },
      nodes: [],
      shards: [{ id: 0, owner: null, epoch: 1 }],
    }),
  };
  readonly deadLetters = new FakeDeadLetters(this.state);
  readonly enqueuer = new FakeEnqueuer(this.state);
  readonly explanations = new FakeExplanations(this.state);
  readonly forecasts = new FakeForecasts(this.state);
  readonly idempotencyKeys = new FakeIdempotencyKeys();
  readonly jobs = new FakeJobs(this.state);
  readonly limits = new FakeLimits();
  readonly namespaces = new FakeNamespaces(this.state);
  readonly queues = new FakeQueues(this.state);
  readonly operations = new FakeOperations(this.state, this.queues);
  readonly runs = new FakeRuns(this.state);
  readonly tasks = new FakeTasks();
  readonly waitingRuns = new FakeWaitingRuns(this.state);
  readonly webhooks = new FakeWebhooks(this.state);
  readonly windows = new FakeWindows(this.state);
  readonly workers = new FakeWorkers();

  constructor(now: () => Instant) {
    super(new FakeState(now));
  }

  /** The next call throws this error, except where a fake never fails. */
  failNextCall(error: Error): void {
    this.state.failure = error;
  }
}

/** Every run is the first of its queue. */
class FakeExplanations extends FakeComponent implements Port<"explanations"> {
  async runView(_namespace: string, { queue }: RunView): Promise<RunExplanation> {
    return { code: "position", detail: `position 1 of 1 in queue ${queue}`, until: null, facts: { queue } };
  }

  async run(namespace: string, runId: string): Promise<{ run: RunView; explanation: RunExplanation } | null> {
    this.state.failOnce();
    const run = this.state.runs.find(({ id }) => id === runId);
    return run === undefined ? null : { run, explanation: await this.runView(namespace, run) };
  }

  async job(_namespace: string, ref: JobRef): Promise<JobExplanation> {
    const job = this.state.requireJob(ref);
    const reason = { code: "manual" as const, detail: "it runs only when asked", until: null, facts: {} };
    return { ...reason, job, state: job.state, run: null, outcomes: [] };
  }
}

/** Nothing fires; a new job shares its instant with every stored one. */
class FakeForecasts extends FakeComponent implements Port<"forecasts"> {
  async get(): Promise<Forecast> {
    const from = this.state.now();
    const none = { perMinute: [], busiest: null, crowded: [], proposals: [] };
    return { from, until: from, jobs: 0, sampledJobs: 0, isExact: true, fires: 0, ...none };
  }

  async firesAt(): Promise<number> {
    return this.state.jobs.length;
  }
}
