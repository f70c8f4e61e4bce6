import type { OperationId } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { ProxiedApi } from "./proxied-api.js";

/** A call of one operation, on resources that were made for it. */
export interface PreparedCall {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly body?: unknown;
}

/** Makes the resources of one call. */
export type Prepare = (api: ProxiedApi, number: number) => Promise<PreparedCall>;

interface Made {
  readonly id: string;
  readonly version: number;
}

async function made(api: ProxiedApi, url: string, body: unknown): Promise<Made> {
  const response = await api.call("POST", url, body);
  if (response.statusCode >= 300) throw new Error(`${url} answered ${response.body}`);
  return response.json<Made>();
}

const job = (api: ProxiedApi, number: number) =>
  made(api, "/v1/jobs", {
    task: "unserved",
    key: `job-${number}`,
    overlap: "allow",
    schedule: { cron: "0 9 * * *", starts_at: "2026-01-01T00:00:00Z" },
  });

const run = (api: ProxiedApi, more: object = {}) => made(api, "/v1/runs", { task: "unserved", ...more });

/** A dead letter, the only one of its task. */
async function ownDeadLetter(api: ProxiedApi, number: number): Promise<string> {
  await deadLetter(api, `failing-${number}`);
  return `failing-${number}`;
}

/** A dead letter: a run that has failed for good. */
async function deadLetter(api: ProxiedApi, task = "unserved"): Promise<string> {
  const { id } = await run(api, { task });
  await api.direct.query({
    text: `with ended as (delete from carillon.run where state = 'queued' returning *)
           insert into carillon.run_history (id, job_id, namespace_id, status, priority, run_at, nominal_at, created_at, trigger, task,
             queue, payload, policy, attempt, losses, fence, finished_at)
           select id, job_id, namespace_id, 'failed', priority, run_at, nominal_at, created_at, trigger, task, queue, payload, policy, 1,
             0, 1, clock_timestamp()
           from ended`,
  });
  return id;
}

async function worker(api: ProxiedApi): Promise<string> {
  const id = api.newId();
  await api.direct.query(
    {
      text: `insert into carillon.worker_session (id, namespace_id, name, queues, tasks, slots, started_at, heartbeat_at)
             select $1, id, 'w', '{default}', '{unserved}', 1, clock_timestamp(), clock_timestamp() from carillon.namespace
             where name = 'default'`,
    },
    [id],
  );
  return formatId("wrk", id);
}

async function breaker(api: ProxiedApi, number: number): Promise<string> {
  await api.direct.query(
    {
      text: `insert into carillon.breaker (namespace_id, name, state, reason, opened_at, probe_at, open_for_ms, updated_at)
             select id, $1, 'open', 'failures', clock_timestamp(), clock_timestamp(), 60000, clock_timestamp() from carillon.namespace
             where name = 'default'`,
    },
    [`breaker-${number}`],
  );
  return `breaker-${number}`;
}

const webhook = (api: ProxiedApi) => made(api, "/v1/webhooks", { url: "https://example.com/hook", on: ["failed"] });

const post = (url: string, body?: unknown): PreparedCall => ({
  method: "POST",
  url,
  ...(body !== undefined && { body }),
});

const payload = { task: "unserved", payload: 1 };

