import { formatId } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DependencyHarness, dependencyHarness } from "../../harness/dependency-harness.js";
import { actor, spec, startRuns } from "../../harness/change-harness.js";

let h: DependencyHarness;
beforeAll(async () => {
  h = await dependencyHarness();
});
afterAll(() => h.close());

const name = (id: string): string => formatId("job", id);
const failed = { status: "failed", reason: "handler_error" } as const;
const cancelled = { status: "cancelled", reason: "cancelled_by_user" } as const;
const triggers = async (id: string): Promise<string[]> =>
  (await h.started(id)).map((run) => String(run["trigger"])).sort();

describe("a job with an upstream job", () => {
  it("starts a job once for each upstream run that ends as awaited, and names that run", async () => {
    const up = await h.upstream();
    const down = await h.waiting([{ job: name(up), on: "success" }]);
    const [first, second] = [await h.runOnce(up), await h.runOnce(up)];
    await h.processEnds();
    await h.processEnds();
    expect(await triggers(down)).toEqual([`after:${first}`, `after:${second}`].sort());
    const [made] = await h.started(down);
    const run = await h.engine.runs.get("default", String(made?.["id"]));
    expect(run).toMatchObject({ jobId: down, status: "queued", trigger: { kind: "after" } });
    expect(await h.select("select * from carillon.dependency_event where job_id = $1", down)).toEqual([]);
  });

  it.each([
    ["success", [true, false, false]],
    ["failure", [false, true, false]],
    ["finish", [true, true, true]],
  ] as const)("on %s counts success, failure and cancel so: %j", async (on, expected) => {
    const up = await h.upstream();
    const down = await h.waiting([{ job: name(up), on }]);
    const ids = [await h.runOnce(up), await h.runOnce(up, failed), await h.runOnce(up, cancelled)];
    await h.processEnds();
    const found = await triggers(down);
    expect(ids.map((id) => found.includes(`after:${id}`))).toEqual(expected);
  });

  it("counts upstream runs that were cancelled while waiting, expired or lost their worker too often", async () => {
    const up = await h.upstream({ policy: { guarantee: "at_most_once" } });
    const down = await h.waiting([{ job: name(up), on: "finish" }]);
    const waiting = await h.engine.jobs.runNow("default", { id: up }, {}, actor);
    await h.store.historyTransaction((tx) =>
      h.store.unitOfWork.writes.endRuns(tx, [{ id: waiting.id, reason: "cancelled_by_user" }]),
    );
    const late = await h.engine.jobs.runNow("default", { id: up }, {}, actor);
    await h.select("update carillon.run set deadline_at = now() - interval '1 second' where id = $1", late.id);
    await h.store.runs.expire(10);
    const lost = await h.begin(up);
    await h.select("update carillon.run set started_at = now() where id = $1", lost);
    await h.store.runs.buryLost([lost], 3);
    await h.processEnds();
    expect(await triggers(down)).toEqual([waiting.id, late.id, lost].map((id) => `after:${id}`).sort());
  });

  it("processes ends with large outputs in parts, in their order, until none is left", async () => {
    const up = await h.upstream();
    const down = await h.waiting([{ job: name(up), on: "success" }]);
    const output = JSON.stringify("x".repeat(200));
    const ids: string[] = [];
    for (let count = 0; count < 4; count++) ids.push(await h.runOnce(up, { output }));
    const first = await h.store.upstreamEnds.list(h.db, [down], 100, 300);
    expect(first.map((end) => end.runId)).toEqual(ids.slice(0, 2));
    expect(await h.store.upstreamEnds.list(h.db, [down], 100, 1)).toHaveLength(1);
    await h.processEnds();
    expect(await triggers(down)).toEqual(ids.map((id) => `after:${id}`).sort());
  });

  it("processes the ends of runs that were live before the waiting job was created", async () => {
    const [up, listed] = [await h.upstream(), await h.upstream({ firing: { overlap: "queue_all" } })];
    const [running, waiting] = [await h.begin(up), await h.begin(listed)];
    const down = await h.waiting(
      [
        { job: name(up), on: "success" },
        { job: name(listed), on: "success" },
      ],
      {},
      "any",
    );
    await h.end(running);
    await h.end(waiting);
    await h.processEnds();
    expect(await triggers(down)).toHaveLength(2);
  });

  it("waits for a one-off job that is stored as its run alone", async () => {
    const at = h.db.clock.now() - 1_000;
    const { id: up } = await h.engine.jobs.create("default", spec({ schedule: { kind: "at", at } }));
    const down = await h.waiting([{ job: name(up), on: "success" }]);
    await startRuns(h, up);
    await h.end(up);
    await h.processEnds();
    expect(await triggers(down)).toEqual([`after:${up}`]);
  });

  it("resolves an upstream job by its key, and shows both jobs as neighbours", async () => {
    const up = await h.upstream({ key: "extract" });
    const down = await h.waiting([{ job: "extract", on: "success", when: "output.rows > 0" }], { key: "load" });
    const upstream = { side: "upstream", jobId: up, key: "extract", on: "success", when: "output.rows > 0" };
    expect((await h.engine.jobs.get("default", { id: down }))?.neighbours).toMatchObject([
      { ...upstream, state: "active" },
    ]);
    expect((await h.engine.jobs.get("default", { id: up }))?.neighbours).toMatchObject([
      { side: "downstream", jobId: down, key: "load", on: "success" },
    ]);
  });

  it("applies the waiting job's overlap policy: an end during a live run goes to the ledger", async () => {
    const up = await h.upstream();
    const down = await h.waiting([{ job: name(up), on: "success" }], { firing: { overlap: "skip" } });
    await h.runOnce(up);
    await h.processEnds();
    await h.runOnce(up);
    await h.processEnds();
    expect(await triggers(down)).toHaveLength(1);
    expect(await h.ledger(down)).toMatchObject([{ reason: "overlap", count: 1 }]);
  });
});

