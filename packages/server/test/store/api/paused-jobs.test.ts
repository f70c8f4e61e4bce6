import type { Job, JobExplanation, JobList } from "@carillon/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RealApi, realApi } from "./real-api.js";

let api: RealApi;
beforeAll(async () => {
  api = await realApi();
});
afterAll(() => api.close());

const dayMs = 86_400_000;
const iso = (instant: number): string => new Date(instant).toISOString();

/** A job that fires once a year, paused in this way; `next` is the fire that it had before. */
async function pausedJob(pauseOf: (next: number) => object, schedule: object = { cron: "0 8 1 3 *" }) {
  const { id, next_run_at: before } = (await api.post("/v1/jobs", { task: "unserved", schedule })).json<Job>();
  const next = Date.parse(before ?? "");
  const job = (await api.post(`/v1/jobs/${id}:pause`, pauseOf(next))).json<Job>();
  expect((await api.get(`/v1/jobs/${id}`)).json<Job>().next_run_at).toBe(job.next_run_at);
  return { job, next };
}

it("a job that is paused until before its next fire shows that fire, in its zone, in lists and in explain", async () => {
  const schedule = { cron: "0 8 1 3 *", time_zone: "Europe/Paris" };
  const { job, next } = await pausedJob((at) => ({ until: iso(at - dayMs) }), schedule);
  expect(job).toMatchObject({
    state: "paused",
    next_run_at: iso(next),
    next_run_local: expect.stringMatching(/T08:00:00\.000\+01:00$/),
  });
  const { jobs } = (await api.get("/v1/jobs")).json<JobList>();
  expect(jobs.find(({ id }) => id === job.id)?.next_run_at).toBe(iso(next));
  expect((await api.get(`/v1/jobs/${job.id}/explain`)).json<JobExplanation>()).toMatchObject({
    next_run_at: iso(next),
    detail: expect.stringContaining(`until ${iso(next - dayMs)}; fires next at ${iso(next)}`),
  });
});

it("a job that is paused beyond its next fire shows the one after it, or the end of the pause if a missed one fires then", async () => {
  const skipping = await pausedJob((at) => ({ until: iso(at + dayMs) }));
  const yearLater = new Date(skipping.next);
  yearLater.setUTCFullYear(yearLater.getUTCFullYear() + 1);
  expect(skipping.job.next_run_at).toBe(yearLater.toISOString());
  const catching = await pausedJob((at) => ({ until: iso(at + dayMs), missed: "latest" }));
  expect(catching.job.next_run_at).toBe(iso(catching.next + dayMs));
});

it("a job that is paused without an end, or that has no schedule, shows no next fire", async () => {
  expect((await pausedJob(() => ({}))).job.next_run_at).toBeNull();
  const { job } = await pausedJob(() => ({ for: "1h" }), { manual: true });
  expect(job.next_run_at).toBeNull();
});
