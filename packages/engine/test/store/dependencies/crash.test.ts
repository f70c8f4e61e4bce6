import { formatId } from "@carillon/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type DependencyHarness, dependencyHarness } from "../../harness/dependency-harness.js";
import { type FrailDatabase, frailDatabase } from "../../harness/frail-database.js";

/** A statement that was not sent, or one whose outcome is unknown. */
const away = expect.stringMatching(/^(database_unavailable|outcome_unknown)$/) as string;

let h: DependencyHarness;
let frail: FrailDatabase;
beforeAll(async () => {
  h = await dependencyHarness();
});
beforeEach(async () => {
  frail = await frailDatabase(h.url);
});
afterEach(() => frail.close());
afterAll(() => h.close());

/** The statements of a pass of the runner, in their order. */
const statements = [
  "upstream_end.find_waiting_jobs",
  "job_transaction.lock_available",
  "job_transaction.read_jobs",
  "upstream_end.list",
  "dependency.list",
  "job_transaction.insert_runs",
  "job_transaction.save_due_states",
  "upstream_end.delete",
  "dependency.save_progress",
];

/** With the terminator of the protocol: "read committed" must not match. */
const commit = "commit\0";

const waiting = async (): Promise<{ up: string; down: string }> => {
  const [up, other] = [await h.upstream(), await h.upstream()];
  const after = [up, other].map((id) => ({ job: formatId("job", id), on: "success" }) as const);
  const down = await h.waiting(after);
  await h.runOnce(other);
  await h.processEnds();
  return { up, down };
};

/** The server has noticed that the node is gone: its locks are released. */
const released = (down: string) => h.select("select from carillon.job_due where job_id = $1 for update", down);

describe("a node that dies while it processes ends", () => {
  it.each(statements)("starts the waiting job once although a node dies before %s", async (statement) => {
    const { up, down } = await waiting();
    await h.runOnce(up);
    frail.breakBefore(statement);
    await expect(h.newRunner(frail.database).tick()).rejects.toMatchObject({ code: away });
    await released(down);
    expect(await h.started(down)).toEqual([]);
    await h.newRunner().tick();
    expect(await h.started(down)).toHaveLength(1);
    await h.processEnds();
    expect(await h.started(down)).toHaveLength(1);
  });

  it("starts the waiting job once although a node dies after its commit, before the answer", async () => {
    const { up, down } = await waiting();
    await h.runOnce(up);
    frail.proxy.loseAnswerTo(commit);
    await expect(h.newRunner(frail.database).tick()).rejects.toMatchObject({ code: away });
    await released(down);
    expect(await h.started(down)).toHaveLength(1);
    await h.processEnds();
    expect(await h.started(down)).toHaveLength(1);
  });
});

describe("a node that dies while it ends a run", () => {
  it("stores an end exactly if the transaction that ends the run commits, although its node dies", async () => {
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
