import { formatId } from "@carillon/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AfterHarness, afterHarness } from "../../harness/after-harness.js";
import { type FrailDatabase, frailDatabase } from "../../harness/frail-database.js";

let h: AfterHarness;
let frail: FrailDatabase;
beforeAll(async () => {
  h = await afterHarness();
});
beforeEach(async () => {
  frail = await frailDatabase(h.url);
});
afterEach(() => frail.close());
afterAll(() => h.close());

/** Every statement with which jobs are told, in its order. */
const statements = [
  "dependency.open_jobs",
  "settlement.lock_free",
  "settlement.read",
  "dependency.events",
  "dependency.of_jobs",
  "settlement.insert_runs",
  "settlement.move",
  "dependency.told",
  "dependency.meet",
];

/** As the protocol carries it: "read committed" is something else. */
const commit = "commit\0";

const waiting = async (): Promise<{ up: string; down: string }> => {
  const [up, other] = [await h.upstream(), await h.upstream()];
  const after = [up, other].map((id) => ({ job: formatId("job", id), on: "success" }) as const);
  const down = await h.waiting(after);
  await h.runOnce(other);
  await h.tell();
  return { up, down };
};

/** The server has noticed that the node is gone: whatever it held is free. */
const settled = (down: string) => h.select("select from carillon.job_due where job_id = $1 for update", down);

describe("a node that dies while it tells", () => {
  it.each(statements)("before %s starts the job once all the same", async (statement) => {
    const { up, down } = await waiting();
    await h.runOnce(up);
    frail.breakBefore(statement);
    await expect(h.newRunner(frail.database).tick()).rejects.toMatchObject({ code: "database_unavailable" });
    await settled(down);
    expect(await h.started(down)).toEqual([]);
    await h.newRunner().tick();
    expect(await h.started(down)).toHaveLength(1);
    await h.tell();
    expect(await h.started(down)).toHaveLength(1);
  });

  it("after its commit, before the answer to it, has started the job once", async () => {
    const { up, down } = await waiting();
    await h.runOnce(up);
    frail.proxy.loseAnswerTo(commit);
    await expect(h.newRunner(frail.database).tick()).rejects.toMatchObject({ code: "database_unavailable" });
    await settled(down);
    expect(await h.started(down)).toHaveLength(1);
    await h.tell();
    expect(await h.started(down)).toHaveLength(1);
  });
});

describe("a node that dies while it ends a run", () => {
  it("before it is written leaves nobody told; after its commit everybody is, whoever tells", async () => {
    const { up, down } = await waiting();
    const run = await h.begin(up);
    const node = h.newRunner();
    await node.tick();
    expect(await h.started(down)).toEqual([]);
    await h.end(run);
    await node.tick();
    expect(await h.started(down)).toMatchObject([{ trigger: expect.stringContaining(`after:${run}:`) as string }]);
  });
});
