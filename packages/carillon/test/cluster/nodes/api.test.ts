import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { NodeCluster } from "../../process/node-cluster.js";
import "../../process/scratch.js";
import { call } from "../../process/server.js";
import { type SentEvent, SentEvents } from "../../process/sent-events.js";

/** A node publishes its events once it knows that a client of another node follows them, which the reader cannot see. */
async function untilReceived(
  received: Promise<SentEvent>,
  act: (time: number) => Promise<unknown>,
): Promise<SentEvent> {
  for (let time = 0; ; time++) {
    await act(time);
    const found = await Promise.race([received, sleep(2_000, null)]);
    if (found !== null) return found;
  }
}

describe("the API of two nodes over one database", () => {
  it("a node streams the events of another node, also to a client that was away, and continues the operation of a killed node: each run is cancelled once", async () => {
    const cluster = await NodeCluster.start(["a", "b"], { args: ["--shard-lease", "2s"] });
    const [a, b] = [cluster.node("a"), cluster.node("b")];
    const made = (key: string) => call(`${b.url}/v1/jobs`, { task: "echo", key, schedule: { manual: true } });

    const events = await SentEvents.open(`${a.url}/v1/events?type=job`);
    const received = events.next("job.created");
    const seen = await untilReceived(received, (time) => made(`one-${time}`));
    await events.close();
    await made("two");
    await made("three");
    const again = await SentEvents.open(`${a.url}/v1/events?type=job`, seen.id);
    expect([(await again.next()).event, (await again.next()).event]).toEqual(["job.created", "job.created"]);
    await again.close();

    const count = 5_000;
    const batch = { runs: Array.from({ length: 1_000 }, () => ({ task: "unserved.task" })) };
    for (let sent = 0; sent < count; sent += 1_000) await call(`${a.url}/v1/runs:batchCreate`, batch);
    const { body } = await call(`${a.url}/v1/runs:bulk`, { action: "cancel", filter: { task: "unserved.task" } });
    const state = async () => {
      type Row = { seen: number; state: string; owner: string };
      const [row] = await cluster.rows<Row>(
        `select o.seen::int as seen, o.state, n.name as owner from carillon.operation o
         join carillon.shard s on s.id = o.shard left join carillon.node n on n.id = s.owner`,
      );
      return row;
    };
    await cluster.until("it is under way", async () => ((await state())?.seen ?? 0) > 0);
    const before = await state();
    await cluster.node(before?.owner ?? "").kill();
    const other = before?.owner === "a" ? b : a;
    expect(before).toMatchObject({ state: "running" });
    await cluster.until("the other node ended it", async () => (await state())?.state === "done");
    const cancelled = await cluster.rows<{ runs: number; ends: number }>(
      `select count(distinct id)::int as runs, count(*)::int as ends from carillon.run_history where task = 'unserved.task'`,
    );
    expect(cancelled).toEqual([{ runs: count, ends: count }]);
    expect((await call(`${other.url}/v1/operations/${String(body["id"])}`)).body).toMatchObject({ failed: 0 });
    expect(await cluster.auditFindings()).toEqual([]);
  });
});
