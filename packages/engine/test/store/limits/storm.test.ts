import { afterEach, beforeEach, expect, test } from "vitest";
import { audits, runAudit } from "@carillon/store";
import { LimitHarness } from "../../harness/limit-harness.js";

let h: LimitHarness;
beforeEach(async () => {
  h = await LimitHarness.create();
});
afterEach(() => h.close());

const retry = { maxAttempts: 3, initialMs: 1, jitter: "none" as const };
const context = { actor: null };

test("over two nodes, with failures, cancels, a pause and a lost worker, no key has more open runs than its limit and every run ends [INV-8] [INV-14]", async () => {
  const [first, second] = [await h.startNode("one"), await h.startNode("two")];
  const limited = { concurrency: { key: "{payload.key}", limit: 2 }, retry };
  const ordered = { ordering: { key: "{payload.key}", onFailure: "skip" as const }, retry };
  const keys = ["a", "b", "c", "o", "p"];
  const ids: string[] = [];
  for (let round = 0; round < 20; round++) {
    for (const key of keys) {
      const policy = key === "o" || key === "p" ? ordered : limited;
      ids.push(...(await h.enqueue(round % 2 === 0 ? first : second, policy, [{ key }])));
    }
  }
  let ended = 0;
  const total = ids.length;
  const isOver = async (): Promise<boolean> => (await h.query("select from carillon.run limit 1")).length === 0;
  while (!(await isOver())) {
    const step = ended++;
    if (step === 10) await first.queues.pause("default", "default", { reason: "storm", until: null }, context);
    if (step === 14) await second.queues.resume("default", "default", context);
    // A worker's session is declared dead: its handlers are stopped, and end.
    if (step === 20) {
      await h.query(
        "delete from carillon.worker_session where id = (select id from carillon.worker_session order by id limit 1)",
      );
      h.endAll();
    }
    if (step % 7 === 3)
      await h.query(
        "update carillon.run set cancel_reason = 'storm' where id = (select id from carillon.run where state = 'running' order by id desc limit 1)",
      );
    if (h.open.length > 0) h.endOne(undefined, step % 5 === 0 ? new Error("storm") : undefined);
  }
  expect((await h.query("select from carillon.run_history")).length).toBe(total);
  for (const [key, most] of h.maxOpen()) expect([key, most]).toEqual([key, Math.min(most, "op".includes(key) ? 1 : 2)]);
  await h.untilRow("select from carillon.limit_key having sum(used) = 0");
  for (const audit of audits("carillon").filter(({ invariant }) => [8, 14].includes(invariant)))
    expect(await runAudit(h.engines.database, audit)).toBeNull();
});
