import { expect, it } from "vitest";
import { LimitJournal } from "../../process/limit-journal.js";
import { NodeCluster } from "../../process/node-cluster.js";
import { call } from "../../process/server.js";

const rate = { limit: 3, per: "2s" };

function runsOf(key: string, count: number, ms: number, limits: object): object[] {
  return Array.from({ length: count }, (_, number) => ({ task: "work", payload: { key, number, ms }, ...limits }));
}

it("killing a node and a worker during a pause exceeds no limit, breaks no order and loses no slot [INV-8] [INV-14]", async () => {
  const cluster = await NodeCluster.start(["a", "b"], { args: ["--worker-slots", "0"] });
  const [a, b] = [cluster.node("a"), cluster.node("b")];
  const journal = await LimitJournal.create();
  const victim = await journal.startWorker([a.url]);
  // Its handler ends only in the second attempt: the first holds a slot until its worker is killed.
  const held = { task: "work", payload: { key: "held", number: 0, meet: 2 } };
  const slot = { concurrency: { key: "together", limit: 2 } };
  expect((await call(`${a.url}/v1/runs:batchCreate`, { runs: [{ ...held, ...slot }] })).status).toBe(200);
  await cluster.until("the victim is at work", async () => journal.openOf(victim.pid) > 0);
  const worker = await journal.startWorker([b.url]);
  const together = { concurrency: { key: "{payload.key}", limit: 2 } };
  const runs = [
    ...runsOf("together", 12, 150, together),
    ...runsOf("rated", 4, 0, { rate_limit: { key: "{payload.key}", ...rate } }),
    ...runsOf("ordered", 8, 50, { ordering_key: "{payload.key}" }),
  ];
  const made = await call(`${a.url}/v1/runs:batchCreate`, { runs });
  expect(made.status).toBe(200);
  await cluster.until("others are at work too", async () => journal.count("begin") > 1);
  await journal.kill(victim);
  await a.kill();
  expect((await call(`${b.url}/v1/queues/default:pause`, { reason: "test" })).status).toBe(200);
  await cluster.until("what had begun has ended", async () => journal.openOf(worker.pid) === 0);
  expect((await call(`${b.url}/v1/queues/default:resume`, {})).status).toBe(200);
  await cluster.until("all have ended", async () => journal.count("end") > runs.length);
  expect(journal.maxOpen("together")).toBe(2);
  expect(journal.maxOpen("ordered")).toBe(1);
  const order = [0, 1, 2, 3, 4, 5, 6, 7];
  expect([...new Set(journal.ended("ordered"))]).toEqual(order);
  expect([...journal.begun("ordered")].sort((one, other) => one - other)).toEqual(journal.begun("ordered"));
  // Half a window for the time between claim and handler.
  expect(journal.shortestOver("rated", rate.limit)).toBeGreaterThan(1_000);
  // Every slot is free again: these two end only when both have started.
  const last = [0, 1].map((number) => ({ task: "work", payload: { key: "meeting", number, meet: 2 }, ...slot }));
  expect((await call(`${b.url}/v1/runs:batchCreate`, { runs: last })).status).toBe(200);
  await cluster.until("the last two have met", async () => journal.count("end", "meeting") === 2);
  expect(await cluster.auditFindings()).toEqual([]);
  expect((await worker.stop()).code).toBe(0);
});
