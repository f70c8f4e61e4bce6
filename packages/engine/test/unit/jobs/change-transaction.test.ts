import { compileSchedule } from "@carillon/core";
import { describe, expect, it } from "vitest";
import {
  ChangeTransaction,
  type ChangeTransactionContext,
  type ChangeTransactionDeps,
} from "../../../src/jobs/change/change-transaction.js";
import { JobDraft } from "../../../src/jobs/transaction/job-draft.js";
import type { LockedJob } from "@carillon/store";

const id = "0198a0f0-0000-7000-8000-000000000001";
const noon = Date.UTC(2026, 5, 1, 12);
const schedule = { kind: "at", at: noon } as const;

const due = { class: 1, state: "active", version: 1, nominal: noon, fireAt: noon, firedThrough: null } as const;
const job = { id, namespaceId: 1, schedule, firing: {}, endedAt: null, windows: 7, now: noon, due };

describe("a change of a job", () => {
  it("fails with job_busy, and changes nothing, when windows change faster than the node reads them", async () => {
    let read = 0;
    const context = { limits: { changeLockTimeoutMs: 1 } } as ChangeTransactionContext;
    const transaction = new ChangeTransaction(context, {
      unitOfWork: {
        transaction: (work: (tx: unknown) => Promise<unknown>) => work({}),
        reads: { setLockTimeout: async () => undefined, lock: async () => [id] },
        open: async () => [new JobDraft(job as unknown as LockedJob, [])],
      },
      rules: {
        revision: 6,
        refresh: async () => void (read += 1),
        compile: () => compileSchedule(schedule, { jobId: id }),
      },
    } as unknown as ChangeTransactionDeps);
    const apply = () => Promise.reject(new Error("it was applied"));
    const changed = transaction.run(1, { id }, { actor: null }, { processesDue: true, apply });
    await expect(changed).rejects.toMatchObject({ code: "job_busy" });
    expect(read).toBe(4);
  });
});
