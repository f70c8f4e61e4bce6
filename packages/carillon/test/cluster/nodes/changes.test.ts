import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { EverySecond } from "../../process/every-second.js";
import { expectWhole } from "../../process/expect-whole.js";
import { NodeCluster } from "../../process/node-cluster.js";
import "../../process/scratch.js";
import { call } from "../../process/server.js";

const names = ["a", "b", "c"] as const;
/** Before, at and just after the instant, as precisely as HTTP allows. */
const offsets = [-10, 0, 5, 20];

/** The time needed before a full second to prepare its requests. */
const AHEAD_MS = 100;

/**
 * Resolves so many milliseconds from a full second of the database's clock, the first one that can be reached after the given number of
 * seconds: the test is about that time.
 */
async function nearTheInstant(cluster: NodeCluster, offsetMs: number, others = 0): Promise<void> {
  const [row] = await cluster.rows<{ ms: number }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms",
  );
  const now = row?.ms ?? 0;
  await sleep((Math.ceil((now + AHEAD_MS) / 1_000) + others) * 1_000 - now + offsetMs);
}

it("jobs that are paused, edited, rolled back and cancelled at their instant, through any node, fire by the old or by the new definition, never by both or neither [INV-1] [INV-11]", async () => {
  const cluster = await NodeCluster.start(names);
  const jobs = await EverySecond.start(cluster, cluster.node("a").url, 12);
  const rows = await cluster.rows<{ id: string }>("select id from carillon.job order by id");
  const { body } = await call(`${cluster.node("a").url}/v1/jobs?page_size=100`);
  const ids = (body["jobs"] as { id: string }[]).map((job) => job.id);
  expect(ids).toHaveLength(rows.length);
  /** All at once, each to the next node. */
  const changeAll = async (change: (url: string, nth: number) => Promise<number>): Promise<number[]> =>
    Promise.all(
      ids.map((id, nth) => change(`${cluster.node(names[nth % names.length] ?? "a").url}/v1/jobs/${id}`, nth)),
    );
  const send = async (url: string, verb: string, sent: object): Promise<number> =>
    (await call(`${url}:${verb}`, sent)).status;

  for (const [round, offset] of offsets.entries()) {
    await nearTheInstant(cluster, offset);
    const answers = await changeAll((url, nth) => {
      if (nth % 3 === 0) return send(url, "pause", {});
      return nth % 3 === 1 ? patch(url, { payload: round }) : send(url, "rollback", { version: 1 });
    });
    expect(new Set(answers)).toEqual(new Set([200]));
    // Exactly one instant is between the two changes.
    await nearTheInstant(cluster, offset, 1);
    const back = await changeAll((url, nth) => {
      if (nth % 3 === 0) return send(url, "resume", { missed: ["none", "latest", "all"][(nth / 3) % 3] });
      return nth % 3 === 1 ? send(url, "rollback", { version: 1 }) : patch(url, { payload: round });
    });
    expect(new Set(back)).toEqual(new Set([200]));
  }
  await expectWhole(cluster, jobs);

  await nearTheInstant(cluster, 0);
  expect(await changeAll((url) => send(url, "cancel", {}))).toEqual(ids.map(() => 200));
  const [{ now } = { now: null }] = await cluster.rows<{ now: Date }>("select clock_timestamp() as now");
  await cluster.until("another instant has come", async () => {
    const passed = "select where clock_timestamp() > $1::timestamptz + interval '1 second'";
    return (await cluster.rows(passed, [now])).length === 1;
  });
  expect(await jobs.faults()).toEqual([]);
  const late = `select j.id from carillon.job j join carillon.job_due d on d.job_id = j.id
                where j.ended_at is null or d.fired_through <> date_trunc('second', j.ended_at)`;
  expect(await cluster.rows(late)).toEqual([]);
  expect(await cluster.auditFindings()).toEqual([]);
});

async function patch(url: string, body: object): Promise<number> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "PATCH", headers, body: JSON.stringify(body) });
  await answer.text();
  return answer.status;
}
