import type { Queryable } from "@carillon/store";
import { Settler } from "../../jobs/transaction/settler.js";
import { settleRows } from "../settle-fires.js";
import type { FireStore } from "../../schedules/fire-store.js";
import { memoryDue } from "./memory-due.js";
import { memoryFire } from "./memory-fire.js";
import { memoryDelayed } from "./memory-runs.js";
import { memorySettlementReads, memorySettlementWrites } from "./memory-settlement.js";
import type { MemoryTables } from "./memory-tables.js";

/** The tables take no SQL; a settlement only passes this on. */
const noSql: Queryable = { query: () => Promise.reject(new Error("there is no SQL in memory")) };

export function memorySettler(tables: MemoryTables): Settler {
  return new Settler(memorySettlementReads(tables), memorySettlementWrites(tables));
}

/** A transaction over the tables, as `Store.settle` is one over PostgreSQL. */
export function memorySettle(tables: MemoryTables) {
  return <Result>(work: (tx: Queryable) => Promise<Result>): Promise<Result> => tables.transaction(() => work(noSql));
}

/** The twin in memory of the scheduler's port: the same comparisons and answers, on rows that live in this process. */
export function memoryFireStore(tables: MemoryTables): FireStore {
  const parts = { settler: memorySettler(tables), transaction: memorySettle(tables) };
  return {
    ...memoryDue(tables),
    ...memoryDelayed(tables),
    fire: memoryFire(tables),
    settle: settleRows(parts),
    // Asked in the middle of transactions too, on another connection.
    windows: async () => tables.windows,
  };
}
