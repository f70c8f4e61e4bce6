import { CarillonError } from "@carillon/core";
import type {
  BackfillRequest,
  Backfills,
  BackfillView,
  ChangeContext,
  JobRef,
  Page,
  PageRequest,
} from "@carillon/engine";
import { FakeChanges } from "./fake-changes.js";
import { pageOf, uuid } from "./fake-engine.js";

/** Backfills in memory that make no progress. */
export class FakeBackfills extends FakeChanges implements Backfills {
  readonly backfills: BackfillView[] = [];
  /** The number of occurrences in any range. */
  occurring = 7;

  async countBackfill(_namespace: string, ref: JobRef, request: BackfillRequest): Promise<number> {
    this.found(ref);
    if (request.to > this.now()) throw new CarillonError("backfill_invalid", "The range is in the future.");
    return this.occurring;
  }

  async startBackfill(namespace: string, ref: JobRef, request: BackfillRequest, context: ChangeContext) {
    this.asked = ["backfill", request, context];
    const { id: jobId, version } = this.found(ref);
    if (context.ifVersion !== undefined && context.ifVersion !== version)
      throw new CarillonError("precondition_failed", `the job has version ${version}`);
    const total = await this.countBackfill(namespace, ref, request);
    const id = uuid(2_000 + this.backfills.length);
    const counts = { total, made: 0, passed: 0, skipped: 0, through: null };
    const { actor } = context;
    const times = { createdAt: this.now(), finishedAt: null };
    const view: BackfillView = { ...request, id, jobId, state: "running", reason: null, ...counts, actor, ...times };
    this.backfills.unshift(view);
    return view;
  }

  async getBackfill(_namespace: string, id: string): Promise<BackfillView | null> {
    this.failOnce();
    return this.backfills.find((one) => one.id === id) ?? null;
  }

  async listBackfills(_namespace: string, ref: JobRef, page: PageRequest): Promise<Page<BackfillView>> {
    const { id } = this.found(ref);
    return pageOf(
      this.backfills.filter((one) => one.jobId === id),
      page,
    );
  }

  async abortBackfill(namespace: string, id: string): Promise<BackfillView | null> {
    const found = await this.getBackfill(namespace, id);
    if (found === null || found.state !== "running") return found;
    const aborted = { ...found, state: "aborted" as const, reason: "asked", finishedAt: this.now() };
    this.backfills[this.backfills.indexOf(found)] = aborted;
    return aborted;
  }
}
