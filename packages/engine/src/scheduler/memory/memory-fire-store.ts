import type { Queryable } from "@carillon/store";
import { JobUnitOfWork } from "../../jobs/transaction/job-unit-of-work.js";
import { settleRows } from "../settle-fires.js";
import type { FireStore } from "../../schedules/fire-store.js";
import { memoryDue } from "./memory-due.js";
import { memoryFire } from "./memory-fire.js";
import { memoryDelayed } from "./memory-runs.js";
import { memorySettlementReads, memorySettlementWrites } from "./memory-settlement.js";
import type { MemoryTables } from "./memory-tables.js";

/** The tables take no SQL; a job transaction only passes this on. */
const noSql: Queryable = { query: () => Promise.reject(new Error("there is no SQL in memory")) };

export function memoryUnitOfWork(tables: MemoryTables): JobUnitOfWork {
  return new JobUnitOfWork({
    reads: memorySettlementReads(tables),
    writes: memorySettlementWrites(tables),
    transaction: (work) => tables.transaction(() => work(noSql)),
  });
}

/** The twin in memory of the scheduler's port: the same comparisons and answers, on rows that live in this process. */
export function memoryFireStore(tables: MemoryTables): FireStore {
  return {
    ...memoryDue(tables),
    ...memoryDelayed(tables),
    fire: memoryFire(tables),
    settle: settleRows(memoryUnitOfWork(tables)),
    // Asked in the middle of transactions too, on another connection.
    windows: async () => tables.windows,
  };
}
