import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadStatements } from "@carillon/engine";
import { gatewayId, newId, type StoreHarness, storeHarness, untilLockWaits } from "../../../harness/store-harness.js";

let h: StoreHarness;
beforeAll(async () => {
  h = await storeHarness();
});
afterAll(() => h.close());

interface Pair {
  readonly low: string;
  readonly high: string;
}

/** Two rows, that with the higher id first in its table. */
async function runsWith(set: string): Promise<Pair> {
  const [low, high] = [newId(), newId()];
  for (const id of [high, low]) await h.run({ id });
  await h.db.query({ text: `update carillon.run set ${set} where id = any ($1)` }, [[low, high]]);
  return { low, high };
}

async function sessions(): Promise<Pair> {
  const [low, high] = [newId(), newId()];
  const what = {
    name: "test",
    queues: ["default"],
    tasks: ["echo"],
    slots: 1,
    namespaceId: 1,
    nodeId: null,
    gatewayId,
  };
  for (const id of [high, low]) await h.store.sessions.open({ id, ...what });
  return { low, high };
}

async function heartbeats({ low, high }: Pair): Promise<unknown[]> {
  const watched = (await h.store.sessions.list()).filter(({ id }) => id === low || id === high);
  return [watched.map(({ id }) => id), watched.map(({ heartbeat }) => heartbeat)];
}

const job = newId();
const gate = "o:a";

interface Case {
  readonly statement: string;
  readonly table: "run" | "worker_session";
  readonly rows: () => Promise<Pair>;
  readonly values: (pair: Pair) => unknown[] | Promise<unknown[]>;
}

const bothIds = ({ low, high }: Pair): unknown[] => [[high, low]];
const cases: readonly Case[] = [
  { statement: "run.end_stopped", table: "run", rows: () => runsWith("cancel_reason = 'asked'"), values: bothIds },
  {
    statement: "dedupe.end_replaced",
    table: "run",
    rows: () => runsWith("owner = null"),
    values: (pair) => [...bothIds(pair), [1, 1]],
  },
  {
    statement: "job_transaction.admit_runs",
    table: "run",
    rows: () => runsWith("state = 'blocked', state_reason = 'overlap'"),
    values: bothIds,
  },
  {
    statement: "job_transaction.lock_untracked_runs",
    table: "run",
    rows: () => runsWith(`untracked = true, job_id = '${job}'`),
    values: () => [job, 2],
  },
  {
    statement: "limit.cancel_waiting",
    table: "run",
    rows: () => runsWith(`state = 'blocked', limits = '${gate}'`),
    values: () => [[gate]],
  },
  {
    statement: "session.heartbeat",
    table: "worker_session",
    rows: sessions,
    values: (pair) => [...bothIds(pair), gatewayId],
  },
  { statement: "session.expire", table: "worker_session", rows: sessions, values: heartbeats },
];

describe("a statement that waits for several rows locks them in the order of their ids, so that no two wait for each other:", () => {
  it.each(cases)("$statement", async ({ statement, table, rows, values }) => {
    const pair = await rows();
    const parameters = await values(pair);
    const lock = { text: `select id from carillon.${table} where id = $1 for update skip locked` };
    const { waiting } = await h.db.transaction(async (tx) => {
      await tx.query(lock, [pair.low]);
      const asked = h.db.query<{ id: string }>(loadStatements("carillon").get(statement), parameters);
      await untilLockWaits(h);
      // A statement that waits for the first row holds none behind it.
      expect((await tx.query(lock, [pair.high])).rowCount).toBe(1);
      return { waiting: asked };
    });
    expect((await waiting).rows.map(({ id }) => id).toSorted()).toEqual([pair.low, pair.high]);
  });
});

it("only a bounded number of waiting runs is locked by one transaction", async () => {
  const of = newId();
  const { low, high } = await runsWith(`untracked = true, job_id = '${of}'`);
  const { reads } = h.store.unitOfWork;
  await h.db.transaction(async (tx) => {
    expect(await reads.holdUntracked(tx, of, 3)).toEqual([]);
    expect(await reads.holdUntracked(tx, of, 1)).toHaveLength(1);
    expect(await reads.holdUntracked(tx, of, 2)).toEqual([low, high]);
  });
});