/** Every operation that takes an Idempotency-Key. */
export const keyed: Partial<Record<OperationId, Prepare>> = {
  createJob: async (_api, number) =>
    post("/v1/jobs", { ...payload, key: `new-${number}`, schedule: { cron: "0 9 * * *" } }),
  createJobs: async (_api, number) =>
    post("/v1/jobs:batchCreate", { jobs: [payload, { ...payload, key: `of-many-${number}` }] }),
  cancelJob: async (api, number) => post(`/v1/jobs/${(await job(api, number)).id}:cancel`, {}),
  pauseJob: async (api, number) => post(`/v1/jobs/${(await job(api, number)).id}:pause`, {}),
  async resumeJob(api, number) {
    const { id } = await job(api, number);
    await api.call("POST", `/v1/jobs/${id}:pause`, {});
    return post(`/v1/jobs/${id}:resume`, {});
  },
  async rollbackJob(api, number) {
    const { id } = await job(api, number);
    await api.call("PATCH", `/v1/jobs/${id}`, { payload: 2 });
    return post(`/v1/jobs/${id}:rollback`, { version: 1 });
  },
  runJobNow: async (api, number) => post(`/v1/jobs/${(await job(api, number)).id}:runNow`, {}),
  retryJob: async (api) => post(`/v1/jobs/${(await deadLetter(api)).replace("run_", "job_")}:retry`, {}),
  createRun: async () => post("/v1/runs", payload),
  createRuns: async () => post("/v1/runs:batchCreate", { runs: [payload, { ...payload, delay: "1h" }] }),
  cancelRun: async (api) => post(`/v1/runs/${(await run(api)).id}:cancel`, {}),
  rescheduleRun: async (api) =>
    post(`/v1/runs/${(await run(api, { delay: "5m" })).id}:reschedule`, {
      at: new Date(Date.now() + 60_000).toISOString(),
    }),
  bulkRuns: async (api) => post("/v1/runs:bulk", { action: "cancel", ids: [(await run(api)).id] }),
  async abortOperation(api) {
    const { id } = await made(api, "/v1/runs:bulk", { action: "cancel", ids: [(await run(api)).id] });
    return post(`/v1/operations/${id}:abort`, {});
  },
  retryRun: async (api) => post(`/v1/runs/${await deadLetter(api)}:retry`, {}),
  replayRun: async (api) => post(`/v1/runs/${await deadLetter(api)}:replay`, {}),
  redriveDeadLetters: async (api, number) =>
    post("/v1/dead-letters:redrive", { filter: { task: await ownDeadLetter(api, number) } }),
  discardDeadLetters: async (api, number) =>
    post("/v1/dead-letters:discard", { filter: { task: await ownDeadLetter(api, number) } }),
  discardDeadLetter: async (api) => post(`/v1/dead-letters/${await deadLetter(api)}:discard`, {}),
  backfillJob: async (api, number) =>
    post(`/v1/jobs/${(await job(api, number)).id}:backfill`, {
      from: "2026-01-01T00:00:00Z",
      to: "2026-01-03T00:00:00Z",
    }),
  async abortBackfill(api, number) {
    const range = { from: "2026-01-01T00:00:00Z", to: "2026-01-03T00:00:00Z" };
    const { id } = await made(api, `/v1/jobs/${(await job(api, number)).id}:backfill`, range);
    return post(`/v1/backfills/${id}:abort`, {});
  },
  async resumeLimit(api, number) {
    await api.direct.query(
      {
        text: `insert into carillon.limit_key (namespace_id, scope, kind, name, max_count, on_failure, defined_at, stopped_by)
               select id, 'key', 'order', $1, 1, 'stop', clock_timestamp(), gen_random_uuid() from carillon.namespace where name = 'default'`,
      },
      [`limit-${number}`],
    );
    const { rows } = await api.direct.query<{ id: string }>({
      text: "select max(id)::text as id from carillon.limit_key",
    });
    return post(`/v1/limits/lim_${rows[0]?.id}:resume`);
  },
  pauseQueue: async () => post("/v1/queues/default:pause", {}),
  resumeQueue: async (api) => {
    await api.call("POST", "/v1/queues/default:pause", {});
    return post("/v1/queues/default:resume", {});
  },
  async purgeQueue(api, number) {
    await run(api, { queue: `purged-${number}` });
    return post(`/v1/queues/purged-${number}:purge`, {});
  },
  resetBreaker: async (api, number) => post(`/v1/breakers/${await breaker(api, number)}:reset`),
  createNamespace: async (_api, number) => post("/v1/namespaces", { name: `tenant-${number}` }),
  createWebhook: async () => post("/v1/webhooks", { url: "https://example.com/hook", on: ["failed"] }),
  rotateWebhookSecret: async (api) => post(`/v1/webhooks/${(await webhook(api)).id}:rotateSecret`, {}),
  testWebhook: async (api) => post(`/v1/webhooks/${(await webhook(api)).id}:test`),
  async redeliver(api) {
    const { id } = await webhook(api);
    const sent = await made(api, `/v1/webhooks/${id}:test`, undefined);
    return post(`/v1/webhooks/${id}/deliveries/${sent.id}:redeliver`);
  },
  rotateCallbackSecret: async () => post("/v1/callback-secret:rotate", {}),
  cordonWorker: async (api) => post(`/v1/workers/${await worker(api)}:cordon`),
  uncordonWorker: async (api) => post(`/v1/workers/${await worker(api)}:uncordon`),
  drainWorker: async (api) => post(`/v1/workers/${await worker(api)}:drain`, {}),
};