describe("a condition on an upstream run", () => {
  it("starts the job only if the condition holds, and records in the ledger why it does not", async () => {
    const up = await h.upstream();
    const down = await h.waiting([{ job: name(up), on: "finish", when: "status == 'failed' || output.rows > 10" }]);
    const many = await h.runOnce(up, { output: '{"rows":11}' });
    const few = await h.runOnce(up, { output: '{"rows":1}' });
    const none = await h.runOnce(up, { output: "{}" });
    const bad = await h.runOnce(up, failed);
    await h.processEnds();
    expect(await triggers(down)).toEqual([`after:${many}`, `after:${bad}`].sort());
    const noted = await h.select("select detail from carillon.occurrence where job_id = $1 order by from_at", down);
    expect(noted.map((row) => row["detail"])).toEqual([
      `the condition on ${formatId("run", few)} does not hold`,
      expect.stringContaining(`the condition on ${formatId("run", none)} cannot be evaluated: No such key: rows`),
    ]);
  });

  it("refuses a job with an invalid condition, with its pointer", async () => {
    const up = await h.upstream();
    const after = [
      { job: name(up), on: "success" },
      { job: name(up), on: "failure", when: "rows > 1" },
    ] as const;
    await expect(h.waiting(after)).rejects.toMatchObject({
      code: "condition_invalid",
      items: [{ pointer: "/schedule/after/1/when" }],
    });
  });
});

describe("a job with several upstream jobs", () => {
  it("starts a job with several upstream jobs once per round, when the latest run of each fits", async () => {
    const [a, b] = [await h.upstream(), await h.upstream()];
    const down = await h.waiting([
      { job: name(a), on: "success" },
      { job: name(b), on: "success" },
    ]);
    await h.runOnce(a);
    const latest = await h.runOnce(a);
    await h.processEnds();
    expect(await triggers(down)).toEqual([]);
    const first = await h.runOnce(b);
    await h.processEnds();
    expect(await triggers(down)).toEqual([`after:${first}:${latest}:${first}`]);
    await h.runOnce(b);
    await h.processEnds();
    expect(await triggers(down)).toHaveLength(1);
    await h.runOnce(a);
    await h.processEnds();
    expect(await triggers(down)).toHaveLength(2);
  });

  it("does not start a job by a success that a later failure revoked", async () => {
    const [a, b] = [await h.upstream(), await h.upstream()];
    const down = await h.waiting([
      { job: name(a), on: "success" },
      { job: name(b), on: "success" },
    ]);
    await h.runOnce(a);
    await h.processEnds();
    await h.runOnce(a, failed);
    const met = await h.runOnce(b);
    await h.processEnds();
    expect(await triggers(down)).toEqual([]);
    const again = await h.runOnce(a);
    await h.processEnds();
    expect(await triggers(down)).toEqual([`after:${again}:${again}:${met}`]);
  });

  it("starts a job at each end that fits under any", async () => {
    const [a, b] = [await h.upstream(), await h.upstream()];
    const after = [
      { job: name(a), on: "success" },
      { job: name(b), on: "failure" },
    ] as const;
    const down = await h.waiting(after, {}, "any");
    await h.runOnce(a);
    await h.runOnce(b);
    await h.runOnce(b, failed);
    await h.processEnds();
    expect(await triggers(down)).toHaveLength(2);
  });
});
