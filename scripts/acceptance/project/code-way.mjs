// The actions in code. This file is copied into the empty project and imports the `carillon` that is installed there.
import { carillon } from "carillon";

export function codeWay(url) {
  const app = carillon({ url });
  const { jobs, runs, deadLetters, backfills } = app.client;
  return {
    name: "code",
    /** Uses the SDK for recurring and fixed times, and the client for a delay, which `schedule` does not take. */
    async create({ key, task, payload, labels, schedule }) {
      const { cron, time_zone: timeZone, every, at, delay } = schedule;
      const when = cron ? { cron, timeZone } : every ? { every } : at ? { at: new Date(at) } : null;
      if (when === null) return jobs.create({ key, task, payload, labels, schedule: { delay } });
      const { id } = await app.schedule(task, key, { ...when, payload, labels });
      return jobs.get(id);
    },
    job: (job) => jobs.get(job),
    runsOf: async (job_id, status) => (await runs.list({ job_id, status })).runs,
    run: (id) => runs.get(id),
    explain: (id) => runs.explain(id),
    pause: (job, reason) => jobs.pause(job, { reason }),
    resume: (job) => jobs.resume(job, { missed: "none" }),
    runNow: (job) => jobs.runNow(job, {}, { wait: "60s" }),
    backfill: (job, from, to) => jobs.backfill(job, { from, to }),
    backfillState: (id) => backfills.get(id),
    cancel: (job) => jobs.cancel(job),
    deadLetters: async (job_id) => (await deadLetters.list({ job_id })).dead_letters,
    retry: (id) => runs.retry(id),
    jobsWith: async (label_selector) => (await jobs.list({ label_selector })).jobs,
    runsWith: async (label_selector) => (await runs.list({ label_selector })).runs,
    async followLogs(id, onLine) {
      for await (const line of runs.followLogs(id)) onLine(line);
    },
    refused: (body) =>
      jobs.create(body).then(
        () => null,
        ({ code, errors }) => ({ code, pointers: errors.map(({ pointer }) => pointer) }),
      ),
  };
}