/** Every operation with PUT, PATCH or DELETE, which a caller may repeat without a key. */
export const byMethod: Partial<Record<OperationId, Prepare>> = {
  putJob: async (_api, number) => ({
    method: "PUT",
    url: `/v1/jobs/@put-${number}`,
    body: { ...payload, schedule: { every: "1h" } },
  }),
  updateJob: async (api, number) => ({
    method: "PATCH",
    url: `/v1/jobs/${(await job(api, number)).id}`,
    body: { payload: 2 },
  }),
  deleteJob: async (api, number) => ({ method: "DELETE", url: `/v1/jobs/${(await job(api, number)).id}` }),
  async updateLimit(api, number) {
    await api.direct.query(
      {
        text: `insert into carillon.limit_key (namespace_id, scope, kind, name, max_count, defined_at)
               select id, 'key', 'concurrency', $1, 1, clock_timestamp() from carillon.namespace where name = 'default'`,
      },
      [`own-limit-${number}`],
    );
    const { rows } = await api.direct.query<{ id: string }>({
      text: "select max(id)::text as id from carillon.limit_key",
    });
    return { method: "PATCH", url: `/v1/limits/lim_${rows[0]?.id}`, body: { limit: 3 } };
  },
  updateQueue: async (_api, number) => ({
    method: "PATCH",
    url: "/v1/queues/default",
    body: { concurrency: { limit: number + 1 } },
  }),
  async updateNamespace(api, number) {
    await made(api, "/v1/namespaces", { name: `changed-${number}` });
    return { method: "PATCH", url: `/v1/namespaces/changed-${number}`, body: { weight: 3 } };
  },
  putCalendar: async (_api, number) => ({
    method: "PUT",
    url: `/v1/calendars/calendar-${number}`,
    body: { rules: [{ dates: ["2026-12-25"] }] },
  }),
  async deleteCalendar(api, number) {
    await api.call("PUT", `/v1/calendars/old-${number}`, { rules: [{ dates: ["2026-12-25"] }] });
    return { method: "DELETE", url: `/v1/calendars/old-${number}` };
  },
  putWindow: async (_api, number) => ({
    method: "PUT",
    url: `/v1/maintenance-windows/window-${number}`,
    body: window,
  }),
  async deleteWindow(api, number) {
    await api.call("PUT", `/v1/maintenance-windows/old-${number}`, window);
    return { method: "DELETE", url: `/v1/maintenance-windows/old-${number}` };
  },
  updateWebhook: async (api) => ({
    method: "PATCH",
    url: `/v1/webhooks/${(await webhook(api)).id}`,
    body: { enabled: false },
  }),
  deleteWebhook: async (api) => ({ method: "DELETE", url: `/v1/webhooks/${(await webhook(api)).id}` }),
};

const window = { mode: "skip", from: "2027-01-01T00:00:00Z", to: "2027-01-02T00:00:00Z" };
