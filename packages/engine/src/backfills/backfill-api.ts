import { CarillonError, type Instant, type JobState } from "@carillon/core";
import type { BackfillRequest, Queryable } from "@carillon/store";
import { type ChangeTransaction, jobEnded, jobNotFound } from "../jobs/change/change-transaction.js";
import type { JobReader } from "../jobs/job-reader.js";
import type { JobTransactionStore } from "../jobs/transaction/job-unit-of-work.js";
import { type JobRef, toPage } from "../requests.js";
import type { Backfills } from "./backfills.js";
import { checkRequest, nothingThere } from "./check-request.js";
import type { PastRules, RuledJob } from "./past-rules.js";

export interface BackfillApiParts {
  readonly db: Queryable;
  readonly store: Pick<JobTransactionStore, "unitOfWork" | "backfills">;
  readonly transaction: ChangeTransaction;
  readonly jobs: JobReader;
  readonly rules: PastRules;
  readonly newId: () => string;
  /** The database's clock. */
  readonly now: () => Instant;
  /** The id of a namespace; throws not_found. */
  readonly namespaceId: (name: string) => Promise<number>;
  readonly onStarted: () => void;
}

/** Backfills as callers see them: names of namespaces in, views out. */
export function backfillApi(parts: BackfillApiParts): Backfills {
  const { store, transaction, newId, namespaceId, onStarted } = parts;
  const { backfills } = store;
  return {
    async countBackfill(namespace, ref, request) {
      return (await count(parts, await namespaceId(namespace), ref, request)).total;
    },
    async startBackfill(namespace, ref, request, context) {
      const within = await namespaceId(namespace);
      const { total, job } = await count(parts, within, ref, request);
      if (total === 0) throw nothingThere(job.schedule);
      const id = newId();
      const { result } = await transaction.run(within, { id: job.id }, context, {
        processesDue: false,
        apply: async ({ tx, draft }) => {
          const backfill = { ...request, id, jobId: draft.job.id, total, actor: context.actor, trace: context.trace };
          await context.receipt?.keep(tx, { backfill: id });
          return { result: await backfills.insert(tx, backfill), patch: null };
        },
      });
      onStarted();
      return result;
    },
    getBackfill: async (namespace, id) => backfills.find(await namespaceId(namespace), id),
    async listBackfills(namespace, ref, { pageSize, after }) {
      const job = await find(parts, await namespaceId(namespace), ref);
      return toPage(await backfills.list(job.id, after ?? null, pageSize + 1), pageSize, (row) => row.id);
    },
    async abortBackfill(namespace, id, { actor }) {
      const within = await namespaceId(namespace);
      const reason = actor === null ? "asked" : `asked by ${actor}`;
      return (await backfills.abort(within, id, reason)) ?? backfills.find(within, id);
    },
  };
}

/** Before anything is locked: what the past held does not change any more. */
async function count(
  parts: BackfillApiParts,
  namespaceId: number,
  ref: JobRef,
  request: BackfillRequest,
): Promise<{ readonly total: number; readonly job: RuledJob }> {
  const job = await find(parts, namespaceId, ref);
  if (job.state === "cancelled") throw jobEnded(ref);
  checkRequest(request, parts.now());
  try {
    return { total: await parts.rules.count(parts.db, job, request), job };
  } catch (error) {
    if (!(error instanceof CarillonError) || error.code === "backfill_invalid") throw error;
    const detail = `a rule that was in force then cannot be read any more: ${error.message}`;
    throw new CarillonError("backfill_invalid", detail, { cause: error });
  }
}

type FoundJob = RuledJob & { readonly state: JobState };

/** A stored job, or a one-off job that is its run alone. */
async function find({ jobs }: BackfillApiParts, namespaceId: number, ref: JobRef): Promise<FoundJob> {
  const job = await jobs.find(namespaceId, ref);
  if (job === null) throw jobNotFound(ref);
  return { id: job.id, namespaceId, schedule: job.schedule, state: job.state };
}
