import { formatId } from "@carillon/core";
import { expect, it } from "vitest";
import type { CarillonProcess } from "../../process/carillon-process.js";
import { NodeCluster } from "../../process/node-cluster.js";
import { call, createJob } from "../../process/server.js";
import { startWorker } from "../../process/worker-process.js";

const args = ["--worker-slots", "0", "--worker-timeout", "1s"];

it("killed with -9, a worker does not leave a breaker half open, nor a node a waiting job without its start or with two [INV-1] [INV-6]", async () => {
  const cluster = await NodeCluster.start(["a", "b"], { args });
  const urls = [cluster.node("a").url, cluster.node("b").url];
  const worker = await killProbe(cluster, urls);
  await killNode(cluster, worker);
  expect(await cluster.auditFindings()).toEqual([]);
  expect((await worker.stop()).code).toBe(0);
});

/** The one run that is tried behind an open breaker dies with its worker; answers the worker that goes on. */
async function killProbe(cluster: NodeCluster, urls: readonly string[]): Promise<CarillonProcess> {
  const [url = ""] = urls;
  const first = await startWorker(urls);
  const breaker = { name: "payments", min_calls: 1, failure_ratio: 0.01, open_for: "300ms" };
  await createJob(url, { task: "stumble", breaker });
  await first.line(/^begun stumble 2 /);
  const behind = await createJob(url, { task: "begin", breaker });
  const state = async (): Promise<unknown> => (await call(`${url}/v1/breakers/payments`)).body["state"];
  expect([await state(), first.count(/^begun begin/)]).toEqual(["half_open", 0]);
  const { run } = (await call(`${url}/v1/jobs/${behind}`)).body as { run: { id: string } };
  const { body } = await call(`${url}/v1/runs/${run.id}/explain`);
  expect(body).toMatchObject({ code: "breaker_open", facts: { breaker: "payments", state: "half_open" } });

  const second = await startWorker(urls);
  first.kill("SIGKILL");
  await second.line(/^ended begin 1 /);
  const history = "select from carillon.run_history where status = 'succeeded'";
  await cluster.until("both runs have ended", async () => (await cluster.rows(history)).length === 2);
  await cluster.until("the breaker is closed", async () => (await state()) === "closed");
  return second;
}

/** The node that takes the results of a worker dies while runs end for which a job waits. */
async function killNode(cluster: NodeCluster, worker: CarillonProcess): Promise<void> {
  const [a, b] = [cluster.node("a"), cluster.node("b")];
  const overlap = "allow";
  await createJob(b.url, { key: "up", task: "begin", payload: { ms: 50 }, schedule: { manual: true }, overlap });
  await createJob(b.url, { key: "down", task: "collect", schedule: { after: [{ job: "up" }] }, overlap });
  const runs = 40;
  const ended = worker.count(/^ended/);
  for (let n = 0; n < runs; n++) expect((await call(`${b.url}/v1/jobs/@up:runNow`, {})).status).toBe(201);
  while (worker.count(/^ended/) < ended + 5) await worker.next();
  await a.kill();

  const open = "select from carillon.run union all select from carillon.dependency_event";
  await cluster.until("everything has ended", async () => (await cluster.rows(open)).length === 0);
  const pairs = `
    select up.id, count(down.id)::int as started, min(down.output::text) as collected
    from carillon.run_history up left join carillon.run_history down on down.trigger = 'after:' || up.id
    where up.trigger like 'run_now:%' and up.status = 'succeeded' group by up.id`;
  const found = await cluster.rows<{ id: string; started: number; collected: string }>(pairs);
  expect(found).toHaveLength(runs);
  expect(found.filter(({ started }) => started !== 1)).toEqual([]);
  // Each handler got its upstream run over HTTP.
  expect(
    found.filter(({ id, collected }) => !collected.includes(formatId("run", id)) || !collected.includes('"output":')),
  ).toEqual([]);
}
