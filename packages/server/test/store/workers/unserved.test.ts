import type {
  Job,
  JobBatchCreated,
  JobExplanation,
  Run,
  RunBatchCreated,
  RunCreated,
  RunExplanation,
  Warning,
} from "@carillon/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, cluster, type HttpNode } from "./http-node.js";

let nodes: Cluster;
let node: HttpNode;
beforeAll(async () => {
  nodes = await cluster();
  node = await nodes.start();
  const worker = { name: "raw", queues: ["default"], tasks: ["invoice.pdf"], slots: 1 };
  await node.call("POST", "/v1/workers:register", worker);
});
afterAll(() => nodes.close());

const answerOf = async <Body>(method: "GET" | "POST" | "PUT" | "PATCH", path: string, body?: object) => {
  const answer = await node.call(method, path, body);
  expect(answer.status).toBeLessThan(300);
  return answer.body as Body;
};
const post = <Body>(path: string, body: object = {}) => answerOf<Body>("POST", path, body);

const misspelt = "invioce.pdf";
const detail =
  "no worker serves task invioce.pdf, so its runs wait; a worker serves the similar task invoice.pdf; " +
  "to start a worker: carillon worker start ./tasks.js";
const unserved: Warning = { code: "no_worker_for_task", detail };
const manual = { task: misspelt, schedule: { manual: true } };

describe("a task that no worker serves", () => {
  it("is named with a similar task and the command that starts a worker by every call that creates or changes a job", async () => {
    const job = await post<Job>("/v1/jobs", manual);
    expect(job.warnings).toEqual([unserved]);
    expect((await answerOf<Job>("PUT", "/v1/jobs/@late", manual)).warnings).toEqual([unserved]);
    expect((await answerOf<Job>("PATCH", "/v1/jobs/@late", { priority: 7 })).warnings).toEqual([unserved]);
    expect((await answerOf<Job>("GET", `/v1/jobs/${job.id}`)).warnings).toEqual([unserved]);
    expect((await post<Job>("/v1/jobs:preview", manual)).warnings).toEqual([unserved]);
    expect((await answerOf<JobExplanation>("GET", `/v1/jobs/${job.id}/explain`)).warnings).toEqual([unserved]);
    const jobs = [{ task: misspelt }, { task: misspelt }, { task: "invoice.pdf" }, {}];
    expect(await post<JobBatchCreated>("/v1/jobs:batchCreate", { jobs })).toMatchObject({
      created: 3,
      refused: 1,
      warnings: [unserved],
    });
    expect((await post<RunCreated>(`/v1/jobs/${job.id}:runNow`)).warnings).toEqual([unserved]);
  });

  it("is named by every call that creates a run", async () => {
    expect(await post<RunCreated>("/v1/runs", { task: misspelt })).toMatchObject({
      status: "queued",
      warnings: [unserved],
    });
    const runs = [{ task: misspelt }, { task: "invoice.pdf" }, { task: misspelt }];
    expect(await post<RunBatchCreated>("/v1/runs:batchCreate", { runs })).toMatchObject({
      created: 3,
      warnings: [unserved],
    });
  });

  it("warns about a queue that no worker of the task serves, with the flag that serves it", async () => {
    const { warnings } = await post<RunCreated>("/v1/runs", { task: "invoice.pdf", queue: "slow" });
    expect(warnings).toEqual([
      {
        code: "no_worker_for_queue",
        detail:
          "no worker that has task invoice.pdf serves queue slow, so its runs wait; " +
          "to start a worker: carillon worker start ./tasks.js --queues slow",
      },
    ]);
  });

  it.each([
    ["http", "--executors http"],
    ["shell", "--enable-shell"],
  ])("names the flag of the worker for the task %s, which comes with Carillon", async (task, flag) => {
    const payload = task === "http" ? { url: "https://example.com/" } : null;
    const { warnings } = await post<RunCreated>("/v1/runs", { task, payload });
    expect(warnings?.[0]?.detail).toBe(
      `no worker serves task ${task}, so its runs wait; to start a worker: carillon worker start ${flag}`,
    );
  });

  it("gives no warning about a task that a worker serves, or a job that fires no more", async () => {
    expect((await post<Job>("/v1/jobs", { task: "invoice.pdf" })).warnings).toEqual([]);
    expect((await post<RunCreated>("/v1/runs", { task: "invoice.pdf" })).warnings).toEqual([]);
    const { id } = await post<Job>("/v1/jobs", manual);
    expect((await post<Job>(`/v1/jobs/${id}:cancel`)).warnings).toEqual([]);
  });

  it("is what a run waits for in the answer to a caller that waited, as in explain", async () => {
    const run = await post<Run>("/v1/runs?wait=1ms", { task: "pdf" });
    expect(run.waiting_on).toEqual({ code: "no_worker_for_task", detail: "no worker serves task pdf" });
    const { code, detail: why } = await answerOf<RunExplanation>("GET", `/v1/runs/${run.id}/explain`);
    expect(run.waiting_on).toEqual({ code, detail: why });
    const { id } = await post<Job>("/v1/jobs", { task: "pdf", schedule: { manual: true } });
    const now = await post<Run>(`/v1/jobs/${id}:runNow?wait=1ms`);
    expect(now.waiting_on).toMatchObject({ code: "no_worker_for_task" });
    expect((await post<Run>(`/v1/runs/${run.id}:reschedule`, { delay: "1h" })).waiting_on).toMatchObject({
      code: "due_later",
    });
  });
});
